/**
 * Ledger draft: lines that are about to be written, and what a log's ledger comes to with them.
 *
 * LD1  The ledger is left alone until `commit`: what the disk refuses was never in it.
 * LD2  Nothing is hashed before somebody asks what the lines come to, or commits them. So what is
 *      only appended is hashed once it is written, while the disk is at work, and without a fork.
 */

import { assert } from "../../base/errors.ts";
import type { Ledger } from "../../proof/ledger.ts";

type Added =
  | { readonly is: "lines" | "checkpoint"; readonly bytes: Uint8Array }
  | { readonly is: "segment" };

export class LedgerDraft {
  readonly #base: Ledger;
  readonly #start: number;
  #fork: Ledger | null = null;
  /** Not hashed yet. */
  #pending: Added[] = [];
  #bytes: number;

  constructor(base: Ledger) {
    this.#base = base;
    this.#start = base.bytes;
    this.#bytes = base.bytes;
  }

  /** How long the log is with all that was added. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes whole lines, LFs included, which must stay as they are until they are hashed. */
  addLines(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#add({ is: "lines", bytes });
  }

  addCheckpointLine(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#add({ is: "checkpoint", bytes });
  }

  /** After a checkpoint that stands beside the log. */
  beginSegment(): void {
    this.#add({ is: "segment" });
  }

  #add(added: Added): void {
    this.#pending.push(added);
  }

  /** The ledger with all that was added, to look at. What was added may change from now on. */
  hashed(): Ledger {
    if (this.#pending.length === 0) return this.#fork ?? this.#base;
    this.#fork ??= this.#base.fork();
    this.#apply(this.#fork);
    return this.#fork;
  }

  /** The lines stand in the log; answers its ledger from now on. */
  commit(): Ledger {
    assert(this.#base.bytes === this.#start, "a draft follows what stands in the log");
    const ledger = this.#fork ?? this.#base;
    this.#apply(ledger);
    return ledger;
  }

  #apply(ledger: Ledger): void {
    for (const added of this.#pending) {
      if (added.is === "lines") ledger.addLines(added.bytes);
      else if (added.is === "checkpoint") ledger.addCheckpointLine(added.bytes);
      else ledger.beginSegment();
    }
    this.#pending = [];
  }
}
