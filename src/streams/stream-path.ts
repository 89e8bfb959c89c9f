/**
 * Stream paths: which there may be, and the name of the file that holds one's bytes.
 *
 * `/chat/session-1` is kept in `chat__session-1.jsonl`. Format: docs/formats/streams.md, "Names".
 *
 * N1  Names are one-to-one: two legal paths never share a file. `__` is only ever a slash; an
 *     underscore that stands beside a slash or another underscore is spelled `%5F`.
 * N2  `~` in a name is ours: `~2` marks the second incarnation of a path, `~~` and a hash the name
 *     of a path that is too long to be spelled. In a path it is spelled `%7E`.
 * N3  A name is at most NAME_BYTES_MAX bytes, holds no `/` and does not begin with a dot.
 */

import { createHash } from "node:crypto";
import { assert, badStreamPath } from "../base/errors.ts";
import { STREAM_PATH_BYTES_MAX } from "../base/limits.ts";

/** The first segment that is the protocol's own: subscriptions and the like. */
export const RESERVED_SEGMENT = "__ds";

/** What every file system of ours takes (ext4, xfs, btrfs, tmpfs, APFS). */
const NAME_BYTES_MAX = 255;

/** `~` with the largest incarnation, the longer of the two endings, and what may stand beside. */
const ENDING_BYTES = 1 + 16 + ".jsonl.checkpoints.torn-9999".length;

/** How a name that is too long begins, so that a person can tell it from others. */
const READABLE_BYTES = 128;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const REFUSED = /[:\\<>|"?]/;

/** Whoever sends `/a/./b` by way of a URL object, as `fetch` does, sends `/a/b`: another stream. */
const DOT_SEGMENT = /\/\.(?:\/|$)/;

/** What is not spelled as itself. The first alternative is underscores that could read as `/`. */
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
 * The file that holds the bytes of the path's `incarnation`: 0 the first, then 1, 2 … A path with a
 * segment `.` has one, too: a store may hold a stream of that name, from before it was refused.
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
  if (CONTROL.test(path)) return "it holds a control character";
  const refused = REFUSED.exec(path);
  if (refused !== null) return `it holds ${refused[0]}`;
  if (path.includes("..")) return "it holds ..";
  if (path === `/${RESERVED_SEGMENT}` || path.startsWith(`/${RESERVED_SEGMENT}/`)) {
    return `/${RESERVED_SEGMENT} is reserved`;
  }
  if (Buffer.byteLength(path) > STREAM_PATH_BYTES_MAX) {
    return `it is over ${STREAM_PATH_BYTES_MAX} bytes`;
  }
  return null;
}

function spelled(path: string): string {
  // With the leading slash at first: an underscore beside it is escaped too.
  const escaped = path.replace(ESCAPED, hexOf).slice(1).replace(/^\./, hexOf);
  const name = escaped.replaceAll("/", "__");
  if (Buffer.byteLength(name) + ENDING_BYTES <= NAME_BYTES_MAX) return name;
  const hash = createHash("sha256").update(path).digest("hex");
  return `${readableStart(name)}~~${hash}`;
}

/** As many whole characters as fit: a file system may refuse half of one. */
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
