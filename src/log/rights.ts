/**
 * Rights: a log is private to its owner. One that others may read is made 0600 on opening to
 * append.
 */

import { errnoOf } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";

/** Removes permissions beyond 0600 and warns; warns, too, when that fails. */
export function narrowRights(
  file: OpenFile,
  path: string,
  onWarning: (warning: string) => void = processWarning,
): void {
  try {
    const before = file.narrow();
    if (before !== null) onWarning(`${path} had mode ${octal(before)}; changed to 0600`);
  } catch (cause) {
    const why = errnoOf(cause);
    onWarning(`others may read ${path}, and its mode cannot be changed (${why}); make it 0600`);
  }
}

function octal(mode: number): string {
  return `0${mode.toString(8).padStart(3, "0")}`;
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}
