/**
 * List: the sessions of a store, by way of the catalog: only logs that changed are read.
 *
 * A running thread is paused after its last line, which its log does not show. So of threads that
 * were running thread.json is asked each time; every other change of status comes with a line.
 */

import type { Host } from "../base/host.ts";
import { Catalog, type FreshenProgress } from "../catalog/catalog.ts";
import { findLogs } from "../catalog/find.ts";
import type { SessionRow } from "../catalog/session-row.ts";
import { type SessionStatus, type Summary, SummaryFold } from "../catalog/summary.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { LAYOUTS } from "./layouts.ts";
import type { Session } from "./session.ts";
import { readStoredMeta } from "./thread-files.ts";

export interface SessionSummary extends SessionRow {
  readonly dialect: DialectName;
  readonly root: string;
  /** The log file. */
  readonly path: string;
}

export interface ListOptions {
  /** How many of the logs that must be read have been. */
  readonly onProgress?: FreshenProgress;
}

/** What listing needs of a store. */
export interface Listed {
  readonly host: Host;
  readonly dialect: DialectName;
  readonly root: string;
  readonly catalogPath: string;
  readonly open: (id: string) => Session;
  readonly onWarning: (warning: string) => void;
}

/** All sessions of the store, in no order. */
export async function listSessions(
  listed: Listed,
  { onProgress }: ListOptions,
): Promise<SessionSummary[]> {
  const { dialect, root, catalogPath } = listed;
  const found = findLogs(root, LAYOUTS[dialect]);
  const catalog = await Catalog.open(catalogPath);
  try {
    const summarise = (id: string) => summariseSession(listed, id);
    const fresh = await catalog.freshen(dialect, root, found, summarise, onProgress);
    const { rows, failures } = fresh;
    const [failure] = failures;
    if (failure) {
      const what = `${failures.length} of ${rows.length} sessions could not be read`;
      listed.onWarning(`${what}; the first is ${failure.id}: ${String(failure.error)}`);
    }
    for (const row of rows) if (row.status === "running") await askStatus(listed, row);
    // Added to the rows themselves: ten thousand copies would show.
    for (const row of rows) {
      Object.assign(row, { dialect, root, path: `${root}/${row.logPath}` });
    }
    return rows as SessionSummary[];
  } finally {
    catalog.close();
  }
}

async function summariseSession(listed: Listed, id: string): Promise<Summary> {
  const session = listed.open(id);
  const fold = new SummaryFold();
  let agent: string | null = null;
  try {
    for await (const entry of session.entries({ onBadLine: () => fold.addBadLine() })) {
      fold.add(entry);
      if (typeof entry.native.directive === "string") agent ??= entry.native.directive;
    }
  } finally {
    await session.release();
  }
  return fold.summary({
    agent: await agentOf(listed, id, agent),
    status: await statusOf(listed, id),
  });
}

/**
 * HomeAgent: the first half of the id. rye: what the events, else thread.json, else the id say.
 * entire: nothing says it.
 */
async function agentOf(listed: Listed, id: string, said: string | null): Promise<string | null> {
  if (listed.dialect === "entire") return null;
  if (listed.dialect === "homeagent") return id.slice(0, id.indexOf("/"));
  if (said !== null) return said;
  const meta = await readStoredMeta(listed.host, listed.root, id);
  return meta?.directive || id.replace(/-\d+$/, "");
}

async function askStatus(listed: Listed, row: SessionRow): Promise<void> {
  Object.assign(row, { status: await statusOf(listed, row.id) });
}

/** How a thread stands that has not ended, as thread.json has it. */
async function statusOf(listed: Listed, id: string): Promise<SessionStatus | null> {
  if (listed.dialect !== "rye") return null;
  const status = (await readStoredMeta(listed.host, listed.root, id))?.status;
  return status === "running" || status === "paused" ? status : null;
}
