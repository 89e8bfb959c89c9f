/** Callers: giving those who were just answered the chance to ask again before work goes on. */

/**
 * Resolves after every promise callback that is due has run: callers who were just answered
 * have then made their next call, and share the coming work. To be called in a microtask: a
 * tick that is asked for there comes after all the others, elsewhere before them.
 */
export function callersHaveRun(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
