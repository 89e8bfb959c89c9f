/**
 * JSON: what a line's bytes mean, and the bytes of the lines we serialise ourselves.
 *
 * J1  A line is UTF-8 JSON or it is bad, and the reason is said. Bytes that are not UTF-8
 *     are never patched up with replacement characters and passed on as if they were read.
 */

import { isUtf8 } from "node:buffer";
import { type LineFault, VerbatimError } from "../base/errors.ts";
import { NUL } from "./bytes.ts";

export type Decoded =
  | { readonly value: unknown; readonly fault: null }
  | { readonly value: undefined; readonly fault: LineFault };

const DEL = 0x7f;
const REPLACEMENT = "\ufffd";
/** What JSON.stringify leaves bare although terminals and script tags choke on it. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029]/g;

/** Decodes the line `[from, to)` of `bytes`, LF not included. Never throws. */
export function decodeLine(bytes: Buffer, from: number, to: number): Decoded {
  const text = bytes.toString("utf8", from, to);
  // A replacement character is either in the file as such or stands for broken bytes. Looking
  // for one costs nothing in the usual, ASCII case; only then are the bytes judged.
  const line = () => bytes.subarray(from, to);
  const isBroken = text.includes(REPLACEMENT) && !isUtf8(line());
  if (!isBroken) {
    try {
      return { value: JSON.parse(text), fault: null };
    } catch {
      // Which fault it is follows.
    }
  }
  if (/^[ \t\r]*$/.test(text)) return bad("blank");
  if (line().includes(NUL)) return bad("holds NUL");
  return bad(isBroken ? "not UTF-8" : "not JSON");
}

/**
 * The line of a value: compact JSON, safe to print, without the LF that `append` adds.
 *
 * @example await log.append(encodeLine({ role: "user", content: "hello" }));
 */
export function encodeLine(value: unknown): Uint8Array {
  const json = jsonOf(value);
  const line = Buffer.from(json, "utf8");
  // As many bytes as characters: all ASCII, of which JSON leaves only DEL bare.
  if (line.length === json.length && !line.includes(DEL)) return line;
  return Buffer.from(json.replace(UNPRINTABLE, escaped), "utf8");
}

/** A value that has no JSON (undefined, a function, a BigInt, one that holds itself) is refused. */
function jsonOf(value: unknown): string {
  let cause: unknown;
  try {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) return json;
  } catch (error) {
    cause = error;
  }
  const details = { field: "(the whole)", reason: "it has no JSON" };
  const message = "the value has no JSON, so it cannot be a line; nothing was written";
  throw new VerbatimError("INVALID_ENTRY", message, details, { cause });
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function bad(fault: LineFault): Decoded {
  return { value: undefined, fault };
}
