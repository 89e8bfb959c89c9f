/**
 * Waiting pieces: the pieces of a transcript, in order.
 *
 * WP1  A call waits for its result, which is shown with it, and so does what follows the call, up
 *      to HELD_BYTES_MAX of the log. A result that comes later has a row of its own.
 */

import type { CallResults } from "./html/call-results.ts";
import type { PlacedEntry } from "./html/placed-entry.ts";

const HELD_BYTES_MAX = 4 * 1024 * 1024;

export class WaitingPieces {
  readonly #results: CallResults;
  readonly #textOf: (entry: PlacedEntry) => string;
  #held: (PlacedEntry | string)[] = [];
  #before: NonNullable<PlacedEntry["before"]> = { at: null, model: null };

  /** `textOf` is called in order. */
  constructor(results: CallResults, textOf: (entry: PlacedEntry) => string) {
    this.#results = results;
    this.#textOf = textOf;
  }

  /** Returns what can be written by now: maybe nothing, maybe several pieces. */
  add(entry: PlacedEntry): string {
    this.#results.add(entry);
    this.#held.push({ ...entry, before: this.#before });
    const { at, model } = entry;
    this.#before = { at: at ?? this.#before.at, model: model ?? this.#before.model };
    return this.#written(entry.start - HELD_BYTES_MAX);
  }

  /** The same for a text between entries. */
  addText(text: string): string {
    this.#held.push(text);
    return this.#written(Number.NEGATIVE_INFINITY);
  }

  /** What still waits. */
  end(): string {
    return this.#written(Number.POSITIVE_INFINITY);
  }

  /** Entries that begin before `full` wait no longer. */
  #written(full: number): string {
    let text = "";
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      if (typeof first !== "string" && first.start >= full && this.#results.isOpen(first)) break;
      this.#held.shift();
      text += typeof first === "string" ? first : this.#finalText(first);
    }
    return text;
  }

  #finalText(entry: PlacedEntry): string {
    const text = this.#textOf(entry);
    this.#results.forget(entry);
    return text;
  }
}
