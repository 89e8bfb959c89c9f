/**
 * JSON: parses lines, and encodes the lines that we serialise ourselves.
 *
 * - A line is UTF-8 JSON, or it is bad and the reason is reported. Bytes that are not UTF-8 are
 *   never replaced with replacement characters and passed on.
 * - An integer that a double cannot represent is read as a string of its digits (parseExactly).
 */

import { isUtf8 } from "node:buffer";
import { type LineFault, VerbatimError } from "../base/errors.ts";
import { parseExactly } from "../base/exact-numbers.ts";
import { NUL } from "./bytes.ts";

export type DecodedLine =
  | { readonly value: unknown; readonly fault: null }
  | { readonly value: undefined; readonly fault: LineFault };

const DEL = 0x7f;
const REPLACEMENT = "\ufffd";
/** Characters that JSON.stringify leaves bare although they break terminals and script tags. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029]/g;

/** Decodes the line `[from, to)` of `bytes`, LF not included. Never throws. */
export function decodeLine(bytes: Buffer, from: number, to: number): DecodedLine {
  const text = bytes.toString("utf8", from, to);
  // A replacement character is either in the file or replaces broken bytes. Searching for one
  // costs nothing for ASCII; only when found are the bytes checked.
  const line = () => bytes.subarray(from, to);
  const isBroken = text.includes(REPLACEMENT) && !isUtf8(line());
  if (!isBroken) {
    try {
      return { value: parseExactly(text), fault: null };
    } catch {
      // The reason is found below.
    }
  }
  if (/^[ \t\r]*$/.test(text)) return bad("blank");
  if (line().includes(NUL)) return bad("holds NUL");
  return bad(isBroken ? "not UTF-8" : "not JSON");
}

/**
 * Compact JSON of a value, safe to print, without the LF that `append` adds.
 *
 * @example await log.append(encodeLine({ role: "user", content: "hello" }));
 */
export function encodeLine(value: unknown): Uint8Array {
  const json = jsonOf(value);
  const line = Buffer.from(json, "utf8");
  // As many bytes as characters means ASCII, of which JSON leaves only DEL bare.
  if (line.length === json.length && !line.includes(DEL)) return line;
  return Buffer.from(json.replace(UNPRINTABLE, escaped), "utf8");
}

/** Refuses a value without JSON: undefined, a function, a BigInt, a cycle. */
function jsonOf(value: unknown): string {
  let cause: unknown;
  try {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) return json;
  } catch (error) {
    cause = error;
  }
  const details = { field: "(the whole)", reason: "it cannot be written as JSON" };
  const message =
    "the value cannot be written as JSON (such as a BigInt or a cycle); nothing was written";
  throw new VerbatimError("INVALID_ENTRY", message, details, { cause });
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function bad(fault: LineFault): DecodedLine {
  return { value: undefined, fault };
}
