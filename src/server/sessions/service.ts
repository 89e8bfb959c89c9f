/**
 * Session service: the state of the sessions API: stores, catalog, readers. It writes only the
 * catalog, which can be rebuilt, and recorded hooks that wait to be added to their sessions.
 *
 * - A log is read completely only to summarise or verify it, and only a few at a time.
 * - A summary that is older than its log is marked (`isCurrent`).
 * - A signed session that is gone is listed as missing.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { searchPathNextTo, catalogPath as userCatalogPath } from "../../core/base/node-paths.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { iterateLogs, type Unreadable } from "../../dialects/find.ts";
import type { FoundLog, SessionRow } from "../../dialects/session-row.ts";
import { VerdictCache } from "../../evidence/verify/verdict-cache.ts";
import { streamBelow } from "../../guard/remote/session-paths.ts";
import { Catalog } from "../../sessions/catalog/catalog.ts";
import {
  forgetRows,
  freshenInSlices,
  keepRow,
  lookAtLog,
  readRow,
} from "../../sessions/catalog/pages.ts";
import { bareRow, isFresh } from "../../sessions/catalog/table.ts";
import { AtWork } from "../../sessions/list/at-work.ts";
import { goneSessions } from "../../sessions/list/gone-sessions.ts";
import { isAbsence, SessionWindow } from "../../sessions/list/session-window.ts";
import { WaitingHooks } from "../../sessions/list/waiting-hooks.ts";
import { CurrentNotes } from "../../sessions/notes/notes-file.ts";
import { Outlines } from "../../sessions/outline/outlines.ts";
import { mayStandOtherwise } from "../../sessions/store/list.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store } from "../../sessions/store/store.ts";
import { AnswerRoom } from "../http/answer.ts";
import { Semaphore } from "../http/semaphore.ts";
import type { ReceivedSessions } from "../received/received-sessions.ts";
import { LiveReaders } from "../streams/live-readers.ts";
import { LiveUsage } from "../usage/live-usage.ts";
import { CatalogCosts } from "./catalog-costs.ts";
import {
  type RootChoice,
  type Sees,
  type ServedStore,
  SessionRoots,
  servedStoresOf,
  sessionNotFound,
} from "./roots.ts";
import { SearchService } from "./search-service.ts";
import type { SessionLimits } from "./session-limits.ts";

export interface SessionServiceOptions {
  readonly host: Host;
  readonly roots: RootChoice;
  /** Additional directories to serve, at this moment. */
  readonly moreRoots?: () => readonly string[];
  readonly received?: ReceivedSessions | undefined;
  /** The names of the tokens that may send below a path. */
  readonly sendersBelow?: (path: string) => readonly string[];
  readonly cwd: string;
  readonly limits: SessionLimits;
  readonly nowMs: () => number;
  readonly onFault: (what: string, cause: unknown) => void;
  /** The index of sessions. Default: the user's. */
  readonly catalogPath?: string;
}

/** An existing session that a URL names. */
export interface ServedSession {
  readonly store: ServedStore;
  readonly session: Session;
}

/** A session whose head is pinned and whose log is gone. */
export interface MissingSession {
  readonly store: ServedStore;
  readonly row: SessionRow;
}

export interface KnownSession {
  readonly row: SessionRow;
  /** The row describes the current log. */
  readonly isCurrent: boolean;
}

const TOLD_MAX = 1_000;

export class SessionService {
  readonly roots: SessionRoots;
  readonly limits: SessionLimits;
  readonly host: Host;
  readonly nowMs: () => number;
  /** Limit concurrent reads of logs, and of whole logs. */
  readonly reads: Semaphore;
  readonly wholeReads: Semaphore;
  readonly followers: LiveReaders;
  readonly room: AnswerRoom;
  /** Queries over all sessions. */
  readonly search: SearchService;
  /** What all sessions used. */
  readonly usage: LiveUsage;
  readonly hooks: WaitingHooks;
  readonly outlines: Outlines;
  readonly verdicts: VerdictCache;
  readonly costs: CatalogCosts;
  /** The user's own; read again when another process changes them. */
  readonly notes: CurrentNotes;
  readonly #atWork: AtWork;
  readonly #options: SessionServiceOptions;
  readonly #stopping = new AbortController();
  #catalog: Promise<Catalog> | null = null;
  #freshening: Promise<boolean> | null = null;
  #freshUntilMs = 0;
  #missing: Promise<readonly MissingSession[]> | null = null;
  #missingUntilMs = 0;
  #unreadable = 0;
  /** Reported faults: the fault of a session is reported once. */
  readonly #told = new Set<string>();

  readonly sendersBelow: (path: string) => readonly string[];

