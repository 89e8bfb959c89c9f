/** Writing to the index: the changes of batches as rows. Within a transaction of the caller. */

import type { Batch, StreamChange } from "../commit/batch.ts";
import type { StreamIndex } from "./stream-index.ts";

/** How many rows of deleted streams are removed at once: a few milliseconds' work. */
export const ROWS_DROPPED_TOGETHER = 1000;

/** Leftover rows of deleted streams: their paths, and below which readSeq. */
export type Leftovers = Map<string, number>;

/** What one or several batches change in a stream, for the index. */
export type IndexChange = Pick<
  StreamChange,
  "state" | "dropsContents" | "pointers" | "blocks" | "producers"
>;

export interface IndexChanges extends Pick<Batch, "records" | "removals"> {
  readonly changes: ReadonlyMap<string, IndexChange>;
}

export function writeToIndex(
  index: StreamIndex,
  { changes, records, removals }: IndexChanges,
  leftovers: Leftovers,
): void {
  for (const change of changes.values()) writeChange(index, change, leftovers);
  for (const [key, value] of records) index.putRecord(key, value);
  for (const [file, deletedAtMs] of removals) index.putRemoval(file, deletedAtMs);
}

/** Removes some leftover rows; call it again while there are more. */
export function dropSome(index: StreamIndex, leftovers: Leftovers): void {
  for (const [path, belowReadSeq] of leftovers) {
    if (!index.dropOldMessages(path, belowReadSeq, ROWS_DROPPED_TOGETHER)) leftovers.delete(path);
    return;
  }
}

function writeChange(index: StreamIndex, change: IndexChange, leftovers: Leftovers): void {
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
