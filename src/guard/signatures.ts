/**
 * Signatures: signs generations in sidecars (docs/formats/guard.md, "Signatures").
 *
 * Bytes that are read again to be signed must be those that were appended; others are not signed
 * (CHECKPOINT_MISMATCH). Bytes that were copied without signing are stated as found, and vouched for
 * if the source has the same bytes now: the guard could copy them again. So is all of a generation
 * of rows that was not signed so far.
 */

import { createHash, type Hash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../core/base/errors.ts";
import type { OpenFile } from "../core/base/files.ts";
import type { Host } from "../core/base/host.ts";
import { userPaths } from "../core/base/node-paths.ts";
import { readChunks } from "../core/log/bytes.ts";
import { statOf } from "../dialects/files/guard-store.ts";
import { Heads } from "../trust/heads/heads.ts";
import { rootNames } from "../trust/heads/session-head.ts";
import { loadOwnSigners, loadSigner } from "../trust/keys/keys.ts";
import { nodeCrypto } from "../trust/keys/node-crypto.ts";
import { concat, LF } from "../trust/proof/bytes.ts";
import { asciiJson, readCheckpoint } from "../trust/proof/checkpoint.ts";
import { WholeLines } from "../trust/proof/whole-lines.ts";
import { type LogContent, type SignableLog, sidecarOf } from "../trust/session-log.ts";
import { type Due, duesOnOpening } from "../trust/signer/dues.ts";
import type { LogSigner } from "../trust/signer/log-signer.ts";
import { SignedSessionFiles, sessionPins } from "../trust/signer/session-files.ts";
import { SignedLog } from "../trust/signer/signed-log.ts";
import { Trust, transcriptKeys } from "../trust/trusted-keys/trust.ts";
import type { CopiedBytes } from "./copy-bytes.ts";

/** As checkpoints and pinned heads name it. */
export const GUARD = "guard";
/** Generations that are held open to be signed on. */
const OPEN_MAX = 64;
/** Larger than a checkpoint. */
const LAST_LINE_BYTES_MAX = 16 * 1024;

/** The signed log of a generation; `name` is `<agent>/<id>`. */
export function signedGeneration(
  root: string,
  name: string,
  path: string,
  generation: number,
  content: LogContent,
): SignableLog & { readonly id: string } {
  const [logId, id] = [`${path}.${generation}`, `${name}/${generation}`];
  return { dialect: GUARD, content, root, logId, id };
}

export class GuardSigning {
  readonly #host: Host;
  readonly #nowMs: () => number;
  readonly #heads: Heads;
  readonly #open = new Map<string, SignedLog<SignedSessionFiles>>();

  constructor(host: Host, nowMs: () => number, onWarning: (warning: string) => void) {
    this.#host = host;
    this.#nowMs = nowMs;
    this.#heads = new Heads({ host, stateDirectory: userPaths().stateDirectory, onWarning });
  }

  /** What one pass appends to a session. */
  stretch(root: string, name: string, path: string) {
    let hash: Hash | null = null;
    let of = 0;
    const add = (generation: number, bytes: Uint8Array) => {
      if (of !== generation) hash = null;
      of = generation;
      hash ??= createHash("sha256");
      hash.update(bytes);
    };
    const sign = async (copied: CopiedBytes, source: OpenFile | null) => {
      const { before, end, generation } = copied;
      const content = source ? "bytes" : "messages";
      const target = signedGeneration(root, name, path, generation, content);
      if (end === before && signedBytes(root, path, generation) === end) return;
      const sha256 = (hash ?? createHash("sha256")).digest("hex");
      await this.#sign(target, copied, sha256, source);
    };
    return { add, sign };
  }

  /** Resolves when every head is pinned. */
  async close(): Promise<void> {
    await this.#heads.flush();
  }

  async #sign(
    target: SignableLog,
    { file, before, end }: CopiedBytes,
    sha256: string,
    source: OpenFile | null,
  ): Promise<void> {
    const key = `${target.root}/${target.logId}`;
    const log = this.#open.get(key) ?? (await this.#openLog(target));
    this.#open.delete(key); // Added again when it was signed: a failure verifies it again.
    if (!log.isOpen || log.signer.bytes !== before) await log.caughtUp(before, 0);
    const { signer } = log;
    const { mustRecover, mustRotate } = signer;
    if (end === before && !signer.mustState) return;
    const isVouched = signer.mustState && (await isToBeVouched(signer, source));
    const draft = signer.draft();
    const lines = mustRecover ? [] : await this.#add(log, draft, duesOnOpening(signer), target);
    const read = await feed(draft, file, before, end, target.content === "bytes");
    if (read !== sha256) {
      const message = `${key} is not signed: its bytes are not those that were appended`;
      throw new VerbatimError(
        "CHECKPOINT_MISMATCH",
        `${message}; run \`verbatim guard --verify\``,
        {
          path: key,
          offset: before,
          verdict: "tampered",
        },
      );
    }
    const vouched: Due[] = [{ vouches: null }, ...(mustRotate ? ["rotate" as const] : [])];
    const found: Due[] = mustRecover ? duesOnOpening(signer) : ["batch"];
    const dues = isVouched ? vouched : found;
    lines.push(...(await this.#add(log, draft, dues, target)));
    await log.files.appendSidecar(concat(...lines));
    log.commit(draft, draft.bytes);
    log.pin();
    this.#open.set(key, log);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= OPEN_MAX) break;
      this.#open.delete(oldest);
    }
  }

  async #add(
    log: SignedLog,
    draft: LogSigner,
    dues: readonly Due[],
    { id }: SignableLog,
  ): Promise<Uint8Array[]> {
    const lines: Uint8Array[] = [];
    for (const due of dues) {
      const timestamp = new Date(this.#nowMs()).toISOString();
      const text = `{"timestamp":"${timestamp}","thread_id":${asciiJson(`${GUARD}:${id}`)},`;
      const at = { turn: draft.seq, rev: 0, previous: null };
      lines.push((await log.add(draft, due, at, () => ({ text, id: null }))).line);
    }
    return lines;
  }

  async #openLog(target: SignableLog): Promise<SignedLog<SignedSessionFiles>> {
    const host = this.#host;
    const places = userPaths();
    const signer = await loadSigner(host, places);
    return new SignedLog({
      target,
      files: new SignedSessionFiles(host, target),
      crypto: nodeCrypto,
      signer,
      ...sessionPins(this.#heads, target.id ?? "", () => rootNames(host, target)),
      own: () => loadOwnSigners(places, signer),
      keys: async () => transcriptKeys(await Trust.load(places), target.id),
      nowMs: this.#nowMs,
    });
  }
}

/** How far the newest checkpoint of a generation goes; 0: it has none. Verifies nothing. */
export function signedBytes(root: string, path: string, generation: number): number {
  const name = join(root, sidecarOf(`${path}.${generation}`));
  const size = statOf(name)?.size ?? 0;
  if (size === 0) return 0;
  const file = openSync(name, "r");
  try {
    const end = Buffer.alloc(Math.min(size, LAST_LINE_BYTES_MAX));
    readSync(file, end, 0, end.length, size - end.length);
    const line = end.subarray(end.lastIndexOf(LF, -2) + 1, -1);
    return readCheckpoint(line, "sidecar")?.byteOffset ?? 0;
  } finally {
    closeSync(file);
  }
}

/** Whether the source has the bytes that were found, or nothing of the rows was signed so far. */
async function isToBeVouched(signer: LogSigner, source: OpenFile | null): Promise<boolean> {
  if (source === null) return signer.isBeginning;
  const { prefix, bytes, hash } = signer.covered;
  const sha256 = createHash("sha256").update(prefix);
  for await (const chunk of readChunks(source, 0, bytes)) sha256.update(chunk);
  return sha256.digest("hex") === hash;
}

/** Adds the bytes of `[from, to)` to what the next checkpoint covers; returns their hash. */
async function feed(
  draft: LogSigner,
  file: OpenFile,
  from: number,
  to: number,
  isRaw: boolean,
): Promise<string> {
  const hash = createHash("sha256");
  const whole = new WholeLines((lines) => draft.addOthersLines(lines));
  for await (const chunk of readChunks(file, from, to)) {
    hash.update(chunk);
    if (isRaw) draft.addOthersLines(chunk);
    else whole.feed(chunk);
  }
  return hash.digest("hex");
}
