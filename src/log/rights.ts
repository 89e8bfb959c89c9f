/** Rights: a log is its owner's alone. One that others may read is narrowed when it is opened to append. */

import { errnoOf } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";

/** Takes away what is more than 0600 and says so; says so, too, where that is not possible. */
export function narrowRights(
  file: OpenFile,
  path: string,
  onWarning: (warning: string) => void = processWarning,
): void {
  try {
    const before = file.narrow();
    if (before !== null) onWarning(`${path} had the rights ${octal(before)}; it is 0600 now`);
  } catch (cause) {
    const why = errnoOf(cause);
    onWarning(`others may read ${path}, and its rights cannot be narrowed (${why}); make it 0600`);
  }
}

function octal(mode: number): string {
  return `0${mode.toString(8).padStart(3, "0")}`;
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}
