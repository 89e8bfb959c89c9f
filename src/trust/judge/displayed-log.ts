/**
 * Displayed log: the unsigned part of a log, shown to a user who may then vouch for it.
 *
 * VO1  Exactly the bytes that were shown are signed. With the log locked, all of it is read once
 *      more; that one pass must give both the hash of what was shown and the hash that will be
 *      signed. Lines appended meanwhile are not signed.
 *
 * Only bytes that are merely unsigned can be vouched for. If bytes were altered, cut back or
 * signed by an unknown key, vouching is refused: signing would hide that.
 */

import { createHash } from "node:crypto";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { LF } from "../../core/log/bytes.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import type { FoundRange } from "../proof/checkpoint.ts";
import { LEGACY_PROFILE } from "../proof/envelopes.ts";
import type { Verdict } from "../proof/verdict.ts";
import { WholeLines } from "../proof/whole-lines.ts";
import { contentOf, type SignableLog } from "../session-log.ts";
import type { CoveredPrefix } from "../signer/signer-state.ts";
import { lineTooLong, readExactly } from "./inspect.ts";
import type { VerifyReport } from "./report.ts";

const CAN_BE_VOUCHED: readonly Verdict[] = ["incomplete", "unsigned", "unpinned"];

export interface UnsignedRanges {
  /** Ranges stated as found before, in order, and the lines after the last checkpoint. */
  readonly found: readonly FoundRange[];
  readonly tail: FoundRange | null;
}

/** The part without a voucher, from the report on a log; refuses with NOT_VERIFIED. */
export function unsignedIn(report: VerifyReport): UnsignedRanges {
  const { verdict, found, tail, file, path } = report;
  // The older format has no signature in our format yet, so all of it must be reviewed.
  if (report.profile === LEGACY_PROFILE && ["verified", "incomplete"].includes(verdict)) {
    return { found: [], tail: [0, file.bytes] };
  }
  if (verdict === "verified") return { found: [], tail: null };
  if (!CAN_BE_VOUCHED.includes(verdict)) {
    throw new VerbatimError(
      "NOT_VERIFIED",
      `${path} is ${verdict}, which cannot be vouched for; see \`verbatim verify\``,
      { path, verdict },
    );
  }
  const tailBytes = verdict === "unsigned" ? file.bytes : tail.bytes;
  return { found, tail: tailBytes > 0 ? [file.bytes - tailBytes, file.bytes] : null };
}

/** A log opened to sign: what was found unsigned, and what the next checkpoint signs. */
export interface ToVouch {
  readonly found: FoundRange | null;
  readonly covered: CoveredPrefix;
}

/** A line that is shown, and its offset; for a log without lines, a piece of it. */
export interface DisplayedLine {
  readonly start: number;
  /** Without its LF; a torn line has none. */
  readonly bytes: Uint8Array;
}

/** What was shown of a log, for the user to vouch for or not. */
export class DisplayedLog {
  readonly #host: Host;
  readonly #log: SignableLog;
  readonly #isRaw: boolean;
  readonly #unsigned: UnsignedRanges;
  readonly #hash = createHash("sha256");
  #wholeEnd: number;
  /** The bytes after the last LF. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(host: Host, log: SignableLog, unsigned: UnsignedRanges) {
    this.#host = host;
    this.#log = log;
    this.#isRaw = contentOf(log) === "bytes";
    this.#unsigned = unsigned;
    this.#wholeEnd = unsigned.tail?.[0] ?? 0;
  }

  /** Every line to vouch for, in order. Iterate once, to the end. */
  async *lines(): AsyncGenerator<DisplayedLine> {
    const { found, tail } = this.#unsigned;
    for (const range of [...found, ...(tail ? [tail] : [])]) {
      yield* this.#isRaw ? this.#pieces(range) : this.#range(range);
    }
  }

