/**
 * Read ahead: a reader that catches up asks for chunk after chunk. While one is being sent, the
 * next is read and checked.
 *
 * - Only for reads that continue where another chunk ended, and only before the stream's end:
 *   single reads and readers at the end cost nothing more. At most `PLACES_MAX` are remembered.
 * - A chunk is returned once: it belongs to its caller. The bytes before a published end never
 *   change (stream-reader.ts, SR2), so it equals one that is read now; a failed read is tried again
 *   when it is requested.
 */

import type { StreamState } from "../commit/stream-state.ts";

/** Reads at least one message from `from` on, then up to `bytesMax`. */
type Read = (stream: StreamState, from: number, bytesMax: number) => Promise<Buffer>;

const PLACES_MAX = 8;

export class ReadAhead {
  readonly #read: Read;
  /** Where chunks ended, newest last; with the next chunk, if it was read already. */
  readonly #places = new Map<string, Promise<Buffer | null> | null>();

  constructor(read: Read) {
    this.#read = read;
  }

  async read(stream: StreamState, from: number, bytesMax: number): Promise<Buffer> {
    const place = placeOf(stream, from, bytesMax);
    const ahead = this.#places.get(place);
    this.#places.delete(place);
    const bytes = (await ahead) ?? (await this.#read(stream, from, bytesMax));
    const next = from + bytes.length;
    if (next < stream.end) this.#remember(stream, next, bytesMax, ahead !== undefined);
    return bytes;
  }

  #remember(stream: StreamState, next: number, bytesMax: number, goesOn: boolean): void {
    const ahead = goesOn ? this.#read(stream, next, bytesMax).catch(() => null) : null;
    this.#places.set(placeOf(stream, next, bytesMax), ahead);
    if (this.#places.size <= PLACES_MAX) return;
    for (const oldest of this.#places.keys()) {
      this.#places.delete(oldest);
      return;
    }
  }
}

function placeOf({ streamId }: StreamState, from: number, bytesMax: number): string {
  return `${streamId} ${from} ${bytesMax}`;
}
