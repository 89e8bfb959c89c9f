/**
 * Result views: the diffs of the files that a patch changed, which Codex writes as an event of its
 * own, and where the output of a command begins, after lines about it.
 */

import type { Native } from "../dialect.ts";
import { get, getObject, getString, isObject } from "../fields.ts";
import { DIFF_CHARS_MAX, diffViews, type ResultView } from "../result-view.ts";

export function resultViews(row: Native): ResultView[] {
  const payload = getObject(row, "payload");
  if (get(row, "type") === "event_msg") {
    if (get(payload, "type") !== "patch_apply_end" || get(payload, "success") === false) return [];
    return diffViews(getString(payload, "call_id"), diffOf(getObject(payload, "changes")));
  }
  const [callId, output] = [getString(payload, "call_id"), getString(payload, "output")];
  const textAt = output === null ? 0 : (HEAD.exec(output)?.[0].length ?? 0);
  return callId === null || textAt === 0 ? [] : [{ callId, diff: null, textAt }];
}

/** Lines before a command's output. */
const HEAD =
  /^(?:(?:Exit code|Wall time|Chunk ID|Process |Original token|Total)[^\n]*\n)+Output:\n/;

/** One diff for all files; null if one of them is not known line by line. */
function diffOf(changes: Native): string | null {
  let text = "";
  for (const [file, change] of Object.entries(changes)) {
    const diff = isObject(change) ? getString(change, "unified_diff") : null;
    if (diff === null || text.length > DIFF_CHARS_MAX) return null;
    text += `*** Update File: ${file.replaceAll("\n", " ")}\n${diff.replace(/\n?$/, "\n")}`;
  }
  return text;
}
