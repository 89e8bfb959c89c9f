/**
 * Spill: a line that is too long keeps its longest strings in files next to the log.
 *
 * A short marker replaces each string, so that other programs can still read the line. The line's
 * `spill` lists, for each string, its place and its file.
 *
 * - A file holds the string as its JSON token, in the bytes that the line would have held, lone
 *   surrogates included; `bytes` and `sha256` are of these bytes.
 * - Each line has its own files, and a line is written once: no file is ever written again.
 * - Where logs share a directory, a line states its file's name without the log's, which precedes
 *   it on the disk: no line can refer to the file of another log.
 * - Restoring returns exactly the original line, or nothing.
 */

import { ID_SEGMENT_BYTES_MAX } from "../../core/base/limits.ts";
import type { Native, Part } from "../../core/model/entry.ts";
import { refuseEntry } from "../../core/model/plain-json.ts";
import type { SpillFile, Spilling, SpillReference, SpillTools } from "../facets/writing.ts";
import { get, getNumber, getString, isObject, type JsonObject, withoutKeys } from "./fields.ts";

/** Maximum files of one line. More would mean many small strings, which is not a tool's output. */
export const SPILLS_MAX = 64;
/** Maximum file size; restoring holds the file in memory. */
export const SPILL_BYTES_MAX = 256 * 1024 * 1024;
/** Shorter strings are not worth a file. */
const STRING_CHARS_MIN = 4096;
const MIB = 1024 * 1024;

export interface SpillRules {
  /** The longest line that is written without spilling. */
  readonly lineBytesMax: number;
  /** How much longer a line may become after it was split. */
  readonly growthBytes: number;
  /** The field with the content; `writersKeys` are never moved. */
  readonly contentKey: string;
  readonly writersKeys: readonly string[];
  /** The beginning of the names of a line's files. No other line of the log has the same. */
  stemOf(native: Native, tools: SpillTools): string;
  /** Ending of the logs, if several share a directory. */
  readonly sharedEnding?: string;
}

/** Adds the string's place: a JSON pointer (RFC 6901) into the line. */
interface Reference extends SpillReference {
  readonly at: string;
}

interface SpillToken {
  readonly at: readonly string[];
  readonly token: Uint8Array;
}

export function spillingBy(rules: SpillRules): Spilling {
  const { lineBytesMax, sharedEnding } = rules;
  const fileName = (path: string, logName: string) => {
    return sharedEnding === undefined ? path : `${logName}.${path}`;
  };
  return {
    lineBytesMax,
    mark: ".spill",
    fileName,
    logNameIn: (name) => (sharedEnding === undefined ? null : logNameIn(name, sharedEnding)),
    split: (line, logName, tools) => split(line, rules, (path) => fileName(path, logName), tools),
    referencesOf: (value, logName) => {
      return referencesOf(value).map((each) => ({ ...each, name: fileName(each.path, logName) }));
    },
    restore,
  };
}

function logNameIn(name: string, ending: string): string | null {
  const logName = name.replace(/\.[\w-]+\.\d+\.spill$/, "");
  return logName !== name && logName.endsWith(ending) ? logName : null;
}

function split(
  line: Native,
  rules: SpillRules,
  fileName: (path: string) => string,
  tools: SpillTools,
): { native: Native; files: readonly SpillFile[] } {
  const { lineBytesMax, growthBytes, contentKey } = rules;
  const stem = rules.stemOf(line, tools);
  const files: SpillFile[] = [];
  const spill: Omit<Reference, "name">[] = [];
  let native: unknown = line;
  // The length is computed, not measured by encoding again: that would take seconds for long lines.
  let length = tools.encode(line).length + growthBytes + tools.encode({ spill }).length;
  for (const { at, token } of longestStrings(line, rules, tools)) {
    const bytes = token.length;
    if (bytes > SPILL_BYTES_MAX) refuseEntry(contentKey, "too long even for files of its own");
    const path = `${stem}.${files.length}.spill`;
    const reference = { path, bytes, sha256: tools.sha256(token), at: pointerOf(at) };
    const marker = markerOf(path, bytes);
    files.push({ name: fileName(path), bytes: token });
    spill.push(reference);
    native = replaced(native, at, marker);
    length += tools.encode(marker).length - bytes + tools.encode(reference).length + 1;
    if (length <= lineBytesMax) return { native: { ...(native as Native), spill }, files };
  }
  const limit = `over ${lineBytesMax / MIB} MiB`;
  return refuseEntry(contentKey, `${limit}, and that not for a few long strings`);
}

