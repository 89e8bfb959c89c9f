/**
 * Stream log: the checkpoints of one stream, as its signers in files (signed-stream.ts) and in a
 * database (streams/postgres/signing/signed-rows.ts) write them.
 *
 * SN5  The genesis of a fork names the head of its source that covers what it has from there, and
 *      where that ends. It is made with the fork, even if no bytes follow: until then only the
 *      stream's state, which is not signed, says what the fork begins with.
 */

import type { RememberedHead } from "../../trust/heads/heads.ts";
import type { Signer } from "../../trust/keys/keys.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import type { Keys } from "../../trust/proof/ed25519-keys.ts";
import { type Due, duesOnOpening } from "../../trust/signer/dues.ts";
import type { LogSigner } from "../../trust/signer/log-signer.ts";
import { type SignedFiles, SignedLog } from "../../trust/signer/signed-log.ts";
import type { OwnSigners, SignedSoFar, SignerHead } from "../../trust/signer/signer-state.ts";
import type { StreamState } from "../commit/stream-state.ts";
import { forkFault } from "./signed-claims.ts";
import { checkpointOpening, mismatch, signedLogOf } from "./stream-files.ts";

/** Which stream it is. */
export type Signable = Pick<
  StreamState,
  "path" | "streamId" | "file" | "isJson" | "base" | "fork" | "isClosed"
>;

export interface StreamLogParts {
  /** The path of the data directory, or the place of the database. */
  readonly root: string;
  readonly signer: Signer;
  /** The user's keys that can still sign, by `kid`; none by default. */
  readonly own?: OwnSigners | undefined;
  keysFor(path: string): Keys;
  rememberedOf(path: string): RememberedHead;
  newSalt(): Uint8Array;
  nowMs(): number;
  /** Pins a head whose checkpoint is durable. */
  pin(path: string, head: SignerHead): void;
  /** The signed head of a fork's source that covers what the fork has from it (SN5). */
  sourceHead(fork: Signable): Promise<SignedHead>;
}

export class StreamLog<Files extends SignedFiles> {
  readonly of: Signable;
  readonly signed: SignedLog<Files>;
  readonly #parts: StreamLogParts;
  /** The stream in errors. */
  readonly #place: string;
  #turn: Promise<unknown> = Promise.resolve();
  #turns = 0;

  constructor(parts: StreamLogParts, of: Signable, files: Files, place: string) {
    this.#parts = parts;
    this.of = of;
    this.#place = place;
    const { signer, own = new Map(), newSalt, nowMs } = parts;
    this.signed = new SignedLog({
      target: signedLogOf(parts.root, of),
      crypto: nodeCrypto,
      signer,
      newSalt,
      nowMs,
      files,
      own: async () => ({ current: signer, signers: own }),
      keys: async () => parts.keysFor(of.path),
      remembered: async () => parts.rememberedOf(of.path),
      pin: (head) => parts.pin(of.path, head),
      from: (so) => this.#source(so),
    });
  }

  /** It is being signed or checked. */
  get isBusy(): boolean {
    return this.#turns > 0;
  }

  /** One operation at a time: a source is signed for itself and for its forks. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#turns++;
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {}); // The caller receives the error.
    try {
      return await done;
    } finally {
      this.#turns--;
    }
  }

  /** Adds checkpoints to a draft; returns their lines. */
  async add(draft: LogSigner, dues: readonly Due[]): Promise<Uint8Array[]> {
    const lines: Uint8Array[] = [];
    for (const due of dues) {
      const text = checkpointOpening(this.#parts.nowMs(), this.of.path);
      // A stream has no turns: its checkpoints are counted instead.
      const at = { turn: draft.seq, rev: 0, previous: null };
      const { line } = await this.signed.add(draft, due, at, () => ({ text, id: null }));
      lines.push(line);
    }
    return lines;
  }

  mismatch(offset: number, reason: string): Error {
    return mismatch(this.#place, offset, reason);
  }

  /** What the genesis names, or must name, as the source (SN5). */
  async #source({ seq, from = null }: SignedSoFar): Promise<SignedHead | null> {
    if (seq === 0) return this.of.base > 0 ? this.#parts.sourceHead(this.of) : null;
    const fault = forkFault(this.of, from);
    if (fault === null) return from;
    throw this.mismatch(0, fault);
  }
}

/**
 * What is due before and after the bytes that came now. A rotation goes before them, unless
 * something was found: that is stated first.
 */
export function duesAround(
  signer: LogSigner,
  isClosing: boolean,
): { readonly before: readonly Due[]; readonly after: readonly Due[] } {
  const { isBeginning, mustRecover } = signer;
  const opening = duesOnOpening(signer);
  const last: readonly Due[] = [isClosing ? "final" : "batch"];
  if (!mustRecover)
    return { before: opening, after: isClosing && isBeginning ? [...last, "final"] : last };
  return { before: [], after: isClosing ? [...opening, "final"] : opening };
}
