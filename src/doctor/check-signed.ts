/**
 * Check signed: compares what `meta.jsonl` says about streams with the checkpoints next to them.
 *
 * Whether the signatures are valid, and by whom, is checked in `verify-directory.ts`. Here they are
 * taken as correct: `meta.jsonl` is what is examined.
 */

import { errnoOf } from "../base/errors.ts";
import type { Directory } from "../base/files.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { toHex } from "../proof/bytes.ts";
import type { SignedHead } from "../proof/checkpoint.ts";
import { readSidecar } from "../signing/judging/inspect-sidecar.ts";
import { nodeCrypto } from "../signing/keys/node-crypto.ts";
import { sidecarOf } from "../signing/session-log.ts";
import type { StreamState } from "../streams/commit/stream-state.ts";
import { contradictions, type SignedClaims } from "../streams/signing/signed-claims.ts";

/**
 * `fileBytes` is the length of the stream's own file; `source` the stream that a fork begins in.
 */
export async function* checkSigned(
  logs: Directory,
  state: StreamState,
  fileBytes: number,
  source: StreamState | null,
): AsyncGenerator<Finding> {
  const said = await claimsIn(logs, state.file);
  if (said === null) return;
  const at = { session: state.path, path: `${logs.path}/${state.file}` };
  for (const { code, verdict, message } of contradictions(state, said, fileBytes)) {
    // The length of the file is already reported; an unsigned closing is not damage.
    const isNew = verdict !== "incomplete" && !(code === "END_MISMATCH" && fileBytes < said.bytes);
    if (isNew) yield finding("SIGNED_OTHERWISE", at, message);
  }
  const { from } = said;
  if (from === null || source === null || (await hasHead(logs, source.file, from))) return;
  const message = `its genesis names a checkpoint that ${source.path}, in which it begins, has not`;
  yield finding("SIGNED_OTHERWISE", at, message);
}

/** The claims of a stream's checkpoints; null without any. */
async function claimsIn(logs: Directory, file: string): Promise<SignedClaims | null> {
  let from: SignedHead | null = null;
  let isFinal = false;
  let bytes: number | null = null;
  for await (const { checkpoint } of checkpointsOf(logs, file)) {
    const { kind, byteOffset } = checkpoint;
    if (kind === "genesis") from = checkpoint.from;
    isFinal ||= kind === "final";
    bytes = byteOffset;
  }
  return bytes === null ? null : { from, isFinal, bytes };
}

async function hasHead(logs: Directory, file: string, from: SignedHead): Promise<boolean> {
  for await (const { checkpoint, line } of checkpointsOf(logs, file)) {
    if (checkpoint.seq !== from.seq) continue;
    return checkpoint.log === from.log && toHex(nodeCrypto.sha256(line)) === from.line;
  }
  return false;
}

async function* checkpointsOf(logs: Directory, file: string) {
  try {
    const sidecar = logs.open(sidecarOf(file), "read");
    try {
      yield* readSidecar(sidecar, `${logs.path}/${sidecarOf(file)}`).checkpoints;
    } finally {
      sidecar.close();
    }
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}
