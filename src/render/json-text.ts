/**
 * JSON text: values from a log as JSON, for people and pipes.
 *
 * JT1  Nothing here recurses: a line of 16 MiB can be nested eight million deep, and JSON.stringify
 *      fails at some thousands.
 * JT2  Indenting is bounded: a text that would be longer than `charsMax` is printed compactly.
 */

import { compactJson, type JsonStyle, printJson } from "../base/print-json.ts";

const INDENTED: JsonStyle = { indent: "  ", string: JSON.stringify, number: JSON.stringify };
/** Indenting a deep line of 16 MiB would take gigabytes. */
export const INDENTED_CHARS_MAX = 32 * 1024 * 1024;

/** Compact JSON of a parsed value. */
export function jsonText(value: unknown): string {
  return compactJson(value); // JT1
}

/** JSON with two spaces of indent, as long as that fits. */
export function indentedJson(value: unknown, charsMax: number = INDENTED_CHARS_MAX): string {
  return printJson(value, INDENTED, charsMax) ?? jsonText(value);
}
