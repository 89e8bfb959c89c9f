/**
 * Verdict code: a command that refuses a session for its verdict exits with that verdict's code.
 */

import type { Io } from "../command/command.ts";

/** The result of `work`; or prints a bad verdict and returns its exit code. */
export async function orVerdictCode<T>(io: Io, work: () => Promise<T>): Promise<T | number> {
  const { VerbatimError } = await import("../../core/base/errors.ts");
  const { EXIT_CODES } = await import("../../trust/proof/verdict.ts");
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof VerbatimError) || error.code !== "NOT_VERIFIED") throw error;
    const { verdict } = error.details as { readonly verdict: keyof typeof EXIT_CODES };
    io.err(`error: ${error.message} (${error.code})`);
    return EXIT_CODES[verdict];
  }
}
