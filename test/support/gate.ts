/**
 * A gate: blocks callers until it is opened, and reports when the first one waits. It opens at the
 * latest when the test is over, so that a failed test can be cleaned up.
 */

import { onTestFinished } from "vitest";

export class Gate {
  /** Resolves when a caller waits at the gate. */
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

/**
 * Whether a promise is still pending after all due callbacks have run, several turns of the event
 * loop.
 */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  return !isSettled;
}
