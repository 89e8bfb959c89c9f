/**
 * Session ids: maps a session or subagent to the path of its log, and back.
 *
 *     project "-home-me-app", session "6f1c…", subpath "subagents/agent-7"
 *     <->  "-home-me-app/6f1c…/subagents/agent-7"
 *     <->  .verbatim/claude/-home-me-app/6f1c…/subagents/agent-7/transcript.jsonl
 *
 * Every key of well-formed Unicode within the length limit has one id, and no two keys share
 * one. Characters other than letters, digits, `_` and `-` become `%` and two hex digits per UTF-8
 * byte. So `..`, `/` and NUL are ordinary names and cannot leave the directory.
 *
 * A name over 200 bytes continues in the next directory: all its pieces but the last end in
 * `~`.
 *
 * An id that is not in this spelling is refused, or belongs to another program.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { ID_SEGMENT_BYTES_MAX } from "../../core/base/limits.ts";

/** Where sessions are, below the root. */
export const SESSIONS_PATH: readonly string[] = [".verbatim", "claude"];
export const LOG_NAME = "transcript.jsonl";
/** Maximum directories in an id: deeper ones would not be found. */
export const ID_SEGMENTS_MAX = 30;
/** Maximum id length, because paths are limited. */
export const ID_CHARS_MAX = 2000;

/** Key of a transcript, as Claude's Agent SDK names it. */
export interface SessionKey {
  readonly projectKey: string;
  readonly sessionId: string;
  /** The subagent; absent for the session itself. */
  readonly subpath?: string;
}

const PLAIN = /^[\w-]+$/;
/** Spelling of an empty name. */
const EMPTY = "%";
const GOES_ON = "~";
const PIECE_CHARS = ID_SEGMENT_BYTES_MAX - GOES_ON.length;

/**
 * The id of a key. Throws BAD_ID, which says what is wrong.
 *
 * @example sessionIdOf({ projectKey: "app", sessionId: "s", subpath: "a/.." }) // "app/s/a/%2E%2E"
 */
export function sessionIdOf({ projectKey, sessionId, subpath }: SessionKey): string {
  if (subpath === "") throw badId(subpath, "subpath: it is empty; leave it out for the session");
  const names = [named("projectKey", projectKey), named("sessionId", sessionId)];
  if (subpath !== undefined) names.push(...named("subpath", subpath).split("/"));
  const segments = names.flatMap(segmentsOf);
  const id = segments.join("/");
  const fault = sizeFault(segments, id);
  if (fault !== null) throw badId(id.slice(0, ID_SEGMENT_BYTES_MAX), fault);
  return id;
}

/** The key of an id; null if the id is not valid. */
export function parseSessionKey(id: string): SessionKey | null {
  if (id.length > ID_CHARS_MAX) return null;
  const names = namesIn(id.split("/"));
  const [projectKey, sessionId, ...rest] = names ?? [];
  if (projectKey === undefined || sessionId === undefined) return null;
  const key = {
    projectKey,
    sessionId,
    ...(rest.length === 0 ? {} : { subpath: rest.join("/") }),
  };
  return isSpelledBy(key, id) ? key : null;
}

export function logPath(id: string): readonly string[] {
  if (parseSessionKey(id) === null)
    throw badId(id, "it is not <project>/<session>, spelled as they are here");
  return [...SESSIONS_PATH, ...id.split("/"), LOG_NAME];
}

export function idAt(path: readonly string[]): string | null {
  const depth = SESSIONS_PATH.length;
  if (SESSIONS_PATH.some((name, at) => path[at] !== name) || path.at(-1) !== LOG_NAME) return null;
  const id = path.slice(depth, -1).join("/");
  return parseSessionKey(id) === null ? null : id;
}

/** The directory of a project, or of a session, below the root. */
export function directoryOf(...names: readonly string[]): readonly string[] {
  return [...SESSIONS_PATH, ...names.flatMap(segmentsOf)];
}

function named(field: string, name: unknown): string {
  if (typeof name !== "string") throw badId(String(name), `${field}: it is no text`);
  if (name.isWellFormed()) return name;
  throw badId(name.toWellFormed(), `${field}: it is not well-formed Unicode`);
}

/** The path segments that spell a name. */
function segmentsOf(name: string): string[] {
  if (name === "") return [EMPTY];
  let rest = PLAIN.test(name) ? name : encoded(name);
  const segments: string[] = [];
  while (rest.length > ID_SEGMENT_BYTES_MAX) {
    segments.push(rest.slice(0, PIECE_CHARS) + GOES_ON);
    rest = rest.slice(PIECE_CHARS);
  }
  return [...segments, rest];
}

function encoded(name: string): string {
  return encodeURIComponent(name).replace(/[.!~*'()]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

/** The names that the segments spell; null if the spelling is wrong. */
function namesIn(segments: readonly string[]): string[] | null {
  const names: string[] = [];
  let open = "";
  for (const segment of segments) {
    if (segment.endsWith(GOES_ON)) open += segment.slice(0, -GOES_ON.length);
    else {
      const name = decoded(open + segment);
      if (name === null) return null;
      names.push(name);
      open = "";
    }
  }
  return open === "" ? names : null;
}

function decoded(text: string): string | null {
  if (text === EMPTY) return "";
  if (PLAIN.test(text)) return text;
  try {
    return text === "" ? null : decodeURIComponent(text);
  } catch {
    return null; // Not our spelling.
  }
}

/** A key has one spelling. */
function isSpelledBy(key: SessionKey, id: string): boolean {
  try {
    return sessionIdOf(key) === id;
  } catch {
    return false; // Too long, or an empty subpath.
  }
}

function sizeFault(segments: readonly string[], id: string): string | null {
  if (segments.length > ID_SEGMENTS_MAX) return `it is over ${ID_SEGMENTS_MAX} directories deep`;
  return id.length > ID_CHARS_MAX ? `it is over ${ID_CHARS_MAX} characters long` : null;
}

function badId(id: string, reason: string): VerbatimError<"BAD_ID"> {
  return new VerbatimError("BAD_ID", `the id ${JSON.stringify(id)} is refused: ${reason}`, {
    id,
    reason,
  });
}
