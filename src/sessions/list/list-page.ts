/**
 * List page: one page of the sessions of the stores that a user means, brought up to date first.
 * For the command line and MCP. A server has other work to do, and reads its pages from the catalog
 * (server/sessions/list.ts).
 *
 * Runs for each `verbatim ls`, so it loads little: code that reads sessions is loaded only if one
 * has to be read (sessions/store/list.ts, LS1).
 */

import type { Host } from "../../core/base/host.ts";
import { catalogPath, notesPath } from "../../core/base/node-paths.ts";
import { parseRow, rowLineOf, type SessionSort, sortLines } from "../../dialects/session-row.ts";
import type { FreshenProgress } from "../catalog/catalog.ts";
import { isListed, type ListFilter, type Page, page } from "../catalog/page.ts";
import { listLines, rowPlaceOf, type SessionLine } from "../store/list.ts";
import { type FoundStore, statOf } from "./find-stores.ts";
import type { GoneSession } from "./gone-sessions.ts";
import { programSessions } from "./waiting-hooks.ts";
import { agentOf } from "./whose.ts";

export interface ListPageOptions {
  /** Default: this machine, loaded only if a session has to be read. */
  readonly host?: Host;
  readonly filter?: ListFilter;
  /** Leaves out others, after `onFound`. */
  readonly isShown?: (line: SessionLine) => boolean;
  /** Default: the last updated first. */
  readonly sort?: SessionSort;
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
  /** Sessions whose logs are missing. */
  readonly gone?: readonly GoneSession[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (dialect: string, ...progress: Parameters<FreshenProgress>) => void;
  /** Called with the sessions of each store, in the order in which their logs are found. */
  readonly onFound?: (lines: readonly SessionLine[]) => void;
  /** Leaves out records of hooks whose program has its own file of the session; called once. */
  readonly onRecords?: (ownRecords: ReadonlyMap<SessionLine, SessionLine>) => void;
  readonly onWarning: (warning: string) => void;
}

/** Null if the cursor is not one of ours. */
export async function listPage(
  stores: readonly FoundStore[],
  { filter = {}, sort = "updated", limit, cursor, gone = [], signal, ...tell }: ListPageOptions,
): Promise<Page<SessionLine> | null> {
  const sources: { store: { key: string }; rows: SessionLine[] }[] = [];
  const noted = await withNotes(sort, tell.onWarning);
  for (const { dialect, root } of stores) {
    const summaries = async () => {
      const host = tell.host ?? (await import("../../core/base/node-host.ts")).nodeHost;
      const { Store } = await import("../store/store.ts");
      return new Store(host, { dialect, root, onWarning: tell.onWarning }).summaries();
    };
    const onProgress: FreshenProgress = (...progress) => tell.onProgress?.(dialect, ...progress);
    const { onWarning } = tell;
    const listed = { dialect, root, catalogPath: catalogPath(), summaries, onWarning };
    const read = await listLines(listed, { sort, onProgress, ...(signal && { signal }) });
    const lines = read.map(noted);
    tell.onFound?.(lines);
    sources.push({ store: { key: dialect }, rows: sortLines(lines) });
  }
  for (const { store, row } of gone) {
    const line = rowLineOf(row, sort);
    const place = rowPlaceOf(store.dialect, store.root);
    const session = { id: line.id, key: line.key, line, place, isMissing: true };
    sources.push({ store: { key: store.dialect }, rows: [noted(session)] });
  }
  const records = tell.onRecords ? programSessions(sources.flatMap(({ rows }) => rows)) : new Map();
  tell.onRecords?.(records);
  const isAll = Object.values(filter).every((each) => !each);
  const take = (each: SessionLine) => {
    if (records.has(each) || tell.isShown?.(each) === false) return null;
    if (isAll) return each;
    const row = parseRow(each.line);
    return isListed(filter, row, agentOf({ ...row, ...each.place })) ? each : null;
  };
  return page(sources, { order: sort, limit, cursor, take });
}

/**
 * What puts the user's notes on a session: its own title and tags. The code is loaded only if there
 * are notes.
 */
export async function withNotes(
  sort: SessionSort,
  onWarning: (warning: string) => void,
): Promise<(session: SessionLine) => SessionLine> {
  if (statOf(notesPath()) === undefined) return (session) => session;
  const { CurrentNotes } = await import("../notes/notes-file.ts");
  const { book } = new CurrentNotes((cause) => {
    onWarning(cause instanceof Error ? cause.message : String(cause));
  });
  return (session) => {
    if (book.of(session.place, session.id) === null) return session;
    return { ...session, line: rowLineOf(book.row(session.place, parseRow(session.line)), sort) };
  };
}
