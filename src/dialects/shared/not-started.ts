/**
 * Not started: the error text of a call that is known not to have run. A model that continues the
 * session must know that the call had no effect.
 */

/** The call was denied. */
export function deniedText(reason: string | null): string {
  return `NOT STARTED: permission was denied, the tool did not run${reason ? `: ${reason}` : "."}`;
}

/** The permission request was not answered. */
export const UNANSWERED =
  "NOT STARTED: permission was asked for and not given, the tool did not run.";
