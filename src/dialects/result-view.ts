/**
 * Result view: what an agent recorded about the result of a tool call, besides what its model got.
 * A dialect finds it in a row (`resultViews`); it is for people who read, never for a model.
 */

export interface ResultView {
  readonly callId: string;
  /** What the call changed, as hunks of a unified diff with the numbers of their lines. */
  readonly diff: string | null;
  /** Where the text of a file begins in the output, after lines about the command. */
  readonly textAt: number;
}

export const DIFF_CHARS_MAX = 256 * 1024;

/** None if there is no call, or no hunk with numbers, or it is too long to be looked at. */
export function diffViews(callId: unknown, diff: unknown): ResultView[] {
  if (typeof callId !== "string" || typeof diff !== "string" || callId === "") return [];
  const isHunks = diff.length <= DIFF_CHARS_MAX && /^@@ -\d{1,9}/m.test(diff);
  return isHunks ? [{ callId, diff, textAt: 0 }] : [];
}
