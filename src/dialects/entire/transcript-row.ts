/** Transcript row: whether a line is a row of a transcript, ours or Claude Code's. */

import { isOthersLine } from "../others.ts";
import { get, getString, isObject } from "../shared/fields.ts";
import { isRow } from "./decode.ts";

/** Claude Code's rows that name no session. */
const NAMELESS_TYPES = ["file-history-snapshot", "summary"];

/** Whether a line is a transcript row as Claude Code and the entire dialect write it. */
export function isTranscriptRow(value: unknown): boolean {
  if (!isObject(value) || isOthersLine(value)) return false;
  const type = getString(value, "type");
  if (type === null) return false;
  return isRow(value) || typeof get(value, "uuid") === "string" || NAMELESS_TYPES.includes(type);
}
