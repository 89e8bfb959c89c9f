/**
 * Path ids: the ids of sessions that another program names by files and directories.
 *
 *     projects/-home-me-app/6f1c….jsonl  <->  "-home-me-app/6f1c…"   (under ["projects"])
 *
 * An id is the path below `under` without the ending. Each file has one id and each id one file.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { idSegments } from "../../core/base/ids.ts";
import { ID_SEGMENT_BYTES_MAX } from "../../core/base/limits.ts";
import type { LevelLayout } from "../find.ts";

export interface PathIdsOptions {
  /** Where the program's sessions are, below the root. */
  readonly under: readonly string[];
  /** Directories below `under`, down to the log; null: any name. */
  readonly levels: readonly (string | null)[];
  /** The ending of a log's name, such as ".jsonl", that ids leave out; may be empty. */
  readonly ending: string;
  /** Which names without the ending are a session's. Default: all. */
  readonly isName?: (name: string) => boolean;
}

export interface PathIds {
  logPath(id: string): readonly string[];
  idAt(path: readonly string[]): string | null;
  readonly layout: LevelLayout;
}

/** Segments of letters, digits, `_`, `-` and `.` that do not begin with a dot: most ids. */
const PLAIN = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/** The id; null if no session can have it. Fast for plain ids: listings check each. */
export function idIfValid(id: string): string | null {
  if (id.length <= ID_SEGMENT_BYTES_MAX && PLAIN.test(id) && !id.includes("..")) return id;
  try {
    idSegments(id);
    return id;
  } catch {
    return null;
  }
}

/** Whether a text can be the name of one file or directory. */
export function isSegment(text: string): boolean {
  return !text.includes("/") && idIfValid(text) !== null;
}

/** The last segment of an id: with many programs, their own id of the session. */
export function lastSegment(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

export function refusedId(id: string, reason: string): VerbatimError<"BAD_ID"> {
  const text = `the id ${JSON.stringify(id)} is refused: ${reason}`;
  return new VerbatimError("BAD_ID", text, { id, reason });
}

export function pathIds({ under, levels, ending, isName = () => true }: PathIdsOptions): PathIds {
  const above = [...under, ...levels];
  const prefix = [...under, ""].join("/");
  const stemOf = (name: string) => name.slice(0, name.length - ending.length);
  const isLog = (name: string) => name.endsWith(ending) && isName(stemOf(name));
  const logPath = (id: string) => {
    const segments = idSegments(id);
    return [...under, ...segments.slice(0, -1), `${segments.at(-1)}${ending}`];
  };
  const idAt = (path: readonly string[]) => {
    if (path.length !== above.length + 1 || !isLog(path.at(-1) ?? "")) return null;
    // A loop: listings call it for each log, and a callback for each segment would double its time.
    for (let at = 0; at < above.length; at++) {
      if (above[at] !== null && above[at] !== path[at]) return null;
    }
    return idIfValid(stemOf(path.join("/").slice(prefix.length)));
  };
  return { logPath, idAt, layout: { under, levels, isLog, idAt } };
}

export interface DirectoryIdsOptions extends Pick<PathIdsOptions, "under" | "levels"> {
  /** Directories between a session's own and its log, which ids leave out. */
  readonly inside?: readonly string[];
  readonly logName: string;
}

/** The same for programs whose sessions are directories, each with a log of one name. */
export function directoryIds(options: DirectoryIdsOptions): PathIds {
  const { under, levels, inside = [], logName } = options;
  const below = pathIds({ under, levels: [...levels, ...inside], ending: "" });
  const cut = [...inside, logName].length;
  const isLog = (name: string) => name === logName;
  const idAt = (path: readonly string[]) => {
    const isSessions = isLog(path.at(-1) ?? "") && below.idAt(path) !== null;
    return isSessions ? path.slice(under.length, -cut).join("/") : null;
  };
  return {
    logPath: (id) => below.logPath([id, ...inside, logName].join("/")),
    idAt,
    layout: { ...below.layout, isLog, idAt },
  };
}

/** Sessions in several places: the first that has the path, or the shape of the id, decides. */
export function eitherPathIds(all: readonly PathIds[], whose: (id: string) => PathIds): PathIds {
  const idAt = (path: readonly string[]) => {
    for (const each of all) {
      const id = each.idAt(path);
      if (id !== null) return id;
    }
    return null;
  };
  const [first] = all;
  if (first === undefined) throw new TypeError("there is at least one place");
  const others = all.slice(1).map(({ layout }) => layout);
  return {
    logPath: (id) => whose(id).logPath(id),
    idAt,
    layout: { ...first.layout, idAt, others },
  };
}
