/**
 * Not started: what is told of a call that is known not to have run, as why it failed. Whoever goes on
 * with the session must know that there is nothing to look for.
 */

/** Somebody said no. */
export function denied(reason: string | null): string {
  return `NOT STARTED: permission was denied, the tool did not run${reason ? `: ${reason}` : "."}`;
}

/** Somebody was asked, and had not answered. */
export const UNANSWERED =
  "NOT STARTED: permission was asked for and not given, the tool did not run.";
