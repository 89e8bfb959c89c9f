/**
 * Deciding about checkpoints: whether a stream is still the one that they are of, and whether the
 * file beside it still ends where they go.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { SignOp } from "../journal/journal-record.ts";
import type { HandlePool } from "../reading/handle-pool.ts";
import type { Batch } from "./batch.ts";

/** Answers false when the stream is no more. */
export function decideSign(
  pool: HandlePool,
  batch: Batch,
  { streamId, ...place }: Omit<SignOp, "op"> & { readonly streamId: string },
): boolean {
  const state = batch.state(place.path);
  if (state?.streamId !== streamId || state.status === "deleted") return false;
  // Found after the journal took it, it would end the whole store's writing (checked-files.ts).
  pool.useNow(place.file, ({ path, size }) => {
    if (size === place.pos) return;
    throw new VerbatimError(
      "CHECKPOINT_MISMATCH",
      `${path} has ${size} bytes, and ${place.pos} were written to it; it is not signed on until ` +
        "it is put back from a copy",
      { path, offset: Math.min(size, place.pos), verdict: "tampered" },
    );
  });
  batch.add({ op: "sign", ...place });
  return true;
}
