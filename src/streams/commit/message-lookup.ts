/**
 * Message lookup: where messages end, including those of a batch that is not written yet: a fork
 * may begin in a message of its own batch.
 */

import type { StreamIndex, StreamKey } from "../lookup/stream-index.ts";
import type { Batch } from "./batch.ts";
import type { MessagePointer } from "./stream-state.ts";

export type MessageLookup = Pick<StreamIndex, "messages" | "lastEnd">;

export function lookupIn(index: StreamIndex, batch: Batch): MessageLookup {
  return {
    messages(stream, after, upTo, limit) {
      const written = isReplaced(stream) ? [] : index.messages(stream, after, upTo, limit);
      const found = [...written, ...pending(stream, after, upTo)];
      return limit === undefined ? found : found.slice(0, limit);
    },
    lastEnd(stream, after, upTo) {
      const last = pending(stream, after, upTo).at(-1)?.end;
      return last ?? (isReplaced(stream) ? null : index.lastEnd(stream, after, upTo));
    },
  };

  function pending({ path }: StreamKey, after: number, upTo: number): readonly MessagePointer[] {
    const pointers = batch.changes.get(path)?.pointers ?? [];
    return pointers.filter(({ end }) => end > after && end <= upTo);
  }

  /** The index rows of this path belong to another stream. */
  function isReplaced({ path }: StreamKey): boolean {
    return batch.changes.get(path)?.dropsContents === true;
  }
}
