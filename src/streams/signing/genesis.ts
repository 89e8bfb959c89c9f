/**
 * Genesis: the first checkpoint of a stream's sidecar, made for the empty log and added to the same
 * batch as the stream's first bytes.
 *
 * One journal write makes both durable, so no crash leaves acknowledged bytes without a checkpoint
 * before them. A fork is not begun here: its genesis needs a signed head of its source first
 * (`signed-stream.ts`, SN5).
 *
 * Fork source: whether the source of a fork can be signed for it.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { RememberedHead } from "../../trust/heads/heads.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { LogSigner } from "../../trust/signer/log-signer.ts";
import { nothingSigned } from "../../trust/signer/signer-state.ts";
import type { CommitBatch } from "../commit/batch.ts";
import type { StreamState } from "../commit/stream-state.ts";
import type { SigningParts } from "./signed-stream.ts";
import { checkpointOpening } from "./stream-files.ts";

interface GenesisParts
  extends Pick<SigningParts, "signer" | "own" | "newSalt" | "nowMs" | "rememberedOf"> {
  hasCheckpoints(state: StreamState): boolean;
}

/** Adds the geneses of `states`, whose first bytes are in `batch`. */
export async function addGeneses(
  parts: GenesisParts,
  batch: CommitBatch,
  states: readonly StreamState[],
): Promise<void> {
  for (const state of states) {
    if (wasSigned(parts.rememberedOf(state.path))) continue;
    const file = sidecarOf(state.file);
    if (batch.sidecars.has(file) || parts.hasCheckpoints(state)) continue;
    const bytes = await genesisOf(parts, state);
    batch.add({ op: "sign", path: state.path, file, pos: 0, bytes });
  }
}

/** The streams, except forks, whose first bytes are in `batch`. */
export function beginningIn(batch: CommitBatch): StreamState[] {
  const states: StreamState[] = [];
  for (const op of batch.ops) {
    if (op.op !== "append" && op.op !== "create") continue;
    if (op.bytes.length === 0 || op.pos > 0 || op.from > 0) continue;
    const state = batch.state(op.path);
    if (state?.file === op.file && state.status !== "deleted") states.push(state);
  }
  return states;
}

/** A pinned head means that checkpoints are missing; opening the stream to sign reports it. */
function wasSigned({ here, lost }: RememberedHead): boolean {
  return here !== null || lost !== null;
}

function genesisOf(parts: GenesisParts, { path, isJson }: StreamState): Promise<Uint8Array> {
  const { signer, own = new Map(), newSalt, nowMs } = parts;
  const nowIso = () => new Date(nowMs()).toISOString();
  const nothing = nothingSigned(nodeCrypto, newSalt(), true, !isJson);
  const log = LogSigner.from(nothing, { crypto: nodeCrypto, signer, own, isSidecar: true, nowIso });
  return log.draft().checkpoint("batch", checkpointOpening(nowMs(), path), { turn: 0, rev: 0 });
}

/**
 * Whether a stream has bytes from `path` through any number of forks: no stream has bytes from
 * itself.
 */
export async function comesFrom(
  stateOf: (path: string) => StreamState | null | Promise<StreamState | null>,
  stream: StreamState,
  path: string,
): Promise<boolean> {
  const seen = new Set<string>();
  for (let each: StreamState | null = stream; each !== null && !seen.has(each.path); ) {
    if (each.path === path) return true;
    seen.add(each.path);
    each = each.fork === null ? null : await stateOf(each.fork.source);
  }
  return false;
}

export function sourceMissing(path: string, source: string | null): VerbatimError {
  return new VerbatimError(
    "CHECKPOINT_MISMATCH",
    `${path} is not signed: it begins in ${source ?? "no stream"}, which does not exist or does not verify`,
    { path, offset: 0, verdict: "tampered" },
  );
}
