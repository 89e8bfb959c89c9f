/**
 * Judge copy: the verdict of this browser on a disclosed copy, with the judge of the command line
 * (src/trust/proof/disclosure), in chunks.
 *
 * The judge cannot wait for WebCrypto, so the signatures in a chunk are checked before the judge
 * gets it (web-crypto.ts). A signature that was not is not valid.
 */

import { asAscii, LF } from "../../../src/trust/proof/bytes.ts";
import {
  type Checkpoint,
  type EnvelopeName,
  readCheckpoint,
} from "../../../src/trust/proof/checkpoint.ts";
import {
  type DisclosedLine,
  DisclosureJudge,
  type DisclosureResult,
  NOT_CHECKED,
} from "../../../src/trust/proof/disclosure/judge.ts";
import { RECORD_BYTES_MAX, readRecord } from "../../../src/trust/proof/disclosure/records.ts";
import { messageIn } from "../../../src/trust/proof/disclosure/statement.ts";
import { fpOf, type KeyAnswer, type Keys, kidOf } from "../../../src/trust/proof/ed25519-keys.ts";
import { envelopeOf } from "../../../src/trust/proof/envelopes.ts";
import { rotationKey } from "../../../src/trust/proof/rotations.ts";
import { WholeLines } from "../../../src/trust/proof/whole-lines.ts";
import { WebProofCrypto } from "../proof/web-crypto.ts";

/** A line of the log as the page shows it. */
export interface CopyRow extends DisclosedLine {
  /** Its number in the log, from 1; null for what is in no line of it. */
  readonly number: number | null;
  /** Of a proof: what the prover says of its place. */
  readonly note?: string;
}

export interface JudgedCopy {
  readonly disclosed: DisclosureResult;
  readonly rows: readonly CopyRow[];
  readonly notChecked: readonly string[];
  /** False: this browser cannot check signatures on this page, so no key counts. */
  readonly canVerify: boolean;
}

/** How the records of most lines begin. */
const LINE_RECORD = '{"line":"';
/** A file may carry any number of keys; after these, they are unknown. */
const CARRIED_MAX = 64;

/** `keys`: the public keys that the reader entered, by id. */
export async function judgeCopy(
  copy: Blob,
  keys: ReadonlyMap<string, Uint8Array>,
): Promise<JudgedCopy> {
  const crypto = new WebProofCrypto();
  const canVerify = await crypto.canVerify();
  const trusted = new TrustedKeys(crypto, canVerify ? keys : new Map());
  const rows: CopyRow[] = [];
  let lines = 0;
  let isInside = false;
  const judge = new DisclosureJudge({
    crypto,
    keys: trusted.keys,
    pinnedSeqOf: () => null,
    onShown: (shown) => {
      const isOutside = shown.is === "checkpoint" || shown.is === "genesis";
      const isLine = shown.is !== "bytes" && (isInside || !isOutside);
      const number = isLine ? ++lines : null;
      rows.push({ ...shown, bytes: shown.bytes?.slice() ?? null, number });
    },
  });
  const ahead = new Ahead(trusted);
  for await (const chunk of chunksOf(copy)) {
    await ahead.feed(chunk);
    isInside = ahead.envelope !== "sidecar";
    judge.feed(chunk);
  }
  return { disclosed: judge.finish(), rows, notChecked: NOT_CHECKED, canVerify };
}

/** Keys that the reader entered, and those that they hand over to. */
export class TrustedKeys {
  readonly #crypto: WebProofCrypto;
  readonly #given: ReadonlyMap<string, KeyAnswer>;
  /** Keys in rotations: they count only if the judge follows the rotation. */
  readonly #carried = new Map<string, Uint8Array>();

  constructor(crypto: WebProofCrypto, keys: ReadonlyMap<string, Uint8Array>) {
    this.#crypto = crypto;
    this.#given = new Map(
      [...keys.values()].map((publicKey) => {
        const kid = kidOf(crypto, publicKey);
        const fp = fpOf(crypto, publicKey);
        return [kid, { publicKey, kid, fp, owner: "the key you entered", refusal: null }];
      }),
    );
  }

  readonly keys: Keys = {
    byKid: (kid) => this.#given.get(kid) ?? { ...UNKNOWN, kid },
    byFp: (fp) => ({ ...UNKNOWN, fp }),
  };

  async check(kid: string, message: Uint8Array, signature: Uint8Array): Promise<void> {
    const key = this.#given.get(kid)?.publicKey ?? this.#carried.get(kid);
    if (key) await this.#crypto.ahead(key, message, signature);
  }

  carry(checkpoint: Checkpoint): void {
    if (checkpoint.kind !== "rotate" || this.#carried.size >= CARRIED_MAX) return;
    const raw = rotationKey(this.#crypto, checkpoint);
    if (raw) this.#carried.set(checkpoint.next, raw);
  }
}

const UNKNOWN: KeyAnswer = {
  publicKey: null,
  kid: null,
  fp: null,
  owner: null,
  refusal: "KEY_UNKNOWN",
};

/** Finds the signatures in chunks of a copy, and has them checked. */
class Ahead {
  envelope: EnvelopeName = "sidecar";
  readonly #trusted: TrustedKeys;
  readonly #whole: WholeLines;
  #found: (() => Promise<void>)[] = [];
  /** The line of the log that comes next; null: a record does. */
  #next: "line" | "checkpoint" | null = null;

  constructor(trusted: TrustedKeys) {
    this.#trusted = trusted;
    const long = { bytesMax: RECORD_BYTES_MAX, skipped: () => {} };
    this.#whole = new WholeLines((lines) => this.#lines(lines), long);
  }

  async feed(chunk: Uint8Array): Promise<void> {
    this.#whole.feed(chunk);
    const found = this.#found;
    this.#found = [];
    for (const check of found) await check();
  }

  #lines(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(LF, start);
      const line = bytes.subarray(start, end);
      const next = this.#next;
      this.#next = null;
      if (next === null) this.#record(line);
      else if (next === "checkpoint") this.#checkpoint(line.slice());
      start = end + 1;
    }
  }

  #record(line: Uint8Array): void {
    const begin = asAscii(line.subarray(0, LINE_RECORD.length));
    const record = begin === LINE_RECORD ? null : readRecord(line);
    if (record === null || record.is === "genesis")
      this.#next = "line"; // The judge reads it.
    else if (record.is === "header") this.envelope = envelopeOf(record.header.dialect);
    else if (record.is === "checkpoint") this.#next = "checkpoint";
    else if (record.is === "statement") {
      const { facts, sig } = record.statement;
      const message = messageIn(line.slice());
      this.#found.push(() => this.#trusted.check(facts.kid, message, sig));
    }
  }

  #checkpoint(line: Uint8Array): void {
    const checkpoint = readCheckpoint(line, this.envelope);
    if (!checkpoint) return;
    const { kid, statement, sig2 } = checkpoint;
    this.#found.push(async () => {
      await this.#trusted.check(kid, statement, sig2);
      this.#trusted.carry(checkpoint);
    });
  }
}

async function* chunksOf(copy: Blob): AsyncGenerator<Uint8Array> {
  const reader = copy.stream().getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    yield read.value;
    await new Promise((resolve) => setTimeout(resolve)); // Lets the page draw and react.
  }
}
