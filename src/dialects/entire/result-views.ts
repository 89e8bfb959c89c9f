/** Result views: the patch that Claude Code records next to the result of an edit. */

import type { Native } from "../../core/model/entry.ts";
import { DIFF_CHARS_MAX, diffViews, type ResultView } from "../result-view.ts";
import {
  get,
  getCount,
  getList,
  getObject,
  getObjects,
  getString,
  isObject,
} from "../shared/fields.ts";

export function resultViews(row: Native): ResultView[] {
  const hunks = getObjects(getObject(row, "toolUseResult"), "structuredPatch");
  if (hunks.length === 0) return [];
  // `toolUseResult` is about the row's one result.
  const results = getList(getObject(row, "message"), "content").filter((block) => {
    return isObject(block) && get(block, "type") === "tool_result";
  });
  const [result] = results;
  if (results.length !== 1 || !isObject(result)) return [];
  let diff = "";
  for (const hunk of hunks) {
    const [old, now] = [getCount(hunk, "oldStart"), getCount(hunk, "newStart")];
    const lines = getList(hunk, "lines");
    const isText = lines.every((line) => typeof line === "string" && !line.includes("\n"));
    if (old === null || now === null || !isText || diff.length > DIFF_CHARS_MAX) return [];
    const count = (other: string) => lines.filter((line) => !String(line).startsWith(other)).length;
    diff += `@@ -${old},${count("+")} +${now},${count("-")} @@\n${lines.join("\n")}\n`;
  }
  return diffViews(getString(result, "tool_use_id"), diff);
}
