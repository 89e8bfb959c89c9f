/**
 * JSON files: the sessions of OpenCode before it used a database, below `storage`.
 *
 *     session/<project>/<session>.json
 *     message/<session>/<message>.json
 *     part/<message>/<part>.json          part/<part>.json in between, which names its message
 *
 * Files are rewritten in place. A session's size and time are those of its own file and of the
 * files of its last message, where OpenCode works.
 */

import { join } from "node:path";
import { readUserFile } from "../../../base/node-user-files.ts";
import type { FoundLog } from "../../../catalog/session-row.ts";
import { getNumber, getObject, getString, has, type JsonObject } from "../../fields.ts";
import { statOf } from "../../files/guard-store.ts";
import {
  checkBytes,
  linesOf,
  namesOrNone,
  objectIn,
  SESSION_BYTES_MAX,
} from "../../files/row-lines.ts";
import { isSegment } from "../../path-ids.ts";
import { idAt, nameOf } from "../session-id.ts";

const SESSIONS = "storage/session";
const ENDING = ".json";

/** The paths of all sessions below the data directory. */
export function* sessionFiles(root: string): Generator<string> {
  for (const project of namesOrNone(join(root, SESSIONS))) {
    const directory = `${SESSIONS}/${project}`;
    if (!statOf(join(root, directory))?.isDirectory()) continue;
    for (const name of namesOrNone(join(root, directory))) {
      if (idAt([...directory.split("/"), name]) !== null) yield `${directory}/${name}`;
    }
  }
}

/** Null if it is gone. */
export function lookAtFile(root: string, path: string): FoundLog | null {
  const id = idAt(path.split("/"));
  const file = statOf(join(root, path));
  if (id === null || !file?.isFile()) return null;
  let { size, mtimeMs } = file;
  const directory = messagesOf(root, nameOf(id), nameOf(id).replace(/^ses_/, ""));
  const messages = directory === null ? [] : namesOrNone(directory).filter(isJson);
  size += messages.length;
  const last = messages.at(-1);
  if (directory !== null && last !== undefined) {
    const parts = join(root, "storage/part", last.slice(0, -ENDING.length));
    const looked = [join(directory, last), ...namesOrNone(parts).map((name) => join(parts, name))];
    for (const each of [directory, ...looked]) {
      const stats = statOf(each);
      mtimeMs = Math.max(mtimeMs, stats?.mtimeMs ?? 0);
      if (stats?.isFile()) size += stats.size;
    }
  }
  return { id, path, size, mtimeMs };
}

/** How many messages a session has. */
export function countMessages(root: string, session: string): number {
  const directory = messagesOf(root, session, session);
  return directory === null ? 0 : namesOrNone(directory).filter(isJson).length;
}

export function linesOfFiles(root: string, path: string, place: string): Buffer | null {
  const session = objectAt(join(root, path));
  if (session === null) return null;
  const named = nameOf(idAt(path.split("/")) ?? "");
  return linesOf(
    linesFrom(root, session, messagesOf(root, getString(session, "id"), named), place),
  );
}

function* linesFrom(
  root: string,
  session: JsonObject,
  directory: string | null,
  place: string,
): Generator<JsonObject> {
  yield { type: "session", place, info: session };
  const messages = (directory === null ? [] : namesOrNone(directory).filter(isJson)).map((name) => {
    const info = objectAt(join(directory ?? "", name)) ?? {};
    const id = getString(info, "id") ?? name.slice(0, -ENDING.length);
    return { id, info: has(info, "id") ? info : { id, ...info }, time: timeOf(info) };
  });
  messages.sort((a, b) => a.time - b.time); // Stable: else by name.
  const loose = looseParts(join(root, "storage/part"));
  let bytes = 0;
  for (const { id, info } of messages) {
    const own = isSegment(id) ? join(root, "storage/part", id) : null;
    const found = own === null ? [] : namesOrNone(own).filter(isJson);
    const parts = found.map((name) => {
      const path = join(own ?? "", name);
      bytes += statOf(path)?.size ?? 0;
      checkBytes(path, bytes);
      return objectAt(path) ?? {};
    });
    parts.push(...loose.filter((part) => getString(part, "messageID") === id));
    yield { type: "message", place, info, parts };
  }
}

function looseParts(directory: string): JsonObject[] {
  const files = namesOrNone(directory).filter(isJson);
  return files.map((name) => objectAt(join(directory, name)) ?? {});
}

/** The directory of a session's messages, by the id in its file, else by the file's name. */
function messagesOf(root: string, ...ids: readonly (string | null)[]): string | null {
  for (const id of ids) {
    if (id === null || !isSegment(id)) continue;
    const directory = join(root, "storage/message", id);
    if (statOf(directory)?.isDirectory()) return directory;
  }
  return null;
}

/** Null if there is no file. One that is no JSON, or not to be read, is kept as what it is. */
function objectAt(path: string): JsonObject | null {
  const file = readUserFile(path, { bytesMax: SESSION_BYTES_MAX, access: "anyone" });
  if (file === null) return null;
  return file.fault === null ? objectIn(file.text) : { fault: file.fault };
}

function timeOf(info: JsonObject): number {
  return getNumber(getObject(info, "time"), "created") ?? 0;
}

function isJson(name: string): boolean {
  return name.endsWith(ENDING);
}
