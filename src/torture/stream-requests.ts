/**
 * Stream requests: what was asked of a store and not answered yet, and the oracle, which has
 * carried out all that was.
 *
 * Requests are decided in the order in which they were asked, so whatever a crash left is what the
 * oracle holds after those that were answered and the first few of those that were not. Where that
 * fits in several ways (a stream that was made and removed again, or neither), the next answer
 * about it shows which.
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
  #oracle = new StreamOracle();
  /** Those that fit what a crash left as well. */
  #others: StreamOracle[] = [];
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

  get oracle(): StreamOracle {
    return this.#oracle;
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
      process.whileAlive((answer: string) => {
        asked.answer = answer;
      }),
      process.whileAlive((error: unknown) => this.#refused(asked, error)),
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
      const expected = this.#oracle.do(deed);
      this.#others = this.#others.filter((other) => other.do(deed) === answer);
      this.#count(deed, answer);
      this.#counts.answered++;
      if (answer === expected) return false;
      const other = this.#others.shift();
      if (other !== undefined) this.#oracle = other;
      else this.#onViolation(`${what}: ${answer}, where it is ${expected}`);
      return false;
    });
  }

  /** After a crash: which of those that nobody was answered about have happened? */
  findOut(found: ReadonlyMap<string, string>, nowMs: number): void {
    const inDoubt = this.#asked.map(({ deed }) => deed);
    this.#asked = [];
    const fitting = new Map<string, { oracle: StreamOracle; answers: readonly string[] }>();
    const differences: (string | null)[] = [];
    for (const before of [this.#oracle, ...this.#others]) {
      const oracle = new StreamOracle(before);
      const answers: string[] = [];
      for (const deed of [null, ...inDoubt]) {
        if (deed !== null) answers.push(oracle.do(deed));
        const differs = differenceOf(found, oracle, nowMs);
        differences.push(differs);
        if (differs !== null || fitting.has(oracle.hidden)) continue;
        fitting.set(oracle.hidden, { oracle: new StreamOracle(oracle), answers: [...answers] });
      }
    }
    const [chosen, ...others] = fitting.values();
    if (chosen === undefined) {
      this.#onViolation(`after opening: ${differences[0]}; or ${differences.at(-1)}`);
      return;
    }
    this.#oracle = chosen.oracle;
    this.#others = others.map(({ oracle }) => oracle);
    const done = chosen.answers.length;
    for (const [n, answer] of chosen.answers.entries()) this.#count(inDoubt[n] as Deed, answer);
    this.#counts.foundDone += done;
    this.#counts.foundUndone += inDoubt.length - done;
  }

  #refused(asked: Asked, error: unknown): void {
    const code = error instanceof VerbatimError ? error.code : null;
    if (code === "STORE_FAILED") return; // Opening it again will show.
    if (code !== null && NOTHING_HAPPENED.has(code)) asked.isRefused = true;
    else this.#onViolation(`${asked.deed.kind} of ${asked.deed.path}: ${String(error)}`);
  }

  #count(deed: Deed, answer: string): void {
    const counts = this.#counts;
    if (answer.startsWith("appended")) counts.appended++;
    if (answer.startsWith("appended") && deed.kind === "append" && deed.close) counts.closures++;
    if (answer.startsWith("duplicate")) counts.duplicates++;
    if (answer.startsWith("new") && deed.kind === "fork") counts.forks++;
    if (answer.startsWith("new") && !answer.startsWith("new 0000000000000000")) {
      counts.recreations++;
    }
  }
}
