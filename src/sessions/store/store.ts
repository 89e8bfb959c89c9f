/**
 * Store: a directory of sessions in one dialect, and the only way to write one.
 *
 * Joins the dialect (the form of lines), the log (how they are stored) and the derived files. New
 * ids: session-ids.ts.
 */

import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { badOption, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { catalogPath as defaultCatalogPath } from "../../core/base/node-paths.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import type { Native } from "../../core/model/entry.ts";
import { checkedLabels } from "../../core/model/entry-check.ts";
import { packageVersion } from "../../core/package-file.ts";
import { dialectNamed, hostOf, loadDialects } from "../../dialects/all.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { DerivedFiles, StoreFiles } from "../../dialects/facets/files.ts";
import { DEFAULT_DIALECT, type DialectName, registryEntry } from "../../dialects/registry.ts";
import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import { rememberStore } from "../list/remembered-stores.ts";
import { listSessions } from "./list.ts";
import { type OpenSigning, Session } from "./session.ts";
import { SessionIds, sessionExists } from "./session-ids.ts";
import type { SessionSigning } from "./session-signing.ts";
import type { ListOptions, Store as Published, SessionSummary } from "./store-api.ts";
import {
  type BeginOptions,
  type CreateOptions,
  checkBeginOptions,
  checkOpening,
  checkStoreOptions,
  type OpenOptions,
  type StoreOptions,
} from "./store-options.ts";
import type { StoreSigning } from "./store-signing.ts";
import { Summaries } from "./summaries.ts";

export type { BeginOptions, CreateOptions, StoreOptions };

interface SessionChoices extends OpenOptions {
  /** Of a fork: the head of its parent's log where it begins. */
  readonly from?: SignedHead | null;
  readonly isBrief?: boolean;
}

/** Sends what is appended somewhere else, too (guard/remote/delivery/sender.ts). */
export interface Follower {
  /** Begins with a session; `end` is its acknowledged end. Never rejects. Call it when closed. */
  follow(session: Session, end: () => number): Promise<() => void>;
  close(): Promise<unknown>;
}

const LIST_OPTIONS: OptionKinds<ListOptions> = { onProgress: "function", signal: "object" };

/** How long a reader waits for the lock of a session that has lines in the inbox. */
const DRAIN_WAIT_MS = 1000;

export class Store implements Published {
  readonly dialect: DialectName;
  readonly root: string;
  readonly #host: Host;
  readonly #options: StoreOptions;
  /** The dialect that this store writes. */
  readonly #dialect: Dialect;
  readonly #sessions = new Set<Session>();
  readonly #ids: SessionIds;
  readonly #follower: Follower | null;
  #signing: Promise<StoreSigning> | null = null;
  #files: Promise<StoreFiles | null> | null = null;
  #remembering: Promise<void> | null = null;

  /** Loads its dialect first. Throws BAD_SETTING. */
  static async open(
    host: Host,
    options: StoreOptions = {},
    follower: Follower | null = null,
  ): Promise<Store> {
    checkStoreOptions(options);
    await loadDialects([options.dialect ?? DEFAULT_DIALECT]);
    return new Store(host, options, follower);
  }

  /** For code that has loaded the dialect. */
  constructor(host: Host, options: StoreOptions = {}, follower: Follower | null = null) {
    checkStoreOptions(options);
    this.#options = options;
    this.#follower = follower;
    const dialect = dialectNamed(options.dialect ?? DEFAULT_DIALECT);
    this.dialect = dialect.name;
    this.#dialect = dialect.withOptions?.({ ...options }) ?? dialect;
    this.root = resolve(options.root ?? registryEntry(dialect.name).usersRoot?.() ?? ".");
    this.#host = hostOf(host, this);
    const { root } = this;
    const pathOf = (id: string) => this.pathOf(id);
    this.#ids = new SessionIds(host, { newIds: dialect.writing?.newIds, root, pathOf });
  }

  get #onWarning(): (warning: string) => void {
    return this.#options.onWarning ?? processWarning;
  }

  async create(options: CreateOptions = {}): Promise<Session> {
    checkBeginOptions(options);
    const start = this.#startOf(options);
    const session = await this.begin(options);
    await session.openToAppend();
    if (start) await session.appendNative(start);
    return session;
  }

  /** The first line, if something is known of the session; refuses what lines cannot say. */
  #startOf({ parent, title, tags, user, metadata }: CreateOptions): Native | null {
    const { name, naming, writing } = this.#dialect;
    const details = Object.entries({ parent, title, tags, user, metadata });
    const statedDetails = details.filter(([, value]) => value !== undefined);
    if (statedDetails.length === 0) return null;
    const cannot = statedDetails.find(
      ([field]) => !writing?.start?.says.some((each) => each === field),
    );
    if (cannot || !writing?.start) {
      throw badOption(
        `${cannot?.[0]}`,
        `has no room in lines of the dialect ${name}; leave it out`,
      );
    }
    if (parent !== undefined) naming.logPath(parent);
    const labels = Object.fromEntries(statedDetails.filter(([field]) => field !== "parent"));
    return writing.start.line({ ...(parent && { parent }), ...checkedLabels(labels) });
  }

  /** Like `create`, but the id is taken and nothing is written yet (`createWhole`). */
  async begin(options: BeginOptions): Promise<Session> {
    checkBeginOptions(options);
    const agent = options.agent ?? this.#options.agent ?? null;
    const id = options.id ?? (await this.#ids.winNew(agent, options.wait ?? false));
    if (options.id !== undefined && !(await this.#ids.win(id))) throw sessionExists(id);
    return this.sessionBy(id, { ...(agent === null ? {} : { agent }), from: options.from ?? null });
  }

  /** The path of a session's log, which may not exist. */
  pathOf(id: string): string {
    return join(this.root, ...this.#dialect.naming.logPath(id));
  }

  /** Unpins a session that may be deleted, or whose files are gone. */
  async forget({ id, logId }: Session): Promise<void> {
    const { dialect, root } = this;
    const signing = await this.#signing;
    await signing?.forget({ dialect, root, logId, id }, this.#project ?? root);
  }

  async open(id: string, options: OpenOptions = {}): Promise<Session> {
    checkOpening(id, options);
    if (await this.has(id)) return this.session(id, options);
    throw new VerbatimError(
      "SESSION_NOT_FOUND",
      `there is no session ${id} in ${this.root}; list them, or create it`,
      { session: id },
    );
  }

  async has(id: string): Promise<boolean> {
    checkOpening(id, {});
    await this.drainInbox();
    return this.hasLog(id);
  }

  /** Whether its log exists, without draining the inbox into it. */
  async hasLog(id: string): Promise<boolean> {
    checkOpening(id, {});
    const logId = this.#dialect.naming.logPath(id).join("/");
    try {
      const place = await openLogPath(this.#host, logId, { create: false, root: this.root });
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

  async list(options: ListOptions = {}): Promise<SessionSummary[]> {
    checkOptions("list", options, LIST_OPTIONS);
    const { root, dialect } = this;
    const catalogPath = this.#options.catalogPath ?? defaultCatalogPath();
    const summaries = async () => this.summaries();
    const onWarning = this.#onWarning;
    await this.drainInbox();
    return listSessions({ root, dialect, catalogPath, summaries, onWarning }, options);
  }

  /** Reads sessions for a listing. */
  summaries(): Summaries {
    const { root, dialect } = this;
    return new Summaries({ host: this.#host, dialect, root, open: (id) => this.session(id) });
  }

  get isSigning(): boolean {
    return Boolean(this.#options.sign);
  }

  session(id: string, options: OpenOptions = {}): Session {
    checkOpening(id, options);
    return this.sessionBy(id, options);
  }

  /** Like `session`. `isBrief`: does not wait while another process holds its lock. */
  sessionBy(id: string, { agent, from = null, isBrief = false }: SessionChoices): Session {
    const { durability = "disk", mode = "exclusive" } = this.#options;
    const lockWaitMs = isBrief ? 0 : this.#options.lockWaitMs;
    const { trustsLocks } = this.#options;
    const { adopt } = this.#dialect;
    let onClosed = () => {};
    const session: Session = new Session({
      host: this.#host,
      id,
      root: this.root,
      dialect: this.#dialect,
      agent: agent ?? this.#options.agent ?? null,
      newId: () => randomUUID(),
      nowMs: Date.now,
      cwd: this.root,
      version: this.#options.version ?? packageVersion(),
      model: this.#options.model ?? null,
      logOptions: {
        durability,
        mode,
        onWarning: this.#onWarning,
        ...(lockWaitMs === undefined ? {} : { lockWaitMs }),
        ...(trustsLocks === undefined ? {} : { trustsLocks }),
      },
      adopt: adopt ? (first) => adopt(first, { ...this.#options }) : null,
      openDerived: this.#dialect.files?.load ? (each) => this.#openDerived(each) : null,
      openSigning: this.#options.sign ? (...opening) => this.#openSigning(from, ...opening) : null,
      ...(this.#dialect.files?.inbox ? { beforeReading: () => this.drainInbox() } : {}),
      onOpened: async (writer) => {
        this.#remember();
        onClosed = (await this.#follower?.follow(session, () => writer.end)) ?? onClosed;
      },
      onClosed: () => {
        this.#sessions.delete(session);
        onClosed();
      },
    });
    this.#sessions.add(session);
    return session;
  }

  /**
   * Moves lines from the inbox into their sessions if their locks become free in time.
   * Called before each read. Returns how many lines are left.
   */
  async drainInbox({ lockWaitMs = DRAIN_WAIT_MS }: { lockWaitMs?: number } = {}): Promise<number> {
    const { root, dialect } = this;
    const { inbox } = this.#dialect.files ?? {};
    if (!inbox?.mayWait(root)) return 0;
    const onWarning = this.#onWarning;
    const { waiting, cause } = await inbox.drain(root, async (id, lines, { sign, durability }) => {
      const options = { mode: "shared", durability, sign, lockWaitMs, onWarning } as const;
      const store = new Store(this.#host, { dialect, root, ...options });
      try {
        await store.session(id).appendLines(lines);
      } finally {
        await store.close();
      }
    });
    if (waiting > 0) onWarning(inbox.warning(root, waiting, cause));
    return waiting;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
    await this.#remembering;
    await (await this.#files)?.close?.();
    await (await this.#signing)?.close();
    await this.#follower?.close();
  }

  /** Not awaited: no append waits for it. */
  #remember(): void {
    if (this.#options.remember === false) return;
    this.#remembering ??= rememberStore(this.dialect, this.#project ?? this.root);
  }

  /** Signing code is loaded only if the store signs. */
  async #storeSigning(): Promise<StoreSigning> {
    const { StoreSigning } = await import("./store-signing.ts");
    return new StoreSigning(this.#host, this.#onWarning);
  }

  async #openSigning(
    from: SignedHead | null,
    ...[session, facts, derived]: Parameters<OpenSigning>
  ): Promise<SessionSigning> {
    this.#signing ??= this.#storeSigning();
    const { sign, mode, profile } = this.#options;
    const signing = await this.#signing;
    const signed = await signing.open({
      log: { dialect: this.dialect, root: this.root, logId: session.logId, id: session.id },
      placeRoot: this.#project ?? this.root,
      spilling: session.dialect.writing?.spilling,
      facts,
      from,
      isLegacyProfile: profile !== undefined,
      isEveryAppend: sign === "append" || mode === "shared",
      revision: (isLast) => derived?.revision?.(isLast) ?? 0,
      ...(derived?.namedSeq ? { namedSeq: derived.namedSeq.bind(derived) } : {}),
    });
    derived?.signWith?.(await signing.toolsFor(signed.log, Date.now));
    return signed;
  }

  async #openDerived({ id, logId }: Session): Promise<DerivedFiles | null> {
    this.#files ??= this.#openFiles();
    return (await this.#files)?.openDerived({ id, logId }) ?? null;
  }

  async #openFiles(): Promise<StoreFiles | null> {
    const { durability = "disk", mode = "exclusive" } = this.#options;
    const files = await this.#dialect.files?.load?.();
    const store = { host: this.#host, root: this.root, project: this.#project, durability, mode };
    const options = { ...this.#options };
    const onWarning = this.#onWarning;
    return files?.openStore?.({ ...store, options, nowMs: Date.now, onWarning }) ?? null;
  }

  /** The project that the root belongs to, or null. */
  get #project(): string | null {
    const { projectOf } = this.#dialect.naming;
    return projectOf ? projectOf(this.root, { ...this.#options }) : this.root;
  }

  /** Takes the id of this second or, with `wait`, a later one's. */
  winSecond(agent: string, wait: boolean): Promise<string> {
    return this.#ids.winSecond(agent, wait);
  }
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}
