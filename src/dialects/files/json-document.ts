/**
 * JSON document: a small file that another program keeps, or a session that it keeps as one
 * document, safely read.
 *
 * - No link is followed below the root, and only a regular file is read, up to a limit.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, ioError, unsafePath, VerbatimError } from "../../core/base/errors.ts";
import { parseExactly } from "../../core/base/exact-numbers.ts";
import { compactJson } from "../../core/base/print-json.ts";
import { get, isObject, type JsonObject, withoutKeys } from "../shared/fields.ts";
import type { ConvertedLog } from "./converted-host.ts";
import { isMovedDirectory } from "./moved-directories.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The bytes of a file below a root. Refuses links, what is not a regular file, and long files. */
export function bytesBelow(root: string, path: readonly string[], bytesMax: number): Buffer {
  const file = join(root, ...path);
  for (let depth = 1; depth < path.length; depth++) {
    const directory = join(root, ...path.slice(0, depth));
    if (lstatSync(directory).isDirectory() || isMovedDirectory(directory)) continue;
    throw unsafePath(directory, root);
  }
  let descriptor: number;
  try {
    descriptor = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (cause) {
    const isLink = errnoOf(cause) === "ELOOP";
    throw isLink ? unsafePath(file, root, cause) : ioError(file, "opening", cause);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw unsafePath(file, root);
    if (stats.size > bytesMax) throw tooLarge(file, stats.size, bytesMax);
    const bytes = Buffer.alloc(stats.size); // No more, even if the file grows meanwhile.
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } catch (cause) {
    throw ioError(file, "reading", cause);
  } finally {
    closeSync(descriptor);
  }
}

function tooLarge(path: string, bytes: number, bytesMax: number): VerbatimError<"IO_ERROR"> {
  const text = `${path} is not read: it has ${bytes} bytes, and the limit is ${bytesMax}`;
  return new VerbatimError("IO_ERROR", text, { path, operation: "reading", errno: "EFBIG" });
}

/** The text of a file below a root; null if it is missing, not regular, too large or not UTF-8. */
export function textBelow(
  root: string,
  path: readonly string[],
  bytesMax = SMALL_BYTES_MAX,
): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytesBelow(root, path, bytesMax));
  } catch {
    return null; // Not readable: reading the session reports it, if it is the session's.
  }
}

/** The same, parsed; undefined if it is not JSON. */
export function jsonBelow(
  root: string,
  path: readonly string[],
  bytesMax = SMALL_BYTES_MAX,
): unknown {
  try {
    return parseExactly(textBelow(root, path, bytesMax) ?? "");
  } catch {
    return undefined;
  }
}

/** The same of an object; an empty one if it is none. */
export function objectBelow(root: string, path: readonly string[]): JsonObject {
  const value = jsonBelow(root, path);
  return isObject(value) ? value : {};
}

/** Files with facts about sessions. */
const SMALL_BYTES_MAX = 2 ** 20;
/** Sessions that are one document. Longer ones are read as plain text, which is not a session. */
const DOCUMENT_BYTES_MAX = 2 ** 27;

/**
 * A session that is one document with a list of messages, as a log: the first line is the document
 * without them, then each message is one. Null if the file is not a JSON object.
 */
export function convertedDocument(
  root: string,
  path: readonly string[],
  messages: string,
): ConvertedLog | null {
  const document = jsonBelow(root, path, DOCUMENT_BYTES_MAX);
  if (!isObject(document)) return null;
  const list = get(document, messages);
  const lines = Array.isArray(list) ? [withoutKeys(document, [messages]), ...list] : [document];
  return { bytes: linesOf(lines), source: join(root, ...path) };
}

/** Lines of a log: one compact JSON text for each value. */
function linesOf(values: readonly unknown[]): Uint8Array {
  const texts = values.map((value) => `${compactJson(value)}\n`);
  return new TextEncoder().encode(texts.join(""));
}
