/**
 * Store: a directory of sessions in one dialect, and the only way to write one.
 *
 * Joins the dialect (what lines look like), the log (how they are kept) and what stands beside
 * the log. How an id is won: session-ids.ts.
 */

import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { packageVersion } from "../base/node-package.ts";
import { catalogPath as defaultCatalogPath, homeagentRoot } from "../base/node-places.ts";
import { claude } from "../dialects/claude/dialect.ts";
import { hooksMayWait, hooksStillWait } from "../dialects/claude/files/hooks-waiting.ts";
import type { Dialect, DialectName } from "../dialects/dialect.ts";
import { entire } from "../dialects/entire/dialect.ts";
import { EntireBeside } from "../dialects/entire/files/session-beside.ts";
import type { Beside } from "../dialects/files/beside.ts";
import { homeagent } from "../dialects/homeagent/dialect.ts";
import { type Envelope, ryeDialect } from "../dialects/rye/dialect.ts";
import { readEnvelope } from "../dialects/rye/envelope.ts";
import { Registrar } from "../dialects/rye/files/registrar.ts";
import { RyeBeside } from "../dialects/rye/files/thread-beside.ts";
import { LOG_NAME, THREADS_PATH, threadSegments } from "../dialects/rye/thread-id.ts";
import { sdk } from "../dialects/sdk/dialect.ts";
import { verbatim } from "../dialects/verbatim/dialect.ts";
import { openPlace, openToRead } from "../log/place.ts";
import type { ForeignHead } from "../proof/checkpoint.ts";
import { type ListOptions, listSessions, type SessionSummary } from "./list.ts";
import { type OpenSigning, Session } from "./session.ts";
import { SessionIds, sessionExists } from "./session-ids.ts";
import type { SessionSigning } from "./session-signing.ts";
import {
  type BeginOptions,
  type CreateOptions,
  checkBeginOptions,
  checkOpening,
  checkStoreOptions,
  type StoreOptions,
} from "./store-options.ts";
import type { StoreSigning } from "./store-signing.ts";
import { hostOf, streams } from "./streams.ts";
import { Summaries } from "./summaries.ts";

export type { BeginOptions, CreateOptions, StoreOptions };

/** How long a reader waits for the lock of a session whose hooks wait. */
const DRAIN_WAIT_MS = 1000;
/** Dialects whose sessions are their logs, and nothing else. */
const HAS_NOTHING_BESIDE: readonly DialectName[] = [
  "verbatim",
  "homeagent",
  "claude",
  "sdk",
  "streams",
];

export class Store {
  readonly dialect: DialectName;
  readonly root: string;
  readonly #host: Host;
  readonly #options: StoreOptions;
  readonly #sessions = new Set<Session>();
  readonly #registrar: Registrar | null;
  readonly #ids: SessionIds;
  #signing: Promise<StoreSigning> | null = null;

  constructor(host: Host, options: StoreOptions = {}) {
    checkStoreOptions(options);
    this.#options = options;
    this.dialect = options.dialect ?? "verbatim";
    this.root = resolve(options.root ?? (this.dialect === "homeagent" ? homeagentRoot() : "."));
    this.#host = hostOf(host, this);
    this.#registrar = this.#openRegistrar();
    const { dialect, root } = this;
    this.#ids = new SessionIds(host, { dialect, root, pathOf: (id) => this.pathOf(id) });
  }

