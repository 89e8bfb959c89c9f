/**
 * Compacted: a program summarises the conversation and continues with the summary. Resuming does
 * the same: it starts at the last summary, with the lines its boundary keeps, and leaves out the
 * rest.
 *
 * - A summary may be its own boundary (pi).
 * - A boundary without a summary after it changes nothing: the program was stopped in between.
 * - Lines that the boundary keeps follow the summary, as they did for the model.
 * - Held entries count against the limit, as in taken-back.ts (TB1).
 */

import type { VerifiedEntry } from "../verifying/verified-entries.ts";
import type { Dialect } from "./fork/fork.ts";
import type { GatheredEntry } from "./gather.ts";
import { Room } from "./room.ts";

type Held = VerifiedEntry & Pick<GatheredEntry, "aside">;

export class Compacted {
  readonly #compaction: Dialect["compaction"];
  readonly #pass: (entry: Held) => void;
  #room = new Room();
  #held: Held[] = [];
  /** The index of the last boundary among the held entries; null when none lacks its summary. */
  #boundary: number | null = null;
  /** What the boundary kept, to follow the summary. */
  #kept: Held[] = [];

  constructor({ compaction }: Pick<Dialect, "compaction">, pass: (entry: Held) => void) {
    this.#compaction = compaction;
    this.#pass = pass;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: Held): void {
    if (!this.#compaction) {
      this.#pass(entry);
      return;
    }
    this.#room.takeParts(Math.max(1, entry.parts.length), entry.line);
    this.#room.takeChars(entry.end - entry.start, entry.line);
    const isAside = Boolean(entry.aside);
    const isSummary = !isAside && this.#compaction.isSummary(entry.native);
    const isBoundary = !isAside && this.#compaction.isBoundary(entry.native);
    if (isSummary) this.#startOver(isBoundary ? entry : null);
    else this.#held.push(...this.#kept.splice(0)); // After all rows of the summary.
    if (isBoundary && !isSummary) this.#boundary = this.#held.length;
    this.#held.push(entry);
  }

  /** Passes on held entries. Call at the end. */
  finish(): void {
    for (const entry of [...this.#held, ...this.#kept]) this.#pass(entry);
    [this.#held, this.#kept] = [[], []];
  }

  /** `own`: the summary, if it is its own boundary. */
  #startOver(own: Held | null): void {
    const last = this.#held.at(-1);
    // A summary in several rows is one.
    const isOne = own === null && last && !last.aside;
    if (isOne && this.#compaction?.isSummary(last.native)) return;
    const at = this.#boundary ?? this.#held.length;
    const before = [...this.#held.slice(0, at), ...(own === null ? [] : this.#kept.splice(0))];
    const boundary = this.#held[at] ?? own;
    const natives = before.map(({ native }) => native);
    const kept = (boundary && this.#compaction?.keptBy(boundary.native, natives)) ?? new Set();
    for (const entry of before) {
      if (kept.has(entry.native)) this.#kept.push(entry);
      else this.#pass(entry.aside ? entry : { ...entry, aside: "compacted" });
    }
    this.#held = this.#held.slice(at);
    this.#boundary = null;
    this.#room = new Room(); // Nothing is held any more.
  }
}
