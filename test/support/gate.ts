/**
 * A gate: holds those who come to it until it is opened, and tells when the first has come.
 * It opens at the latest when the test is over, so that one that failed can be cleaned up after.
 */

import { onTestFinished } from "vitest";

export class Gate {
  /** Resolves once somebody waits at the gate. */
  readonly reached: Promise<void>;
  readonly #opened: Promise<void>;
  #arrive: () => void = () => {};
  #open: () => void = () => {};

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#arrive = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    onTestFinished(() => this.open());
  }

  pass(): Promise<void> {
    this.#arrive();
    return this.#opened;
  }

  open(): void {
    this.#open();
  }
}

/** Whether a promise is still open after everything that is due has run, some turns over. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  return !isSettled;
}
