/** Refusals: expects an error with a code, and returns its details. */

import assert from "node:assert/strict";
import { type ErrorCode, VerbatimError } from "../../src/core/base/errors.ts";

/** The error with which `work` was refused; it must have `code`. */
export async function refusal<C extends ErrorCode>(
  work: Promise<unknown>,
  code: C,
): Promise<VerbatimError<C>> {
  const error = await work.then(
    () => assert.fail(`was not refused with ${code}`),
    (error: unknown) => error,
  );
  return asRefusal(error, code);
}

/** The same for a call that throws synchronously. */
export function thrownRefusal<C extends ErrorCode>(call: () => unknown, code: C): VerbatimError<C> {
  try {
    call();
  } catch (error) {
    return asRefusal(error, code);
  }
  assert.fail(`was not refused with ${code}`);
}

/** An error as the operating system returns it. */
export function errno(code: string): Error {
  return Object.assign(new Error(`${code}, made up by a test`), { code });
}

function asRefusal<C extends ErrorCode>(error: unknown, code: C): VerbatimError<C> {
  if (error instanceof VerbatimError && error.code === code) return error as VerbatimError<C>;
  throw new assert.AssertionError({
    message: `expected ${code}, got ${describe(error)}`,
    actual: error,
    expected: code,
  });
}

function describe(error: unknown): string {
  return error instanceof VerbatimError ? `${error.code}: ${error.message}` : String(error);
}
