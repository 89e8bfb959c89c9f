/** Row lines: rows of a database, or small JSON files, as the lines of a converted log. */

import { VerbatimError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../fields.ts";

/** A session with more text than this is not read: it is converted in memory. */
export const SESSION_BYTES_MAX = 2 ** 28;

/** A column or file with JSON; with `data`, its text, if it is no JSON object. */
export function objectIn(text: string | null): JsonObject {
  try {
    const value: unknown = JSON.parse(text ?? "");
    if (isObject(value)) return value;
  } catch {
    // Kept as text.
  }
  return { data: text };
}

/** Whole lines, each with its LF. A value that is nested too deep to be written is left as text. */
export function linesOf(values: Iterable<JsonObject>): Buffer {
  const lines: Buffer[] = [];
  for (const value of values) lines.push(Buffer.from(`${jsonOf(value)}\n`));
  return Buffer.concat(lines);
}

function jsonOf(value: JsonObject): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify({ type: value.type, fault: "nested too deep" });
  }
}

/** Refuses a session that is too long to be converted. */
export function checkBytes(path: string, bytes: number): void {
  if (bytes <= SESSION_BYTES_MAX) return;
  const text = `${path} has ${bytes} bytes; sessions over ${SESSION_BYTES_MAX} bytes are not read`;
  throw new VerbatimError("IO_ERROR", text, { path, operation: "reading", errno: "EFBIG" });
}

/** Later times are not real, and too large for the catalog. */
const TIME_MAX_MS = 8_000_000_000_000;

/** A time in a database, as the time of a log. */
export function timeOf(value: unknown): number {
  return typeof value === "number" && value > 0 ? Math.min(value, TIME_MAX_MS) : 0;
}
