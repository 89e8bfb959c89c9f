/**
 * Signed history: whether the beginning of a stream, as `meta.jsonl` has it, is the one that its
 * genesis names. A server does not serve a stream of which that is not true.
 *
 * Signatures are not checked here, so no key is needed: `verbatim verify` checks them. A stream
 * without checkpoints is not contradicted by any.
 */

import { VerbatimError } from "../../base/errors.ts";
import { openIfThere } from "../../base/file-steps.ts";
import type { Directory } from "../../base/files.ts";
import { toHex } from "../../proof/bytes.ts";
import type { SignedHead } from "../../proof/checkpoint.ts";
import { readSidecar } from "../../signing/judging/inspect-sidecar.ts";
import { nodeCrypto } from "../../signing/keys/node-crypto.ts";
import { sidecarOf } from "../../signing/session-log.ts";
import type { StreamState } from "../commit/stream-state.ts";
import { forkFault } from "./signed-claims.ts";

/** Streams whose result is remembered. */
const REMEMBERED_MAX = 64 * 1024;

export class SignedHistory {
  readonly #logs: Directory;
  readonly #stateOf: (path: string) => StreamState | null;
  /** By stream id: why a stream is not served; null if it is. */
  readonly #faults = new Map<string, string | null>();

  constructor(logs: Directory, stateOf: (path: string) => StreamState | null) {
    this.#logs = logs;
    this.#stateOf = stateOf;
  }

  /** Throws STREAM_DAMAGED if the stream was checked and is not served. */
  refuseKnown({ path, streamId }: StreamState): void {
    const fault = this.#faults.get(streamId);
    if (typeof fault === "string") throw contradicted(path, fault);
  }

  /** Throws STREAM_DAMAGED. Checks a stream once: its beginning never changes. */
  async check(state: StreamState): Promise<void> {
    if (!this.#faults.has(state.streamId)) {
      const fault = await this.#faultOf(state).catch(() => null); // Reading it reports the error.
      if (this.#faults.size >= REMEMBERED_MAX) this.#faults.clear();
      this.#faults.set(state.streamId, fault);
    }
    this.refuseKnown(state);
  }

  /** Its own fault, or one of a stream that it has bytes from. */
  async #faultOf(stream: StreamState): Promise<string | null> {
    const seen = new Set<string>();
    for (let at: StreamState = stream; ; ) {
      seen.add(at.path);
      const from = await originOf(this.#logs, at.file);
      const of = at === stream ? "" : `of ${at.path}, in which it begins: `;
      const fault = from === undefined ? null : forkFault(at, from);
      if (fault !== null) return of + fault;
      const source = at.fork === null ? null : this.#stateOf(at.fork.source);
      if (source === null || seen.has(source.path)) return null; // Reading it fails by itself.
      if (from && !(await hasHead(this.#logs, source.file, from))) {
        return `${of}its genesis names a checkpoint that ${source.path} has not`;
      }
      at = source;
    }
  }
}

/** The `from` of a stream's genesis, correct or not; undefined without a genesis. */
async function originOf(logs: Directory, file: string): Promise<SignedHead | null | undefined> {
  for await (const { checkpoint } of checkpointsOf(logs, file)) {
    return checkpoint.kind === "genesis" ? checkpoint.from : undefined;
  }
  return undefined;
}

/** Whether the checkpoints of a stream have this one. */
export async function hasHead(logs: Directory, file: string, from: SignedHead): Promise<boolean> {
  for await (const { checkpoint, line } of checkpointsOf(logs, file)) {
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

function contradicted(stream: string, fault: string): VerbatimError<"STREAM_DAMAGED"> {
  const message =
    `${stream} is not served, because its history is not the one that was signed: ${fault}; run ` +
    "`verbatim verify` on the data directory, and restore meta.jsonl from a backup";
  return new VerbatimError("STREAM_DAMAGED", message, { stream, offset: 0, path: stream });
}