/** The text that replaces the string. */
function markerOf(name: string, bytes: number): string {
  return `[${bytes} bytes are kept in ${name}]`;
}

/** What takes the place of a string, as a whole. */
const MARKER = /^\[\d+ bytes are kept in ([\w-]+\.\d+\.spill)\]$/;

/** A part whose bytes are in a file next to the log names that file. */
export function besideLog(part: Part): Part {
  if (part.type !== "image" && part.type !== "file") return part;
  const { data = "", ...rest } = part;
  const path = data.length > 1000 ? undefined : MARKER.exec(data)?.[1];
  return path === undefined ? part : { ...rest, path };
}

/** The longest strings of a line, longest first, without those that the writer added. */
function longestStrings(
  line: Native,
  { contentKey, writersKeys }: SpillRules,
  { encode }: SpillTools,
): SpillToken[] {
  const strings: { at: readonly string[]; text: string }[] = [];
  const open: { at: readonly string[]; value: unknown }[] = [{ at: [], value: line }];
  for (let top = open.pop(); top; top = open.pop()) {
    const { at, value } = top;
    if (typeof value === "string") {
      if (value.length >= STRING_CHARS_MIN) strings.push({ at, text: value });
    } else if (typeof value === "object" && value !== null) {
      for (const [key, held] of Object.entries(value)) {
        const isWriters = at.length === 0 && key !== contentKey && writersKeys.includes(key);
        if (!isWriters) open.push({ at: [...at, key], value: held });
      }
    }
  }
  // Sort by characters first: encoding thousands of strings to find the longest few is slow.
  strings.sort((a, b) => b.text.length - a.text.length);
  const longest = strings
    .slice(0, 2 * SPILLS_MAX)
    .map(({ at, text }) => ({ at, token: encode(text) }));
  return longest.sort((a, b) => b.token.length - a.token.length).slice(0, SPILLS_MAX);
}

/** A copy with one value replaced; everything off the path is shared. */
function replaced(value: unknown, at: readonly string[], by: unknown): unknown {
  const [key, ...deeper] = at;
  if (key === undefined) return by;
  const held = (value as JsonObject)[key];
  const copy = Array.isArray(value) ? [...value] : { ...(value as JsonObject) };
  Object.defineProperty(copy, key, {
    configurable: true,
    enumerable: true,
    writable: true,
    value: replaced(held, deeper, by),
  });
  return copy;
}

function referencesOf(value: unknown): readonly Omit<Reference, "name">[] {
  const spill = isObject(value) ? get(value, "spill") : null;
  if (!Array.isArray(spill) || spill.length > SPILLS_MAX) return [];
  const references = spill.map(referenceOf);
  return references.every((reference) => reference !== null) ? references : [];
}

/** Null for another program's `spill`: no path is taken from it. */
function referenceOf(value: unknown): Omit<Reference, "name"> | null {
  if (!isObject(value)) return null;
  const [path, sha256, at] = ["path", "sha256", "at"].map((key) => getString(value, key));
  const bytes = getNumber(value, "bytes");
  if (!path || !sha256 || !at || bytes === null) return null;
  const isName = /^[\w-]+\.\d+\.spill$/.test(path) && path.length <= ID_SEGMENT_BYTES_MAX;
  const isCount = Number.isSafeInteger(bytes) && bytes >= 2 && bytes <= SPILL_BYTES_MAX;
  return isName && isCount && at.startsWith("/") ? { path, bytes, sha256, at } : null;
}

function restore(line: Native, contents: readonly Uint8Array[]): Native | null {
  let native: unknown = withoutKeys(line, ["spill"]);
  for (const [index, { at, path, bytes }] of referencesOf(line).entries()) {
    const text = stringOf(contents[index]);
    const place = segmentsOf(at);
    // Only where our marker is; otherwise the reference is not ours.
    if (text === null || valueAt(native, place) !== markerOf(path, bytes)) return null;
    native = replaced(native, place, text);
  }
  return native as Native;
}

function stringOf(token: Uint8Array | undefined): string | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(token));
    return typeof value === "string" ? value : null;
  } catch {
    return null; // Not what we wrote; the caller reports it.
  }
}

function valueAt(value: unknown, at: readonly string[]): unknown {
  let held = value;
  for (const key of at) {
    if (typeof held !== "object" || held === null || !Object.hasOwn(held, key)) return undefined;
    held = (held as JsonObject)[key];
  }
  return held;
}

function pointerOf(at: readonly string[]): string {
  return at.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function segmentsOf(pointer: string): string[] {
  const keys = pointer.split("/").slice(1);
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}
