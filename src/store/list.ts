/**
 * List: the sessions of a store, by way of the catalog: only logs that changed are read.
 *
 * How a thread stands, and which one began it, is in its thread.json, which changes without the log
 * where that was running, and is paused, or where it was missing, and is made again. So of such threads
 * it is asked each time; every other change comes with a line.
 *
 * LS1  While no log has changed and no thread is running or without a status, nothing that reads
 *      sessions is loaded.
 */

import { Catalog, type FreshenProgress } from "../catalog/catalog.ts";
import { eachLog, type Unreadable } from "../catalog/find.ts";
import {
  lineOf,
  type RowLine,
  rowOf,
  type SessionRow,
  type SessionSort,
} from "../catalog/session-row.ts";
import { dialectNamed } from "../dialects/all.ts";
import type { SessionStatus } from "../model/summary.ts";
import type { Summaries } from "./summaries.ts";

export interface SessionSummary extends SessionRow {
  readonly dialect: string;
  readonly root: string;
  /** The log file. */
  readonly path: string;
}

export interface ListOptions {
  /** How many of the logs that must be read have been. */
  readonly onProgress?: FreshenProgress;
  /** Stops the reading; the next listing goes on with what is left. */
  readonly signal?: AbortSignal;
}

export interface ListLinesOptions extends ListOptions {
  /** The order that the lines are to be put in. */
  readonly sort: SessionSort;
}

/** What listing needs of a store. */
export interface Listed {
  readonly dialect: string;
  readonly root: string;
  readonly catalogPath: string;
  /** What reads sessions; asked for once at most (LS1). */
  readonly summaries: () => Promise<Summaries>;
  readonly onWarning: (warning: string) => void;
}

/** A session's summary as text, with what it is put in order by. */
export interface SessionLine extends Pick<RowLine, "id" | "key"> {
  readonly line: RowLine;
  readonly place: Place;
  /** Its head is pinned and its log is gone (gone-sessions.ts). */
  readonly isMissing?: boolean;
}

/** What all sessions of a store have in common. */
interface Place {
  readonly dialect: string;
  readonly root: string;
  /** The JSON of both, and of a log's path up to where it goes on below the root. */
  readonly json: string;
}

/** All sessions of the store, in no order. */
export async function listSessions(
  listed: Listed,
  options: ListOptions,
): Promise<SessionSummary[]> {
  return (await listLines(listed, { ...options, sort: "id" })).map(summaryOf);
}

/** The same as lines, which take a fraction of the time. */
export async function listLines(
  listed: Listed,
  { sort, onProgress, signal }: ListLinesOptions,
): Promise<SessionLine[]> {
  const { dialect, root, catalogPath } = listed;
  let loading: Promise<Summaries> | null = null;
  const summaries = () => {
    loading ??= listed.summaries();
    return loading;
  };
  const catalog = await Catalog.open(catalogPath);
  try {
    const summarise = async (id: string) => (await summaries()).summarise(id);
    const options = { sort, onProgress, signal };
    const unreadable: Unreadable[] = [];
    const found = eachLog(root, dialectNamed(dialect).layout, {
      onUnreadable: (each) => unreadable.push(each),
    });
    const fresh = await catalog.freshenLines(dialect, root, found, summarise, options);
    const failures = new Map(fresh.failures.map(({ id, error }) => [id, error]));
    const place = placeOf(dialect, root);
    const sessions: SessionLine[] = [];
    for (const kept of fresh.lines) {
      let line = kept;
      if (mayStandOtherwise(dialect, kept.status) && !failures.has(kept.id)) {
        try {
          line = await askStanding(kept, await summaries(), sort);
        } catch (error) {
          failures.set(kept.id, error);
        }
      }
      sessions.push({ id: line.id, key: line.key, line, place });
    }
    if (unreadable.length > 0) listed.onWarning(unreadableWarning(unreadable));
    if (failures.size > 0) listed.onWarning(failuresWarning(failures, sessions.length));
    return sessions;
  } finally {
    catalog.close();
  }
}

function failuresWarning(failures: ReadonlyMap<string, unknown>, of: number): string {
  const [[id, error] = []] = failures;
  const what = `${failures.size} of ${of} sessions could not be read`;
  return `${what}; the first is ${id}: ${String(error)}`;
}

/** What a listing, which has no line for them, says of places that it could not look at. */
export function unreadableWarning(unreadable: readonly Unreadable[]): string {
  const places = unreadable.length === 1 ? "1 place" : `${unreadable.length} places`;
  const first = unreadable[0]?.cause.message;
  return `${places} could not be looked at, and what is there is left out; the first: ${first}`;
}

export function summaryOf({ line, place: { dialect, root } }: SessionLine): SessionSummary {
  const row = rowOf(line);
  return { ...row, dialect, root, path: `${root}/${row.logPath}` };
}

/**
 * The JSON of a summary but for its last brace, so that the caller can say more of the session.
 * Nothing is parsed or made anew: the texts that are known are put together.
 */
export function unclosedJson({ line, place }: SessionLine): string {
  return `${line.json.slice(0, -1)},${place.json}/${line.logPathJson.slice(1)}`;
}

export function placeOf(dialect: string, root: string): Place {
  const rootJson = JSON.stringify(root);
  const json = `"dialect":"${dialect}","root":${rootJson},"path":${rootJson.slice(0, -1)}`;
  return { dialect, root, json };
}

/** Whether a session's status may have changed although its log is the same. */
export function mayStandOtherwise(dialect: string, status: SessionStatus | null): boolean {
  return dialectNamed(dialect).hasStanding === true && (status === null || status === "running");
}

async function askStanding(
  line: RowLine,
  summaries: Summaries,
  sort: SessionSort,
): Promise<RowLine> {
  return lineOf({ ...rowOf(line), ...(await summaries.standing(line.id)) }, sort);
}
