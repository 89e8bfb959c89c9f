/**
 * Bytes source: fetches the log's bytes in pieces, and the keys that checkpoints name.
 *
 * - A key from the server is checked against the checkpoint itself: it is used only when its
 *   SHA-256 is the id that the checkpoint names. Which keys are trusted is up to the server.
 */

import type {
  CheckpointKey,
  CheckpointPage,
  SessionBytes,
} from "../../../src/client/session-shapes.ts";
import { fromBase64url, utf8 } from "../../../src/trust/proof/bytes.ts";
import {
  type Checkpoint,
  type EnvelopeName,
  readCheckpoint,
} from "../../../src/trust/proof/checkpoint.ts";
import type { KeyAnswer, KeyRefusal, Keys } from "../../../src/trust/proof/ed25519-keys.ts";
import { fpOf, kidOf } from "../../../src/trust/proof/ed25519-keys.ts";
import { rotationKey } from "../../../src/trust/proof/rotations.ts";
import { Walk } from "../../../src/trust/proof/walk.ts";
import type { WebProofCrypto } from "./web-crypto.ts";

/** The part of the client that is used. */
export interface ProofClient {
  bytes(id: string, range: { from: number; to?: number }): Promise<SessionBytes>;
  checkpoints(id: string, range: { from: number; to?: number }): Promise<CheckpointPage>;
}

/** The session to check, as in the list. */
export interface ProofSession {
  readonly id: string;
  readonly session: string;
  readonly dialect: string;
}

/** A piece is judged in one go: short enough to keep the page responsive. */
const PIECE_BYTES = 256 * 1024;
/** A file may name any number of keys; after these, they are unknown. */
const KEYS_MAX = 64;

export class BytesSource {
  readonly crypto: WebProofCrypto;
  readonly session: ProofSession;
  readonly #client: ProofClient;
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, KeyAnswer>();
  /** Keys in rotations. The server may not know them, and they are not trusted for that. */
  readonly #carried = new Map<string, Uint8Array>();
  #canVerify: boolean | null = null;

  constructor(
    client: ProofClient,
    session: ProofSession,
    crypto: WebProofCrypto,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.session = session;
    this.crypto = crypto;
    this.#signal = signal;
  }

  /** The session that the checkpoints must name: src/trust/session-log.ts has the same rule. */
  get name(): string {
    const { session, dialect } = this.session;
    return dialect === "rye" || dialect === "entire" ? session : `${dialect}:${session}`;
  }

  async checkpoints(from: number, to?: number): Promise<CheckpointPage> {
    const range = to === undefined ? { from } : { from, to };
    this.#canVerify ??= await this.crypto.canVerify();
    const page = await this.#client.checkpoints(this.session.id, range);
    for (const key of page.keys) this.#learn(key);
    return page;
  }

  /** All checkpoints of a sidecar from an offset on, in order. */
  async *sidecarLines(first: CheckpointPage, from: number): AsyncGenerator<Uint8Array> {
    let last = -1;
    const { genesis } = first;
    if (genesis && from === 0) {
      last = genesis.seq;
      yield utf8(`${genesis.line}\n`);
    }
    for (let page = first; ; ) {
      const news = page.checkpoints.filter(({ seq }) => seq > last);
      for (const { line } of news) yield utf8(`${line}\n`);
      const newest = news.at(-1);
      if (page.isComplete || newest === undefined) return;
      last = newest.seq;
      // From the byte before, since more may be at the same offset.
      page = await this.checkpoints(Math.max(0, newest.covers.to - 1));
    }
  }

  /** The log's bytes up to `to`, in pieces; the page can react between them. */
  async *pieces(from: number, to: number): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to; ) {
      this.#signal.throwIfAborted();
      const { bytes } = await this.#client.bytes(this.session.id, { from: at, to });
      if (bytes.length === 0) throw new RangeError("the log became shorter");
      for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
        yield bytes.subarray(start, start + PIECE_BYTES);
        await breath();
        this.#signal.throwIfAborted();
      }
      at += bytes.length;
    }
  }

  /** Like `pieces`; the signatures in each are checked before it is yielded. */
  async *checkedPieces(
    from: number,
    to: number,
    envelope: EnvelopeName,
  ): AsyncGenerator<Uint8Array> {
    let waiting: Checkpoint[] = [];
    const walk = new Walk(this.crypto, envelope, {
      lines: () => {},
      claim: (_line, _start, claim) => {
        if (claim.is === "checkpoint") waiting.push(claim.checkpoint);
      },
    });
    for await (const piece of this.pieces(from, to)) {
      walk.feed(piece);
      const found = waiting;
      waiting = [];
      for (const checkpoint of found) await this.ahead(checkpoint);
      yield piece;
    }
  }

  /** Checks a signature in advance, for the judges. */
  async ahead(checkpoint: Checkpoint): Promise<void> {
    const { kid, byteOffset, statement, sig2 } = checkpoint;
    if (!this.#known.has(kid) && this.#known.size < KEYS_MAX) {
      await this.checkpoints(Math.max(0, byteOffset - 1), byteOffset);
      if (!this.#known.has(kid)) this.#known.set(kid, unknown(kid));
    }
    const carried = this.#carried.get(kid);
    if (carried && this.#known.get(kid)?.publicKey === null) {
      const fp = fpOf(this.crypto, carried);
      this.#known.set(kid, { ...unknown(kid), publicKey: carried, fp });
    }
    const { publicKey } = this.keys.byKid(kid, "");
    if (publicKey) await this.crypto.ahead(publicKey, statement, sig2);
    const next = checkpoint.kind === "rotate" && this.#canVerify ? checkpoint : null;
    const raw = next && rotationKey(this.crypto, next);
    if (raw && this.#carried.size < KEYS_MAX) this.#carried.set(next.next, raw);
  }

  readonly keys: Keys = {
    byKid: (kid) => this.#known.get(kid) ?? unknown(kid),
    byFp: (fp) => ({ ...unknown(null), fp }),
  };

  #learn({ keyId, publicKey, owner, refusal }: CheckpointKey): void {
    // An unusable key counts as missing: its signatures are not false because they cannot be
    // checked.
    const raw = publicKey === null || !this.#canVerify ? null : fromBase64url(publicKey);
    if (!raw || kidOf(this.crypto, raw) !== keyId) return;
    this.#known.set(keyId, {
      publicKey: raw,
      kid: keyId,
      fp: fpOf(this.crypto, raw),
      owner,
      refusal: refusal as KeyRefusal | null,
    });
  }
}

export function checkpointIn(line: string, envelope: EnvelopeName): Checkpoint | null {
  return readCheckpoint(utf8(line), envelope);
}

function unknown(kid: string | null): KeyAnswer {
  return { publicKey: null, kid, fp: null, owner: null, refusal: "KEY_UNKNOWN" };
}

/** Lets the page draw and react. */
function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