  constructor(options: SessionServiceOptions) {
    const { host, roots, cwd, limits, nowMs } = options;
    this.#options = options;
    this.host = host;
    this.limits = limits;
    this.sendersBelow = options.sendersBelow ?? (() => []);
    this.nowMs = nowMs;
    this.roots = new SessionRoots(roots, cwd, {
      more: options.moreRoots,
      received: () => options.received?.stores() ?? [],
    });
    this.reads = new Semaphore(limits.readersMax, limits.waitingMax);
    this.wholeReads = new Semaphore(limits.wholeReadersMax, limits.waitingMax);
    this.followers = new LiveReaders(limits.followersMax, () => true);
    this.room = new AnswerRoom(limits.answersBytesMax);
    const { outlinesMax, outlineWaitMs: waitMs } = limits;
    const run: Semaphore["run"] = (work) => this.reads.run(work);
    this.outlines = new Outlines({ host, outlinesMax, waitMs, run });
    const stores = () => this.roots.stores();
    this.hooks = new WaitingHooks({ host, stores, onFault: options.onFault });
    this.#atWork = new AtWork(host, nowMs);
    const { onFault } = options;
    const catalog = () => this.catalog();
    const judge: Semaphore["run"] = (work) => this.wholeReads.run(work);
    this.verdicts = new VerdictCache({ host, catalog, stores, run: judge, nowMs, onFault });
    const refresh = async () => (await options.received?.refresh()) ?? true;
    this.search = new SearchService({
      refresh,
      path: searchPathNextTo(options.catalogPath ?? userCatalogPath()),
      host,
      stores,
      limits,
      nowMs,
      onUnreadable: (id, cause) => this.#tell(id, cause),
      onFault: options.onFault,
    });
    this.usage = new LiveUsage({
      refresh,
      host,
      cwd,
      stores,
      limits,
      nowMs,
      isOfUser: () => {
        const more = [...(options.moreRoots?.() ?? []), ...(options.received?.stores() ?? [])];
        return roots === "found" && more.length === 0;
      },
      onUnreadable: (id, cause) => this.#tell(id, cause),
    });
    this.notes = new CurrentNotes((cause) => onFault("reading notes", cause));
    this.costs = new CatalogCosts({ usage: this.usage, catalog, nowMs, onFault });
  }

  /** The session that a URL names; throws SESSION_NOT_FOUND. */
  async open(urlId: string, sees: Sees): Promise<ServedSession> {
    await this.listReceived();
    const { store, id } = this.roots.resolve(urlId, sees);
    try {
      const stream = streamOfSession(store, id);
      if (stream !== null) await this.#options.received?.refresh(stream);
      const served = { store, session: await this.#store(store).open(id) };
      const isSeen =
        sees.project === null || (await this.known(served)).row.project === sees.project;
      if (isSeen) return served;
    } catch (cause) {
      if (!isAbsence(cause)) throw cause;
    }
    throw sessionNotFound();
  }

  /** Stores of received sessions are known as soon as these are sent; with a shared store, now. */
  async listReceived(): Promise<void> {
    await this.#options.received?.list();
  }

  /** Keeps the copy of a received session as long as its stream, until the result is called. */
  follow({ store, session }: ServedSession): () => void {
    const stream = session.id === null ? null : streamOfSession(store, session.id);
    return (stream !== null && this.#options.received?.follow(stream)) || (() => {});
  }

  /** Sessions whose head is pinned and whose log is gone. */
  missing(): Promise<readonly MissingSession[]> {
    if (this.#missing === null || this.nowMs() >= this.#missingUntilMs) {
      this.#missingUntilMs = this.nowMs() + this.limits.freshMs;
      this.#missing = goneSessions(this.host, this.roots.wheres).then((gone) => {
        return gone.flatMap(({ store, row }) =>
          servedStoresOf(store).map((each) => ({ store: each, row })),
        );
      });
    }
    return this.#missing;
  }