  get #onWarning(): (warning: string) => void {
    return this.#options.onWarning ?? processWarning;
  }

  /** Begins a session. Refuses with SESSION_EXISTS when the id that was asked for is taken. */
  async create(options: CreateOptions = {}): Promise<Session> {
    const session = await this.begin(options);
    await session.openToAppend();
    return session;
  }

  /** @internal As `create`, with the id won and nothing written yet (whole-session.ts). */
  async begin(options: BeginOptions): Promise<Session> {
    checkBeginOptions(options);
    const agent = options.agent ?? this.#options.agent ?? null;
    const id = options.id ?? (await this.#ids.winNew(agent, options.wait ?? false));
    if (options.id !== undefined && !(await this.#ids.win(id))) throw sessionExists(id);
    return this.session(id, agent, options.from ?? null);
  }

  /** @internal Where the log of a session lies, whether it is there or not. */
  pathOf(id: string): string {
    return join(this.root, ...this.#dialect().logPath(id));
  }

  /** @internal Unpins a session that was taken back; its files are gone. */
  async forget({ id, logId }: Session): Promise<void> {
    const { dialect, root } = this;
    const signing = await this.#signing;
    await signing?.forget({ dialect, root, logId, id }, this.#project ?? root);
  }

  /** A session that is there, to read or to continue. */
  async open(id: string, options: { readonly agent?: string } = {}): Promise<Session> {
    checkOpening(id, options);
    const agent = options.agent ?? this.#options.agent ?? null;
    if (await this.has(id)) return this.session(id, agent);
    throw new VerbatimError(
      "SESSION_NOT_FOUND",
      `there is no session ${id} in ${this.root}; list them, or create it`,
      { session: id },
    );
  }

  /** Whether the session is there. */
  async has(id: string): Promise<boolean> {
    checkOpening(id, {});
    await this.drainHooks();
    return this.hasLog(id);
  }

  /** @internal Whether its log is: for those who only look, and put nothing into it. */
  async hasLog(id: string): Promise<boolean> {
    checkOpening(id, {});
    const logId = this.#dialect().logPath(id).join("/");
    try {
      const place = await openPlace(this.#host, logId, { create: false, root: this.root });
      try {
        openToRead(place).close();
        return true;
      } finally {
        place.directory.close();
      }
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND") return false;
      throw cause;
    }
  }

  /** Every session of the store with what is known of it, in no order. */
  async list(options: ListOptions = {}): Promise<SessionSummary[]> {
    const { root, dialect } = this;
    const catalogPath = this.#options.catalogPath ?? defaultCatalogPath();
    const summaries = async () => this.summaries();
    const onWarning = this.#onWarning;
    await this.drainHooks();
    return listSessions({ root, dialect, catalogPath, summaries, onWarning }, options);
  }

  /** @internal What reads sessions for a listing. */
  summaries(): Summaries {
    const { root, dialect } = this;
    return new Summaries({ host: this.#host, dialect, root, open: (id) => this.session(id) });
  }

  /** Whether sessions are signed as they are appended to. */
  get isSigning(): boolean {
    return Boolean(this.#options.sign);
  }

  /**
   * A session by its id, whether it is there or not: the first append makes it. `isBrief`: it is not
   * waited for while another process holds its lock.
   */
  session(
    id: string,
    agent: string | null = this.#options.agent ?? null,
    from: ForeignHead | null = null,
    isBrief = false,
  ): Session {
    checkOpening(id, {});
    const { durability = "disk", mode = "exclusive" } = this.#options;
    const lockWaitMs = isBrief ? 0 : this.#options.lockWaitMs;
    const session: Session = new Session({
      host: this.#host,
      id,
      root: this.root,
      dialect: this.#dialect(),
      agent,
      newId: randomUUID,
      nowMs: Date.now,
      cwd: this.root,
      version: this.#options.version ?? packageVersion(),
      model: this.#options.model ?? null,
      logOptions: {
        ...{ durability, mode, onWarning: this.#onWarning },
        ...(lockWaitMs === undefined ? {} : { lockWaitMs }),
      },
      adopt: this.dialect === "rye" ? (first) => this.#ryeLike(first) : null,
      openBeside: HAS_NOTHING_BESIDE.includes(this.dialect)
        ? null
        : (session) => this.#beside(session),
      openSigning: this.#options.sign ? (...opening) => this.#openSigning(from, ...opening) : null,
      ...(this.dialect === "claude" ? { beforeReading: () => this.drainHooks() } : {}),
      onClosed: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }

  /**
   * @internal Puts recorded hooks that wait into their sessions, as far as their locks are free in time:
   * whoever reads them does so first. Says how many still wait (hook-spool.ts).
   */
  async drainHooks({ lockWaitMs = DRAIN_WAIT_MS }: { lockWaitMs?: number } = {}): Promise<number> {
    const { root } = this;
    if (this.dialect !== "claude" || !hooksMayWait(root)) return 0;
    const { drainSpool } = await import("../dialects/claude/files/drain-spool.ts");
    const onWarning = this.#onWarning;
    const { waiting, cause } = await drainSpool(root, async (id, lines, { sign, durability }) => {
      const options = { mode: "shared", durability, sign, lockWaitMs, onWarning } as const;
      const store = new Store(this.#host, { dialect: "claude", root, ...options });
      try {
        await store.session(id).appendNatives(lines);
      } finally {
        await store.close();
      }
    });
    if (waiting > 0) onWarning(hooksStillWait(root, waiting, cause));
    return waiting;
  }

  /** Closes every session that is open. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await this.#registrar?.close();
    await (await this.#signing)?.close();
  }

  /** What signing takes is loaded only where there is signing. */
  async #storeSigning(): Promise<StoreSigning> {
    const { StoreSigning } = await import("./store-signing.ts");
    return new StoreSigning(this.#host, this.#onWarning);
  }

  async #openSigning(
    from: ForeignHead | null,
    ...[session, facts, beside]: Parameters<OpenSigning>
  ): Promise<SessionSigning> {
    this.#signing ??= this.#storeSigning();
    const { sign, mode, profile } = this.#options;
    const signing = await this.#signing;
    const signed = await signing.open({
      log: { dialect: this.dialect, root: this.root, logId: session.logId, id: session.id },
      placeRoot: this.#project ?? this.root,
      spilling: session.dialect.spilling,
      facts,
      from,
      isLegacyProfile: profile === "rye",
      isEveryAppend: sign === "append" || mode === "shared",
      rev: () => beside?.rev ?? 0,
      revAhead: () => beside?.revAhead ?? 0,
      ...(beside instanceof RyeBeside ? { namedSeq: () => beside.namedSeq() } : {}),
    });
    if (beside instanceof RyeBeside) {
      beside.signWith(await signing.meta(session.id, signed.log, Date.now));
    }
    return signed;
  }

  #dialect(): Dialect {
    if (this.dialect === "rye") return this.#rye(this.#options.envelope ?? "flat");
    if (this.dialect === "claude") return claude;
    if (this.dialect === "sdk") return sdk;
    if (this.dialect === "verbatim") return verbatim;
    if (this.dialect === "streams") return streams;
    return this.dialect === "homeagent" ? homeagent : entire;
  }

  #rye(envelope: Envelope): Dialect {
    const dialect = ryeDialect({ envelope });
    if (!this.#options.isThreadsRoot) return dialect;
    return { ...dialect, logPath: (id) => [...threadSegments(id), LOG_NAME] };
  }

  /** The dialect in which a thread goes on: one file has one envelope, its first line's. */
  #ryeLike(first: unknown): Dialect {
    return this.#rye(readEnvelope(first).event?.envelope ?? this.#options.envelope ?? "flat");
  }

  #beside(session: Session): Beside {
    return this.dialect === "rye" ? this.#ryeBeside(session) : this.#entireBeside(session);
  }

  #entireBeside({ id, logId }: Session): EntireBeside {
    const { durability = "disk", model = null } = this.#options;
    return new EntireBeside({
      host: this.#host,
      sessionId: id,
      logId,
      root: this.root,
      durability,
      model,
      onWarning: this.#onWarning,
    });
  }

  #ryeBeside({ id, logId }: Session): RyeBeside {
    const { durability = "disk", mode = "exclusive", markdown = true } = this.#options;
    return new RyeBeside({
      host: this.#host,
      threadId: id,
      logId,
      root: this.root,
      durability,
      mode,
      hasMarkdown: markdown,
      nowMs: Date.now,
      onMeta: (meta) => this.#registrar?.note(meta),
      onWarning: this.#onWarning,
    });
  }

  /** rye: the project that the threads belong to; null when they lie in none. */
  get #project(): string | null {
    if (this.dialect !== "rye") return null;
    if (!this.#options.isThreadsRoot) return this.root;
    const below = `/${join(...THREADS_PATH)}`;
    return this.root.endsWith(below) ? this.root.slice(0, -below.length) || "/" : null;
  }

  /** A directory of threads that is in no project has nobody who would ask its registry. */
  #openRegistrar(): Registrar | null {
    const project = this.#project;
    if (project === null) return null;
    return new Registrar(project, join(project, ...THREADS_PATH), this.#onWarning);
  }

  /** rye: wins `{directive}-{epoch_seconds}`, this second's or, when told to wait, a later one's. */
  winThreadId(directive: string, wait: boolean): Promise<string> {
    return this.#ids.winThreadId(directive, wait);
  }
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}
