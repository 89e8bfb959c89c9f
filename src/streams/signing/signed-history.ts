/**
 * Signed history: whether the beginning of a stream, as `meta.jsonl` or its row has it, is the one
 * that its genesis names. A server does not serve a stream of which that is not true.
 *
 * Signatures are not checked here, so no key is needed: `verbatim verify` checks them. A stream
 * without checkpoints is not contradicted by any.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { Directory } from "../../core/base/files.ts";
import { readSidecar } from "../../trust/judge/inspect-sidecar.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { toHex } from "../../trust/proof/bytes.ts";
import type { Checkpoint, SignedHead } from "../../trust/proof/checkpoint.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { StreamState } from "../commit/stream-state.ts";
import { forkFault } from "./signed-claims.ts";

/** Streams whose result is remembered. */
const REMEMBERED_MAX = 64 * 1024;

type Checkpoints = AsyncIterable<{ readonly checkpoint: Checkpoint; readonly line: Uint8Array }>;

export interface HistoryParts {
  stateOf(path: string): StreamState | null | Promise<StreamState | null>;
  checkpointsOf(stream: StreamState): Checkpoints;
  /** What has the states, and what a user verifies. */
  readonly states: "meta.jsonl" | "its row";
  readonly store: "data directory" | "database";
}

export class SignedHistory {
  readonly #parts: HistoryParts;
  /** By stream id: why a stream is not served; null if it is. */
  readonly #faults = new Map<string, string | null>();

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  /** Throws STREAM_DAMAGED if the stream was checked and is not served. */
  refuseKnown({ path, streamId }: StreamState): void {
    const fault = this.#faults.get(streamId);
    if (typeof fault === "string") throw this.#contradicted(path, fault);
  }

  /** Throws STREAM_DAMAGED. Checks a stream once: its beginning never changes. */
  async check(state: StreamState): Promise<void> {
    if (!this.#faults.has(state.streamId)) {
      const fault = await this.#faultOf(state).catch(() => undefined);
      if (fault === undefined) return; // Reading it reports the error.
      if (this.#faults.size >= REMEMBERED_MAX) this.#faults.clear();
      this.#faults.set(state.streamId, fault);
    }
    this.refuseKnown(state);
  }

  /** Why some of these forks are not served. A page is checked at once. */
  async refused(pages: AsyncIterable<readonly StreamState[]>): Promise<VerbatimError[]> {
    const all: VerbatimError[] = [];
    for await (const forks of pages) {
      const checks = forks.map((fork) => this.check(fork).catch((cause: VerbatimError) => cause));
      all.push(...(await Promise.all(checks)).filter((cause) => cause !== undefined));
    }
    return all;
  }

  /** Its own fault, or one of a stream that it has bytes from. */
  async #faultOf(stream: StreamState): Promise<string | null> {
    const seen = new Set<string>();
    for (let at: StreamState = stream; ; ) {
      seen.add(at.path);
      const from = await originIn(this.#parts.checkpointsOf(at));
      const of = at === stream ? "" : `of ${at.path}, in which it begins: `;
      const fault = from === undefined ? null : forkFault(at, from);
      if (fault !== null) return of + fault;
      const source = at.fork === null ? null : await this.#parts.stateOf(at.fork.source);
      if (source === null || seen.has(source.path)) return null; // Reading it fails by itself.
      if (from && !(await isHeadIn(this.#parts.checkpointsOf(source), from))) {
        return `${of}its genesis names a checkpoint that ${source.path} has not`;
      }
      at = source;
    }
  }

  #contradicted(stream: string, fault: string): VerbatimError<"STREAM_DAMAGED"> {
    const { states, store } = this.#parts;
    const message =
      `${stream} is not served, because its history is not the one that was signed: ` +
      `${fault.replaceAll("meta.jsonl", states)}; run \`verbatim verify\` on the ${store}, and ` +
      `restore ${states} from a backup`;
    return new VerbatimError("STREAM_DAMAGED", message, { stream, offset: 0, path: stream });
  }
}

/** The `from` of a stream's genesis, correct or not; undefined without a genesis. */
async function originIn(checkpoints: Checkpoints): Promise<SignedHead | null | undefined> {
  for await (const { checkpoint } of checkpoints) {
    return checkpoint.kind === "genesis" ? checkpoint.from : undefined;
  }
  return undefined;
}

/** Whether the checkpoints of a stream have this one. */
export async function isHeadIn(checkpoints: Checkpoints, from: SignedHead): Promise<boolean> {
  for await (const { checkpoint, line } of checkpoints) {
    if (checkpoint.seq !== from.seq) continue;
    return checkpoint.log === from.log && toHex(nodeCrypto.sha256(line)) === from.line;
  }
  return false;
}

/** The checkpoints in the sidecar of a stream's file; none if there is no sidecar. */
export async function* checkpointsOf(logs: Directory, file: string) {
  const sidecar = openIfThere(logs, sidecarOf(file));
  if (sidecar === null) return;
  try {
    yield* readSidecar(sidecar, `${logs.path}/${sidecarOf(file)}`).checkpoints;
  } finally {
    sidecar.close();
  }
}
