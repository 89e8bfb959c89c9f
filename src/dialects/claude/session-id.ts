/**
 * Session ids: where the log of a session, or of one of its subagents, lies, and back.
 *
 *   project "-home-me-app", session "6f1c…", subpath "subagents/agent-7"
 *     <->  "-home-me-app/6f1c…/subagents/agent-7"
 *     <->  .verbatim/claude/-home-me-app/6f1c…/subagents/agent-7/transcript.jsonl
 *
 * C1  Every key that is well-formed Unicode and not too long has one id, and no two share one: what
 *     is no letter, digit, `_` or `-` is written as `%` and two hex digits for each byte of UTF-8.
 *     So `..`, `/`, NUL and all their like are names as others are, and leave no directory.
 * C2  A name of over 200 bytes goes on in the next directory: all its pieces but the last end in `~`.
 * C3  An id that this does not spell is refused, or somebody else's.
 */

import { VerbatimError } from "../../base/errors.ts";
import { ID_SEGMENT_BYTES_MAX } from "../../base/limits.ts";

/** Where sessions lie below the root. */
export const SESSIONS_PATH: readonly string[] = [".verbatim", "claude"];
export const LOG_NAME = "transcript.jsonl";
/** An id is that many directories at most: deeper ones would not be found. */
export const ID_SEGMENTS_MAX = 30;
/** And so long at most: paths have an end, too. */
export const ID_CHARS_MAX = 2000;

/** Whose transcript it is, in the words of Claude's Agent SDK. */
export interface SessionKey {
  readonly projectKey: string;
  readonly sessionId: string;
  /** Of a subagent; absent for the session itself. */
  readonly subpath?: string;
}

const PLAIN = /^[\w-]+$/;
/** What stands for a name of no characters. */
const EMPTY = "%";
const GOES_ON = "~";
const PIECE_CHARS = ID_SEGMENT_BYTES_MAX - GOES_ON.length;

/**
 * The id of a key; refuses with BAD_ID, which says what of it is wrong.
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

/** The key of an id; null when it is none. */
export function keyOf(id: string): SessionKey | null {
  if (id.length > ID_CHARS_MAX) return null;
  const names = namesIn(id.split("/"));
  const [projectKey, sessionId, ...rest] = names ?? [];
  if (projectKey === undefined || sessionId === undefined) return null;
  const key = {
    ...{ projectKey, sessionId },
    ...(rest.length === 0 ? {} : { subpath: rest.join("/") }),
  };
  return isSpelledBy(key, id) ? key : null;
}

export function logPath(id: string): readonly string[] {
  if (keyOf(id) === null)
    throw badId(id, "it is not <project>/<session>, spelled as they are here");
  return [...SESSIONS_PATH, ...id.split("/"), LOG_NAME];
}

export function idAt(path: readonly string[]): string | null {
  const depth = SESSIONS_PATH.length;
  if (SESSIONS_PATH.some((name, at) => path[at] !== name) || path.at(-1) !== LOG_NAME) return null;
  const id = path.slice(depth, -1).join("/");
  return keyOf(id) === null ? null : id;
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

/** C1, C2 */
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

/** The names that segments spell, each whole; null when they spell none. */
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
    return null; // No spelling of ours.
  }
}

/** C3: there is one spelling of a key. */
function isSpelledBy(key: SessionKey, id: string): boolean {
  try {
    return sessionIdOf(key) === id;
  } catch {
    return false; // Too long, or a subpath without a name: no key.
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
