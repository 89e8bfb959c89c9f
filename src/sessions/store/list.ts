/**
 * List: the sessions of a store, through the catalog: only logs that changed are read.
 *
 * In some dialects a session's status and parent are in a file next to the log (`standingOf`). That
 * file can change without the log when a running session is paused, or when a missing file is
 * written again. So it is read each time for sessions that are running or without a status; every
 * other change comes with a line.
 *
 * LS1  While no log has changed and no such session is running or without a status, the code that
 *      reads sessions is not loaded.
 */

import type { SessionStatus } from "../../core/model/summary.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { iterateLogs, type Unreadable } from "../../dialects/find.ts";
import { parseRow, type RowLine, rowLineOf, type SessionSort } from "../../dialects/session-row.ts";
import { Catalog, type Summarise } from "../catalog/catalog.ts";
import type { ListOptions, SessionSummary } from "./store-api.ts";
import type { Summaries } from "./summaries.ts";

export interface ListLinesOptions extends ListOptions {
  /** The sort order that the lines will be put in. */
  readonly sort: SessionSort;
}

export interface ListedStore {
  readonly dialect: string;
  readonly root: string;
  readonly catalogPath: string;
  /** Reads sessions; called at most once (LS1). */
  readonly summaries: () => Promise<Summaries>;
  readonly onWarning: (warning: string) => void;
}

/** A session's summary as JSON text, with its sort key. */
export interface SessionLine extends Pick<RowLine, "id" | "key"> {
  readonly line: RowLine;
  readonly place: Place;
  /** Its head is pinned but its log is gone (gone-sessions.ts). */
  readonly isMissing?: boolean;
}

/** What all sessions of a store have in common. */
interface Place {
  readonly dialect: string;
  readonly root: string;
  /** The JSON of both, and of a log's path up to the part below the root. */
  readonly json: string;
}

/** All sessions of the store, unordered. */
export async function listSessions(
  listed: ListedStore,
  options: ListOptions,
): Promise<SessionSummary[]> {
  return (await listLines(listed, { ...options, sort: "id" })).map(summaryOf);
}

/** The same as JSON lines, which take a fraction of the time. */
export async function listLines(
  listed: ListedStore,
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
    const summarise: Summarise = async (...request) => (await summaries()).summarise(...request);
    const options = { sort, onProgress, signal };
    const unreadable: Unreadable[] = [];
    const logs = iterateLogs(root, dialectNamed(dialect).naming.layout, {
      onUnreadable: (each) => unreadable.push(each),
    });
    const fresh = await catalog.freshen(dialect, root, logs, summarise, options);
    const failures = new Map(fresh.failures.map(({ id, error }) => [id, error]));
    const place = rowPlaceOf(dialect, root);
    const sessions: SessionLine[] = [];
    for (const row of fresh.lines) {
      let line = row;
      if (mayStandOtherwise(dialect, row.status) && !failures.has(row.id)) {
        try {
          line = await askStanding(row, await summaries(), sort);
        } catch (error) {
          failures.set(row.id, error);
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
  return `${what}; the first is ${id}: ${error instanceof Error ? error.message : String(error)}`;
}

/** The warning about directories and files that a listing could not read. */
export function unreadableWarning(unreadable: readonly Unreadable[]): string {
  const places = unreadable.length === 1 ? "1 place" : `${unreadable.length} places`;
  const first = unreadable[0]?.cause.message;
  return `${places} could not be looked at, and what is there is left out; the first: ${first}`;
}

export function summaryOf({ line, place: { dialect, root } }: SessionLine): SessionSummary {
  const row = parseRow(line);
  return { ...row, dialect, root, path: `${root}/${row.logPath}` };
}

/**
 * The JSON of a summary without its last brace, so that the caller can add fields. Nothing is
 * parsed or serialised again: stored texts are concatenated.
 */
export function unclosedJson({ line, place }: SessionLine): string {
  return `${line.json.slice(0, -1)},${place.json}/${line.logPathJson.slice(1)}`;
}

export function rowPlaceOf(dialect: string, root: string): Place {
  const rootJson = JSON.stringify(root);
  const json = `"dialect":"${dialect}","root":${rootJson},"path":${rootJson.slice(0, -1)}`;
  return { dialect, root, json };
}

/** Whether a session's status may have changed although its log is unchanged. */
export function mayStandOtherwise(dialect: string, status: SessionStatus | null): boolean {
  return (
    dialectNamed(dialect).files?.hasStanding === true && (status === null || status === "running")
  );
}

async function askStanding(
  line: RowLine,
  summaries: Summaries,
  sort: SessionSort,
): Promise<RowLine> {
  return rowLineOf({ ...parseRow(line), ...(await summaries.standing(line.id)) }, sort);
}
