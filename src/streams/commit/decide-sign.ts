/**
 * Deciding on checkpoints: whether they belong to the current stream, and whether the sidecar file
 * still ends where they go.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { SignOp } from "../journal/journal-record.ts";
import type { HandlePool } from "../reading/handle-pool.ts";
import type { Batch } from "./batch.ts";

/** False when the stream no longer exists. */
export function decideSign(
  pool: HandlePool,
  batch: Batch,
  { streamId, ...place }: Omit<SignOp, "op"> & { readonly streamId: string },
): boolean {
  const state = batch.state(place.path);
  if (state?.streamId !== streamId || state.status === "deleted") return false;
  // Found after the journal took it, it would stop all writes (reading/checked-files.ts).
  pool.useNow(place.file, ({ path, size }) => {
    if (size === place.pos) return;
    throw new VerbatimError(
      "CHECKPOINT_MISMATCH",
      `${path} has ${size} bytes, but ${place.pos} were written to it; it is not signed until ` +
        "it is restored from a backup",
      { path, offset: Math.min(size, place.pos), verdict: "tampered" },
    );
  });
  batch.add({ op: "sign", ...place });
  return true;
}
