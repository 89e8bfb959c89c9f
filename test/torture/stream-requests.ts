/**
 * Stream requests: the unanswered requests to a store, and the oracle, which has carried out all
 * answered ones.
 *
 * A store decides requests in their order. So after a crash it must equal the oracle after all
 * answered requests and the first few of the unanswered ones. If several numbers fit (a stream
 * was created and removed, or neither), the next answers show which is right.
 */

import { VerbatimError } from "../../src/core/base/errors.ts";
import type { LocalStore } from "../../src/streams/files/local-store.ts";
import type { Process } from "./fault-files.ts";
import type { Random } from "./scheduler.ts";
import { differenceOf } from "./stream-checks.ts";
import { StreamOperations } from "./stream-operations.ts";
import { type Operation, StreamOracle } from "./stream-oracle.ts";
import { ask } from "./streams-machine.ts";

export const NO_REQUEST_COUNTS = {
  asked: 0,
  answered: 0,
  refused: 0,
  /** Unanswered requests that a crash left done, or not done. */
  foundDone: 0,
  foundUndone: 0,
  appended: 0,
  duplicates: 0,
  forks: 0,
  recreations: 0,
  closures: 0,
};

type RequestCounts = typeof NO_REQUEST_COUNTS;

/** Errors that mean that nothing has changed. */
const NOTHING_HAPPENED: ReadonlySet<string> = new Set([
  "NO_SPACE",
  "IO_ERROR",
  "LOG_CLOSED",
  "QUEUE_FULL",
]);

interface Asked {
  readonly operation: Operation;
  /** Null until there is one. */
  answer: string | null;
  /** Refused: nothing has changed. */
  isRefused: boolean;
}

/** A state that fits what a crash left, and the requests carried out to reach it. */
interface Fitting {
  readonly oracle: StreamOracle;
  readonly answers: readonly (readonly [Operation, string])[];
}

export class StreamRequests {
  #oracle = new StreamOracle();
  /** Other states that also fit what a crash left. */
  #others: StreamOracle[] = [];
  readonly #operations: StreamOperations;
  readonly #counts: RequestCounts;
  readonly #onViolation: (what: string) => void;
  /** Unanswered requests, in order. */
  #asked: Asked[] = [];

  constructor(random: Random, counts: RequestCounts, onViolation: (what: string) => void) {
    this.#operations = new StreamOperations(random);
    this.#counts = counts;
    this.#onViolation = onViolation;
  }

  get oracle(): StreamOracle {
    return this.#oracle;
  }

  /** How many are unanswered. */
  get pending(): number {
    return this.#asked.length;
  }

  /** Makes one more request. */
  ask(store: LocalStore, process: Process, nowMs: number): void {
    const before = this.#asked.map(({ operation }) => operation);
    const operation = this.#operations.next(this.oracle, before, nowMs);
    const asked: Asked = { operation, answer: null, isRefused: false };
    this.#asked.push(asked);
    this.#counts.asked++;
    ask(store, operation).then(
      process.whileAlive((answer: string) => {
        asked.answer = answer;
      }),
      process.whileAlive((error: unknown) => this.#refused(asked, error)),
    );
  }

  /** The oracle carries out the requests answered since, and the answers are compared. */
  settle(): void {
    let isOneLeft = false;
    this.#asked = this.#asked.filter(({ operation, answer, isRefused }) => {
      if (isRefused) {
        this.#counts.refused++;
        return false;
      }
      if (answer === null) {
        isOneLeft = true;
        return true;
      }
      const what = `${operation.kind} of ${operation.path}`;
      if (isOneLeft) this.#onViolation(`${what} was answered before an earlier request`);
      const expected = this.#oracle.do(operation);
      this.#others = this.#others.filter((other) => other.do(operation) === answer);
      this.#count(operation, answer);
      this.#counts.answered++;
      if (answer === expected) return false;
      const other = this.#others.shift();
      if (other !== undefined) this.#oracle = other;
      else this.#onViolation(`${what}: answered ${answer}, expected ${expected}`);
      return false;
    });
  }

  /**
   * After a crash: finds how many of the unanswered requests were carried out. After a fault, one of
   * them may have been refused for it, and the process killed before it could answer.
   */
  findOut(found: ReadonlyMap<string, string>, nowMs: number, hadFault: boolean): void {
    const inDoubt = this.#asked.map(({ operation }) => operation);
    this.#asked = [];
    const { fitting, differences } = this.#fitting(found, nowMs, inDoubt);
    for (let n = 0; hadFault && fitting.size === 0 && n < inDoubt.length; n++) {
      const others = this.#fitting(
        found,
        nowMs,
        inDoubt.filter((_, at) => at !== n),
      ).fitting;
      for (const [hidden, each] of others) fitting.set(hidden, each);
    }
    const [chosen, ...others] = fitting.values();
    if (chosen === undefined) {
      this.#onViolation(`after opening: ${differences[0]}; or ${differences.at(-1)}`);
      return;
    }
    this.#oracle = chosen.oracle;
    this.#others = others.map(({ oracle }) => oracle);
    const done = chosen.answers.length;
    for (const [operation, answer] of chosen.answers) this.#count(operation, answer);
    this.#counts.foundDone += done;
    this.#counts.foundUndone += inDoubt.length - done;
  }

  /** The states that fit what was found, after carrying out some of the requests, in order. */
  #fitting(found: ReadonlyMap<string, string>, nowMs: number, requests: readonly Operation[]) {
    const fitting = new Map<string, Fitting>();
    const differences: (string | null)[] = [];
    for (const before of [this.#oracle, ...this.#others]) {
      const oracle = new StreamOracle(before);
      const answers: (readonly [Operation, string])[] = [];
      for (const operation of [null, ...requests]) {
        if (operation !== null) answers.push([operation, oracle.do(operation)]);
        const differs = differenceOf(found, oracle, nowMs);
        differences.push(differs);
        if (differs !== null || fitting.has(oracle.hidden)) continue;
        fitting.set(oracle.hidden, { oracle: new StreamOracle(oracle), answers: [...answers] });
      }
    }
    return { fitting, differences };
  }

  #refused(asked: Asked, error: unknown): void {
    const code = error instanceof VerbatimError ? error.code : null;
    if (code === "STORE_FAILED") return; // The next open shows whether it was done.
    if (code !== null && NOTHING_HAPPENED.has(code)) asked.isRefused = true;
    else this.#onViolation(`${asked.operation.kind} of ${asked.operation.path}: ${String(error)}`);
  }

  #count(operation: Operation, answer: string): void {
    const counts = this.#counts;
    if (answer.startsWith("appended")) counts.appended++;
    if (answer.startsWith("appended") && operation.kind === "append" && operation.close)
      counts.closures++;
    if (answer.startsWith("duplicate")) counts.duplicates++;
    if (answer.startsWith("new") && operation.kind === "fork") counts.forks++;
    if (answer.startsWith("new") && !answer.startsWith("new 0000000000000000")) {
      counts.recreations++;
    }
  }
}
