/**
 * Check signed: what `meta.jsonl` says of streams, held against the checkpoints that lie next to them.
 *
 * Whose signatures they are, and whether they hold, is for `verify-directory.ts`. Here they are
 * taken at their word: it is `meta.jsonl` that is examined.
 */

import { errnoOf } from "../base/errors.ts";
import type { Directory } from "../base/files.ts";
import { type CheckFinding, damage } from "../findings/check-finding.ts";
import { toHex } from "../proof/bytes.ts";
import type { ForeignHead } from "../proof/checkpoint.ts";
import { readSidecar } from "../signing/judging/inspect-beside.ts";
import { nodeCrypto } from "../signing/keys/node-crypto.ts";
import { sidecarOf } from "../signing/session-log.ts";
import type { StreamState } from "../streams/commit/stream-state.ts";
import { contradictions, type SignedClaims } from "../streams/signing/signed-claims.ts";

/** `fileBytes` is how long the stream's own file is; `source` the stream that a fork begins in. */
export async function* checkSigned(
  logs: Directory,
  state: StreamState,
  fileBytes: number,
  source: StreamState | null,
): AsyncGenerator<CheckFinding> {
  const said = await claimsIn(logs, state.file);
  if (said === null) return;
  const file = `logs/${state.file}`;
  const where = { stream: state.path };
  for (const { code, verdict, message } of contradictions(state, said, fileBytes)) {
    // How long the file is was said already; a closing that was not signed is no damage.
    const isNew = verdict !== "incomplete" && !(code === "END_MISMATCH" && fileBytes < said.bytes);
    if (isNew) yield damage("SIGNED_OTHERWISE", file, message, where);
  }
  const { from } = said;
  if (from === null || source === null || (await hasHead(logs, source.file, from))) return;
  const message = `its genesis names a checkpoint that ${source.path}, in which it begins, has not`;
  yield damage("SIGNED_OTHERWISE", file, message, where);
}

/** What the checkpoints of a stream say; null without any. */
async function claimsIn(logs: Directory, file: string): Promise<SignedClaims | null> {
  let from: ForeignHead | null = null;
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

async function hasHead(logs: Directory, file: string, from: ForeignHead): Promise<boolean> {
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
