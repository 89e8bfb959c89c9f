/**
 * Result views: the diff that pi records next to the result of an edit.
 *
 *     - 12 removed        its number in the old file
 *     + 12 added          in the new one
 *       13 kept           in the old one
 *          ...            lines that are left out
 */

import type { Native } from "../dialect.ts";
import { getObject, getString } from "../fields.ts";
import { DIFF_CHARS_MAX, diffViews, type ResultView } from "../result-view.ts";

const LINE = /^([-+ ]) *(\d{1,9}) (.*)$/;

export function resultViews(row: Native): ResultView[] {
  const message = getObject(row, "message");
  const diff = getString(getObject(message, "details"), "diff");
  if (diff === null || diff.length > DIFF_CHARS_MAX) return [];
  return diffViews(getString(message, "toolCallId"), unified(diff));
}

/** As hunks. Older versions number kept lines before the first change wrongly: changes count. */
function unified(diff: string): string | null {
  const hunks: string[] = [];
  let more = 0; // Lines that the new file has more than the old one, so far.
  for (const part of diff.split(/^ *\.\.\.$/m)) {
    const lines = part.replace(/^\n|\n$/g, "").split("\n");
    if (lines.length === 1 && lines[0] === "") continue;
    const read = lines.map((line) => LINE.exec(line)?.slice(1) ?? null);
    const first = read.findIndex((line) => line !== null && line[0] !== " ");
    const [sign, number] = read[first] ?? [];
    if (number === undefined || read.includes(null)) return null;
    const now = Number(number) - first + (sign === "-" ? more : 0);
    const count = (other: string) => read.filter((line) => line?.[0] !== other).length;
    const head = `@@ -${now - more},${count("+")} +${now},${count("-")} @@`;
    hunks.push([head, ...read.map((line) => `${line?.[0]}${line?.[2]}`)].join("\n"));
    more += count("-") - count("+");
  }
  return hunks.join("\n");
}
