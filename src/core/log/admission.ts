/** Admission: what a writer accepts: file names, file systems, limits. */

import { badOption } from "../base/choice.ts";
import { VerbatimError } from "../base/errors.ts";
import { DOUBTFUL_BYTES, type LogLimits } from "../base/limits.ts";
import type { LogOptions } from "./log-options.ts";
import type { LogPath } from "./log-path.ts";

/** Recovery can rewrite a whole batch (writer.ts, W4), and a batch can hold any line. */
export function withinBatch(limits: LogLimits): LogLimits {
  const { batchBytesMax } = limits;
  if (batchBytesMax > DOUBTFUL_BYTES) {
    throw badOption("limits.batchBytesMax", `is over ${DOUBTFUL_BYTES}, the limit for a batch`);
  }
  return { ...limits, lineBytesMax: Math.min(limits.lineBytesMax, batchBytesMax - 1) };
}

/** A log with such a name would be taken for a sidecar file of another log, and overwritten. */
export function refuseReservedName({ name }: LogPath): void {
  if (!/\.(lock|checkpoints|torn-\d+|tmp)$/.test(name)) return;
  const reason = "it ends like a sidecar file of a log";
  throw new VerbatimError("BAD_ID", `a log cannot be named ${name}: ${reason}; end it in .jsonl`, {
    id: name,
    reason,
  });
}

/** Set to 1: the locks of every file system that this user shares logs on reach all writers. */
const TRUST_VARIABLE = "VERBATIM_TRUST_LOCKS";

export function refuseSharingOverNetwork(
  { directory, path }: LogPath,
  { mode, trustsLocks = process.env[TRUST_VARIABLE] === "1" }: LogOptions,
): void {
  const fileSystem = mode === "shared" && !trustsLocks ? directory.networkFileSystem : null;
  if (fileSystem === null) return;
  throw new VerbatimError(
    "UNSUPPORTED_FILE_SYSTEM",
    `${path} is on ${fileSystem}, whose locks may not reach every writer; keep it on a local ` +
      "disk, open it in exclusive mode, or, if you know that they do, set trustsLocks: true or " +
      `${TRUST_VARIABLE}=1`,
    { path, fileSystem },
  );
}

export function queueFull(path: string, queuedBytes: number, bytesMax: number): VerbatimError {
  return new VerbatimError(
    "QUEUE_FULL",
    `${path} has ${queuedBytes} bytes waiting for the disk; ` +
      "await earlier appends before making more",
    { path, queuedBytes, bytesMax },
  );
}
