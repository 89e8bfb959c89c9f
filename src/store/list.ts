/**
 * List: the sessions of a store, by way of the catalog: only logs that changed are read.
 *
 * A running thread is paused after its last line, which its log does not show. So of threads that
 * were running thread.json is asked each time; every other change of status comes with a line.
 *
 * LS1  While no log has changed and no thread is running, nothing that reads sessions is loaded.
 */

import { Catalog, type FreshenProgress } from "../catalog/catalog.ts";
import { eachLog } from "../catalog/find.ts";
import {
  lineOf,
  type RowLine,
  rowOf,
  type SessionRow,
  type SessionSort,
} from "../catalog/session-row.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { LAYOUTS } from "./layouts.ts";
import type { Summaries } from "./summaries.ts";

export interface SessionSummary extends SessionRow {
  readonly dialect: DialectName;
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
  readonly dialect: DialectName;
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
}

/** What all sessions of a store have in common. */
interface Place {
  readonly dialect: DialectName;
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
    const found = eachLog(root, LAYOUTS[dialect]);
    const fresh = await catalog.freshenLines(dialect, root, found, summarise, options);
    const { lines, failures } = fresh;
    const [failure] = failures;
    if (failure) {
      const what = `${failures.length} of ${lines.length} sessions could not be read`;
      listed.onWarning(`${what}; the first is ${failure.id}: ${String(failure.error)}`);
    }
    const place = placeOf(dialect, root);
    const sessions: SessionLine[] = [];
    for (const kept of lines) {
      const isRunning = kept.status === "running";
      const line = isRunning ? await askStatus(kept, await summaries(), sort) : kept;
      sessions.push({ id: line.id, key: line.key, line, place });
    }
    return sessions;
  } finally {
    catalog.close();
  }
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

function placeOf(dialect: DialectName, root: string): Place {
  const rootJson = JSON.stringify(root);
  const json = `"dialect":"${dialect}","root":${rootJson},"path":${rootJson.slice(0, -1)}`;
  return { dialect, root, json };
}

async function askStatus(line: RowLine, summaries: Summaries, sort: SessionSort): Promise<RowLine> {
  return lineOf({ ...rowOf(line), status: await summaries.status(line.id) }, sort);
}
