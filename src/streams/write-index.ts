/** Writing to the index: what a batch changed, as rows. Within a transaction of the caller's. */

import type { Batch, StreamChange } from "./batch.ts";
import type { StreamIndex } from "./stream-index.ts";

/** How many rows of deleted streams are dropped at once: a few milliseconds' worth. */
export const ROWS_DROPPED_TOGETHER = 1000;

/** What is left of streams that are no more: their paths, and below which readSeq. */
export type Leftovers = Map<string, number>;

export function writeToIndex(index: StreamIndex, batch: Batch, leftovers: Leftovers): void {
  for (const change of batch.changes.values()) writeChange(index, change, leftovers);
  for (const [key, value] of batch.records) index.putRecord(key, value);
  for (const [file, deletedAtMs] of batch.removals) index.putRemoval(file, deletedAtMs);
}

/** Drops some of what is left; to be called again while there is anything. */
export function dropSome(index: StreamIndex, leftovers: Leftovers): void {
  for (const [path, belowReadSeq] of leftovers) {
    if (!index.dropOldMessages(path, belowReadSeq, ROWS_DROPPED_TOGETHER)) leftovers.delete(path);
    return;
  }
}

function writeChange(index: StreamIndex, change: StreamChange, leftovers: Leftovers): void {
  const { state, pointers, blocks, producers } = change;
  const { path } = state;
  if (change.dropsContents) {
    index.dropAllButMessages(path);
    leftovers.set(path, state.status === "deleted" ? state.readSeq + 1 : state.readSeq);
  }
  index.putStream(state);
  if (pointers.length > 0) index.putMessages(state, pointers);
  for (const block of blocks) index.putBlock(path, block);
  for (const turn of producers.values()) index.putProducer(path, turn);
}
