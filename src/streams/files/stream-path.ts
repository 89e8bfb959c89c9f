/**
 * Stream paths: which are allowed, and the file name of each.
 *
 * `/chat/session-1` is stored in `chat__session-1.jsonl`. Format: docs/formats/streams.md, "Names".
 *
 * - Names are one-to-one: two legal paths never share a file. `__` always means a slash; an
 *   underscore next to a slash or another underscore becomes `%5F`.
 * - `~` in a name is reserved: `~2` marks the second incarnation of a path, `~~` and a hash the
 *   name of a path that is too long. In a path it becomes `%7E`.
 * - A name has at most NAME_BYTES_MAX bytes, contains no `/` and does not begin with a dot.
 */

import { createHash } from "node:crypto";
import { assert, badStreamPath } from "../../core/base/errors.ts";
import { STREAM_PATH_BYTES_MAX } from "../../core/base/limits.ts";

/** The first segment that the protocol reserves, for subscriptions and the like. */
export const RESERVED_SEGMENT = "__ds";

/** The limit of all supported file systems (ext4, xfs, btrfs, tmpfs, APFS). */
const NAME_BYTES_MAX = 255;

/** `~` with the largest incarnation, the longer of the two endings, and the suffix of a sidecar. */
const ENDING_BYTES = 1 + 16 + ".jsonl.checkpoints.torn-9999".length;

/** The readable beginning of a name that is too long. */
const READABLE_BYTES = 128;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const REFUSED = /[:\\<>|"?]/;

/** A URL object, as `fetch` uses it, turns `/a/./b` into `/a/b`: another stream. */
const DOT_SEGMENT = /\/\.(?:\/|$)/;

/** Characters that are escaped. The first alternative: underscores that could be read as `/`. */
const ESCAPED = /(?<=[/_])_|_(?=[/_])|[%~]/g;

/** Throws BAD_STREAM_PATH unless a stream may have this path. */
export function checkStreamPath(path: string): void {
  refuseFor(path, faultOf(path) ?? (DOT_SEGMENT.test(path) ? "a segment of it is ." : null));
}

function refuseFor(path: string, reason: string | null): void {
  if (reason !== null) throw badStreamPath(path, reason);
}

/** The file of a JSON stream: `/chat/session-1` -> `chat__session-1.jsonl`. */
export function streamPathToFilename(path: string): string {
  return logFileName(path, 0, true);
}

/**
 * The file with the bytes of the path's `incarnation`: 0 the first, then 1, 2 … A path with a
 * segment `.` has one too: older versions allowed such streams.
 */
export function logFileName(path: string, incarnation: number, isJson: boolean): string {
  refuseFor(path, faultOf(path));
  assert(Number.isSafeInteger(incarnation) && incarnation >= 0, "incarnations count from 0");
  const again = incarnation === 0 ? "" : `~${incarnation}`;
  return `${spelled(path)}${again}${isJson ? ".jsonl" : ".bin"}`;
}

function faultOf(path: string): string | null {
  if (typeof path !== "string") return "it is not text";
  if (!path.startsWith("/")) return "it does not begin with /";
  if (path === "/") return "it names no stream";
  if (!path.isWellFormed()) return "it is not well-formed Unicode";
  if (CONTROL.test(path)) return "it contains a control character";
  const refused = REFUSED.exec(path);
  if (refused !== null) return `it holds ${refused[0]}`;
  if (path.includes("..")) return "it holds ..";
  if (path === `/${RESERVED_SEGMENT}` || path.startsWith(`/${RESERVED_SEGMENT}/`)) {
    return `/${RESERVED_SEGMENT} is reserved`;
  }
  if (Buffer.byteLength(path) > STREAM_PATH_BYTES_MAX) {
    return `it is longer than ${STREAM_PATH_BYTES_MAX} bytes`;
  }
  return null;
}

function spelled(path: string): string {
  // With the leading slash first: an underscore next to it is escaped too.
  const escaped = path.replace(ESCAPED, hexOf).slice(1).replace(/^\./, hexOf);
  const name = escaped.replaceAll("/", "__");
  if (Buffer.byteLength(name) + ENDING_BYTES <= NAME_BYTES_MAX) return name;
  const hash = createHash("sha256").update(path).digest("hex");
  return `${readableStart(name)}~~${hash}`;
}

/** As many complete characters as fit: a file system may refuse half of one. */
function readableStart(name: string): string {
  let start = "";
  let bytes = 0;
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > READABLE_BYTES) break;
    start += character;
  }
  return start;
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