  async *#range([from, to]: FoundRange): AsyncGenerator<DisplayedLine> {
    let ready: Uint8Array[] = [];
    const whole = new WholeLines((lines) => ready.push(lines));
    let start = from;
    for await (const chunk of readRange(this.#host, this.#log, from, to)) {
      whole.feed(chunk);
      if (whole.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(start);
      for (const lines of ready) {
        this.#hash.update(lines);
        for (let at = 0; at < lines.length; ) {
          const end = lines.indexOf(LF, at);
          yield { start: start + at, bytes: lines.subarray(at, end) };
          at = end + 1;
        }
        start += lines.length;
      }
      ready = [];
    }
    this.#wholeEnd = start;
    this.#rest = whole.rest;
    if (whole.restBytes > 0) yield { start, bytes: whole.rest };
  }

  async *#pieces([from, to]: FoundRange): AsyncGenerator<DisplayedLine> {
    for await (const bytes of readRange(this.#host, this.#log, from, to)) {
      this.#hash.update(bytes);
      yield { start: from, bytes };
      from += bytes.length;
    }
    this.#wholeEnd = from;
  }

  /**
   * The ranges stated as found before, if what will be signed is what was shown; else refuses with
   * CHANGED_WHILE_READ (VO1). Call once.
   */
  async agreed({ found: foundNow, covered }: ToVouch): Promise<readonly FoundRange[]> {
    const { found, tail } = this.#unsigned;
    const end = this.#endAfterOpening(foundNow);
    const shownTail = tail && tail[0] < end ? ([tail[0], end] as const) : null;
    const ranges = [...found, ...(shownTail ? [shownTail] : [])];
    const hash = createHash("sha256");
    const isSigned = await readCovered(this.#host, this.#log, covered, (chunk, at) => {
      for (const range of ranges) hash.update(within(range, chunk, at));
    });
    const isTail = String(foundNow) === String(shownTail);
    const isShown = hash.digest().equals(this.#hash.digest());
    if (!isTail || !isSigned || !isShown) throw this.#changed();
    return found;
  }

  /**
   * Where the shown part ends after the log was opened to append: a torn last line was copied to
   * its own file and cut; a line that lacked only its LF now has it.
   */
  #endAfterOpening(range: FoundRange | null): number {
    const withLf = this.#wholeEnd + this.#rest.length + 1;
    if (this.#rest.length === 0 || range?.[1] !== withLf) return this.#wholeEnd;
    this.#hash.update(this.#rest).update(Uint8Array.of(LF));
    return withLf;
  }

  #changed(): VerbatimError {
    const path = `${this.#log.root}/${this.#log.logId}`;
    return new VerbatimError(
      "CHANGED_WHILE_READ",
      `${path} has changed since it was shown; nothing was signed, look at it again`,
      { path, offset: this.#unsigned.tail?.[0] ?? 0 },
    );
  }
}

/**
 * Reads the bytes that the next checkpoint will sign, once. Returns whether they have its hash:
 * only then does what `take` got count (VO1).
 */
export async function readCovered(
  host: Host,
  log: SignableLog,
  covered: CoveredPrefix,
  take: (chunk: Uint8Array, at: number) => void,
): Promise<boolean> {
  return readHashed(readRange(host, log, 0, covered.bytes), covered, take);
}

/** The same of a log that is open, and whose bytes before the end that `covered` names are read. */
export async function readHashed(
  chunks: AsyncIterable<Uint8Array>,
  { prefix, hash }: CoveredPrefix,
  take: (chunk: Uint8Array, at: number) => void,
): Promise<boolean> {
  const whole = createHash("sha256").update(prefix);
  let at = 0;
  for await (const chunk of chunks) {
    whole.update(chunk);
    take(chunk, at);
    at += chunk.length;
  }
  return whole.digest("hex") === hash;
}

/** The part of a chunk (which begins at `at`) that lies in a range. */
export function within([from, to]: FoundRange, chunk: Uint8Array, at: number): Uint8Array {
  return chunk.subarray(Math.max(0, from - at), Math.max(0, to - at));
}

async function* readRange(
  host: Host,
  { root, logId }: SignableLog,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  const place = await openLogPath(host, logId, { create: false, root });
  try {
    const log = openToRead(place);
    try {
      yield* readExactly(log, from, to, place.path);
    } finally {
      log.close();
    }
  } finally {
    place.directory.close();
  }
}