  /** The summary of a session; current if that needs no long reading. */
  async known({ store, session }: ServedSession): Promise<KnownSession> {
    const { dialect, root } = store;
    const { id, logId } = session;
    const now = lookAtLog(root, logId, dialectNamed(dialect).naming.layout);
    if (now === null) throw sessionNotFound();
    const catalog = await this.catalog().catch(() => null); // Else read each time.
    const kept = catalog && (await readRow(catalog, dialect, root, id));
    const log = { id, path: logId, ...now };
    const isCurrent = kept !== null && isFresh(kept, now);
    if (kept && (isCurrent || this.#isLeft(log))) {
      return { row: { ...(await this.#standing(store, kept)), ...now }, isCurrent };
    }
    const { children = [], ...summary } = await this.wholeReads.run(() => {
      return this.#store(store).summaries().summarise(id);
    });
    const row = { ...bareRow(log), ...summary };
    if (!catalog) return { row, isCurrent: true };
    return {
      row: await keepRow(catalog, dialect, root, { ...row, children }),
      isCurrent: true,
    };
  }

  /** A row of a page with its current state; null when its log is gone. */
  async refreshed(store: ServedStore, row: SessionRow): Promise<KnownSession | null> {
    const now = lookAtLog(store.root, row.logPath, dialectNamed(store.dialect).naming.layout);
    if (now === null) return null;
    return { row: { ...(await this.#standing(store, row)), ...now }, isCurrent: isFresh(row, now) };
  }

  /** The row with the parts that can change without the log. */
  async #standing(store: ServedStore, row: SessionRow): Promise<SessionRow> {
    if (!mayStandOtherwise(store.dialect, row.status)) return row;
    try {
      return { ...row, ...(await this.#store(store).summaries().standing(row.id)) };
    } catch {
      return row; // A file next to the log cannot be read: keep the last known state.
    }
  }

  /** Whether a writer is at work on the session of an up-to-date row. */
  isLive(store: ServedStore, row: SessionRow): Promise<boolean> {
    return this.#atWork.isLive(store, row.logPath, row);
  }

  /** Where a session's log ends, and what follows the end. */
  async ends({ session }: ServedSession) {
    const window = await SessionWindow.open(this.host, session);
    window.close();
    const { end, tornBytes, unfinishedBytes } = window.log;
    return { end, tornBytes, unfinishedBytes };
  }

  async forget({ dialect, root }: ServedStore, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await forgetRows(await this.catalog(), dialect, root, ids);
  }

  /** Throws CATALOG_UNAVAILABLE: without a catalog, every page would read every log. */
  async catalog(): Promise<Catalog> {
    this.#catalog ??= Catalog.open(this.#options.catalogPath ?? userCatalogPath());
    const catalog = await this.#catalog;
    if (catalog.problem === null) return catalog;
    this.#catalog = null; // The next request tries again.
    const { path, problem } = catalog;
    throw new VerbatimError(
      "CATALOG_UNAVAILABLE",
      `sessions cannot be listed: the catalog at ${path} cannot be opened (${problem}); ` +
        "free some space or set XDG_CACHE_HOME to another directory",
      { path, problem },
    );
  }

  /**
   * Scans for new and changed sessions, and waits a little. Returns whether all are known: a first
   * scan of many sessions continues in the background.
   */
  async freshen(): Promise<boolean> {
    if (this.#freshening === null && this.nowMs() < this.#freshUntilMs) return true;
    this.#freshening ??= this.#freshenAll();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, this.limits.listWaitMs, false);
    });
    try {
      return await Promise.race([this.#freshening, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether no session is waiting for its first reading. */
  get isSettled(): boolean {
    return this.#freshening === null;
  }

  /** Sessions of the last scan that cannot be read; they are not listed. */
  get unreadable(): number {
    return this.#unreadable;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    this.outlines.close();
    await this.#freshening;
    await this.search.close();
    await this.usage.close();
    await this.verdicts.close();
    await this.costs.close();
    await this.hooks.close();
    const catalog = await this.#catalog;
    catalog?.close();
  }

  /** Whether the scan finished. */
  async #freshenAll(): Promise<boolean> {
    const { signal } = this.#stopping;
    try {
      const catalog = await this.catalog();
      const isListed = (await this.#options.received?.refresh()) ?? true;
      this.#unreadable = 0;
      await this.hooks.drain();
      for (const store of this.roots.stores()) {
        if (!signal.aborted) await this.#freshenStore(catalog, store);
      }
      return isListed && !signal.aborted;
    } catch (cause) {
      this.#options.onFault("looking for sessions", cause);
      return false;
    } finally {
      this.#freshUntilMs = this.nowMs() + this.limits.freshMs;
      this.#freshening = null;
    }
  }

  #freshenStore(catalog: Catalog, store: ServedStore): Promise<void> {
    const { dialect, root } = store;
    const summaries = this.#store(store).summaries();
    const onUnreadable = ({ id, path, cause }: Unreadable) => {
      this.#unreadable++;
      if (!isAbsence(cause)) this.#tell(id ?? path, cause); // Else a link: not a fault.
    };
    const found = iterateLogs(root, dialectNamed(dialect).naming.layout, { onUnreadable });
    return freshenInSlices(catalog, dialect, root, found, {
      summarise: (id) => summaries.summarise(id),
      isLeft: (log) => this.#isLeft(log),
      onFailure: (id, cause) => {
        if (isAbsence(cause)) return; // Removed or replaced since the scan.
        this.#unreadable++;
        this.#tell(id, cause);
      },
      signal: this.#stopping.signal,
    });
  }

  #tell(id: string, cause: unknown): void {
    if (this.#told.has(id) || this.#told.size >= TOLD_MAX) return;
    this.#told.add(id);
    this.#options.onFault(`reading the session ${id}`, cause);
  }

  /** A long log that is still written would be read completely again and again. */
  #isLeft({ size, mtimeMs }: FoundLog): boolean {
    const { restingBytes, restMs } = this.limits;
    return size > restingBytes && this.nowMs() - mtimeMs < restMs;
  }

  #store({ dialect, root }: ServedStore): Store {
    return new Store(this.host, { dialect, root, onWarning: () => {} });
  }
}

/** The stream of a received session's log; null for others. */
function streamOfSession({ dialect, path }: ServedStore, id: string): string | null {
  if (path === undefined) return null;
  return streamBelow(path, dialectNamed(dialect).naming.logPath(id).join("/"));
}
