/**
 * Walk: splits a log's bytes, fed in arbitrary chunks, into ordinary lines and lines that claim to
 * be checkpoints.
 *
 * Only LF splits. Many ordinary lines are passed on at once: a walk is as fast as hashing.
 *
 * WA1  The quick search finds every line that claims in plain bytes. One that spells the word with
 *     JSON escapes is not found here; unsigned lines are examined one by one (tail.ts), and among
 *     signed ones there is none, since a signer refuses them.
 */

import { LF } from "./bytes.ts";
import type { EnvelopeName } from "./checkpoint.ts";
import { CLAIM_NEEDLE, type Claim, claimOf } from "./claims.ts";
import type { ProofCrypto } from "./crypto.ts";
import { type LongLines, WholeLines } from "./whole-lines.ts";

const CLAIM_RARE_AT = CLAIM_NEEDLE.indexOf(0x6b);
const CLAIM_RARE = CLAIM_NEEDLE.subarray(CLAIM_RARE_AT, -1);

export interface WalkHandler {
  /** Whole ordinary lines, LFs included: a part of the chunk that was fed, or a copy. */
  lines(bytes: Uint8Array): void;
  /** A line that claims to be a checkpoint, LF included, and where it starts. */
  claim(line: Uint8Array, start: number, claim: Claim): void;
}

export class Walk {
  readonly #find: ProofCrypto["indexOf"];
  readonly #envelope: EnvelopeName;
  readonly #handler: WalkHandler;
  readonly #whole: WholeLines;
  /** Where the next whole line starts. */
  #end = 0;

  /** With `long`, lines that are too long reach no handler: such a log cannot be verified. */
  constructor(
    crypto: ProofCrypto,
    envelope: EnvelopeName,
    handler: WalkHandler,
    long: LongLines | null = null,
  ) {
    const skipped = (bytes: number) => {
      this.#end += bytes;
      long?.skipped(bytes);
    };
    this.#whole = new WholeLines((lines) => this.#lines(lines), long && { ...long, skipped });
    this.#find = crypto.indexOf;
    this.#envelope = envelope;
    this.#handler = handler;
  }

  /** End of the last whole line. */
  get end(): number {
    return this.#end;
  }

  /** Bytes after it. */
  get restBytes(): number {
    return this.#whole.restBytes;
  }

  /** Bytes of an unfinished line that was too long to be held. */
  get skippedBytes(): number {
    return this.#whole.skippedBytes;
  }

  get rest(): Uint8Array {
    return this.#whole.rest;
  }

  feed(chunk: Uint8Array): void {
    this.#whole.feed(chunk);
  }

  #lines(bytes: Uint8Array): void {
    let from = 0;
    let hit = this.#findClaim(bytes, 0);
    while (hit !== -1) {
      const start = bytes.lastIndexOf(LF, hit) + 1;
      const end = bytes.indexOf(LF, hit) + 1;
      const claim = claimOf(bytes.subarray(start, end - 1), this.#envelope);
      if (claim) {
        if (start > from) this.#handler.lines(bytes.subarray(from, start));
        this.#handler.claim(bytes.subarray(start, end), this.#end + start, claim);
        from = end;
      }
      hit = this.#findClaim(bytes, end);
    }
    if (from < bytes.length) this.#handler.lines(bytes.subarray(from));
    this.#end += bytes.length;
  }

  /**
   * Offset of the next `"checkpoint"`, or -1. Searches the end of the word first: it begins with
   * the rarest of its letters, and finding that is several times as fast.
   */
  #findClaim(bytes: Uint8Array, from: number): number {
    let hit = this.#find(bytes, CLAIM_RARE, from);
    while (hit !== -1) {
      const start = hit - CLAIM_RARE_AT;
      if (start >= from && isAt(bytes, start)) return start;
      hit = this.#find(bytes, CLAIM_RARE, hit + 1);
    }
    return -1;
  }
}

function isAt(bytes: Uint8Array, start: number): boolean {
  for (let n = 0; n < CLAIM_NEEDLE.length; n++) {
    if (bytes[start + n] !== CLAIM_NEEDLE[n]) return false;
  }
  return true;
}
