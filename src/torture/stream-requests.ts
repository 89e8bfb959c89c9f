/**
 * Stream requests: what was asked of a store and not answered yet, and the oracle, which has
 * carried out all that was.
 *
 * Requests are decided in the order in which they were asked, so whatever a crash left is what the
 * oracle holds after those that were answered and the first few of those that were not.
 */

import { VerbatimError } from "../base/errors.ts";
import type { LocalStore } from "../streams/local-store.ts";
import type { Process } from "./fault-files.ts";
import type { Random } from "./random.ts";
import { StreamDeeds } from "./stream-deeds.ts";
import { differenceOf } from "./stream-look.ts";
import { type Deed, StreamOracle } from "./stream-oracle.ts";
import { ask } from "./streams-machine.ts";
import type { StreamsCounts } from "./streams-report.ts";

/** Refusals that say that nothing happened. */
const NOTHING_HAPPENED: ReadonlySet<string> = new Set([
  "NO_SPACE",
  "IO_ERROR",
  "LOG_CLOSED",
  "QUEUE_FULL",
]);

interface Asked {
  readonly deed: Deed;
  /** Null while there is none. */
  answer: string | null;
  /** Refused: nothing happened. */
  isRefused: boolean;
}

export class StreamRequests {
  readonly oracle = new StreamOracle();
  readonly #deeds: StreamDeeds;
  readonly #counts: StreamsCounts;
  readonly #onViolation: (what: string) => void;
  /** In order; what is answered leaves it for the oracle. */
  #asked: Asked[] = [];

  constructor(random: Random, counts: StreamsCounts, onViolation: (what: string) => void) {
    this.#deeds = new StreamDeeds(random);
    this.#counts = counts;
    this.#onViolation = onViolation;
  }

  /** How many are not answered. */
  get pending(): number {
    return this.#asked.length;
  }

  /** Asks one more thing. */
  ask(store: LocalStore, process: Process, nowMs: number): void {
    const before = this.#asked.map(({ deed }) => deed);
    const deed = this.#deeds.next(this.oracle, before, nowMs);
    const asked: Asked = { deed, answer: null, isRefused: false };
    this.#asked.push(asked);
    this.#counts.asked++;
    ask(store, deed).then(
      (answer) => {
        if (process.isAlive) asked.answer = answer;
      },
      (error: unknown) => {
        if (process.isAlive) this.#refused(asked, error);
      },
    );
  }

  /** Has the oracle carry out what was answered meanwhile, and compares. */
  settle(): void {
    let isOneLeft = false;
    this.#asked = this.#asked.filter(({ deed, answer, isRefused }) => {
      if (isRefused) {
        this.#counts.refused++;
        return false;
      }
      if (answer === null) {
        isOneLeft = true;
        return true;
      }
      const what = `${deed.kind} of ${deed.path}`;
      if (isOneLeft) this.#onViolation(`${what} was answered before what was asked first`);
      const expected = this.#do(deed);
      this.#counts.answered++;
      if (answer !== expected) this.#onViolation(`${what}: ${answer}, where it is ${expected}`);
      return false;
    });
  }

  /** After a crash: which of those that nobody was answered about have happened? */
  findOut(found: ReadonlyMap<string, string>, nowMs: number): void {
    const inDoubt = this.#asked.map(({ deed }) => deed);
    this.#asked = [];
    const first = differenceOf(found, this.oracle, nowMs);
    let differs = first;
    let done = 0;
    for (const deed of inDoubt) {
      if (differs === null) break;
      this.#do(deed);
      done++;
      differs = differenceOf(found, this.oracle, nowMs);
    }
    this.#counts.foundDone += done;
    this.#counts.foundUndone += inDoubt.length - done;
    if (differs !== null) this.#onViolation(`after opening: ${first}; or ${differs}`);
  }

  #refused(asked: Asked, error: unknown): void {
    const code = error instanceof VerbatimError ? error.code : null;
    if (code === "STORE_FAILED") return; // Opening it again will show.
    if (code !== null && NOTHING_HAPPENED.has(code)) asked.isRefused = true;
    else this.#onViolation(`${asked.deed.kind} of ${asked.deed.path}: ${String(error)}`);
  }

  #do(deed: Deed): string {
    const answer = this.oracle.do(deed);
    const counts = this.#counts;
    if (answer.startsWith("appended")) counts.appended++;
    if (answer.startsWith("appended") && deed.kind === "append" && deed.close) counts.closures++;
    if (answer.startsWith("duplicate")) counts.duplicates++;
    if (answer.startsWith("new") && deed.kind === "fork") counts.forks++;
    if (answer.startsWith("new") && !answer.startsWith("new 0000000000000000")) {
      counts.recreations++;
    }
    return answer;
  }
}
