/**
 * Session store: Claude's Agent SDK keeps its sessions in logs, through the store.
 *
 * CS1  When `append` resolves, all of the batch is there and durable; entries with a `uuid` once,
 *      however often they were given and by whatever process. When it rejects, the batch can be
 *      given again, and what is missing of it is added.
 * CS2  Batches of one key land in the order of the calls.
 * CS3  What is loaded is what was appended, entry by entry, since the session was last deleted.
 * CS4  Nothing is erased: to delete is to append a line that says so (dialects/claude/deletion.ts).
 */

import { VerbatimError } from "../../base/errors.ts";
import { nodeHost } from "../../base/node-host.ts";
import { invalidEntry } from "../../dialects/claude/complete.ts";
import { DELETED_TYPE, deletion, isDeletion } from "../../dialects/claude/deletion.ts";
import { HOOK_SOURCES } from "../../dialects/claude/hook-spool.ts";
import { sessionIdOf } from "../../dialects/claude/session-id.ts";
import type { BadEntry } from "../../dialects/files/stored-entries.ts";
import { SessionPool } from "../../store/pool.ts";
import type { Session } from "../../store/session.ts";
import { Store, type StoreOptions } from "../../store/store.ts";
import { type ClaudeLog, claudeLogs } from "./claude-logs.ts";
import type {
  ClaudeSessionEntry,
  ClaudeSessionKey,
  ClaudeSessionSummary,
  FoldSummary,
} from "./contract.ts";
import { foldOfSdk, SummaryFiles } from "./summary-files.ts";

export interface ClaudeSessionStoreOptions
  extends Pick<StoreOptions, "root" | "durability" | "sign" | "lockWaitMs" | "onWarning"> {
  /**
   * `shared`: several processes write to a session, each append under its lock. `exclusive`: a
   * session is this process's from its first append until `close`; only then can it be signed by
   * the turn instead of by the append. Default: `shared`.
   */
  readonly mode?: "shared" | "exclusive";
  /** The SDK's own function of that name. Default: imported from it when it is needed. */
  readonly foldSessionSummary?: FoldSummary;
}

export class ClaudeSessionStore {
  readonly root: string;
  readonly #store: Store;
  readonly #pool: SessionPool;
  readonly #onWarning: (warning: string) => void;
  readonly #summaries: SummaryFiles;
  /** What is under way for a session, by its id (CS2). */
  readonly #underWay = new Map<string, Promise<void>>();
  /** Whether a log holds a session, as long as its size and time are these. */
  readonly #isLiveAt = new Map<string, { readonly at: string; readonly isLive: boolean }>();

  constructor(options: ClaudeSessionStoreOptions = {}) {
    const { foldSessionSummary, mode = "shared", ...rest } = options;
    this.#store = new Store(nodeHost, { ...rest, dialect: "claude", mode });
    this.root = this.#store.root;
    this.#pool = new SessionPool((id) => this.#store.session(id));
    this.#onWarning = options.onWarning ?? ((warning) => process.emitWarning(warning));
    const fold = foldSessionSummary;
    this.#summaries = new SummaryFiles(fold ? async () => fold : foldOfSdk);
  }

  /** Resolves once the entries are durable (CS1). Refuses what the format has no line for. */
  async append(key: ClaudeSessionKey, entries: ClaudeSessionEntry[]): Promise<void> {
    const id = idOf(key);
    const given = [...entries];
    if (given.some(({ type }) => type === DELETED_TYPE)) throw invalidEntry("type", "reserved");
    if (given.length === 0) return;
    await this.#inOrder(id, (session) => {
      session.onKnown = ({ uuid }, isSame) => {
        if (isSame) return; // A retry.
        this.#onWarning(
          `${session.path} has an entry with the uuid ${uuid} and other content; the first is kept`,
        );
      };
      return session.appendNatives(given);
    });
  }

  /** The entries of a session in order; null when it has none. */
  async load(key: ClaudeSessionKey): Promise<ClaudeSessionEntry[] | null> {
    const session = this.#store.session(idOf(key));
    let entries: ClaudeSessionEntry[] = [];
    let bad = 0;
    const onBadLine = (_: BadEntry) => {
      bad++;
    };
    try {
      for await (const { native } of session.entries({ onBadLine })) {
        if (isDeletion(native)) entries = [];
        else entries.push(native as ClaudeSessionEntry);
      }
    } catch (cause) {
      if (!isNotThere(cause)) throw cause;
    } finally {
      await session.release();
    }
    if (bad > 0)
      this.#onWarning(`${bad} lines of ${session.path} are no entries, and are left out`);
    return entries.length === 0 ? null : entries;
  }

  /** The sessions of a project, in no order; `mtime` is when they were last written to. */
  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const logs = await this.#liveSessions(projectKey);
    return logs.map(({ key, mtimeMs }) => ({
      sessionId: key.sessionId,
      mtime: Math.floor(mtimeMs),
    }));
  }

  /** What the SDK's own listing shows of each session. Reads only what is new since it was asked. */
  async listSessionSummaries(projectKey: string): Promise<ClaudeSessionSummary[]> {
    const summaries: ClaudeSessionSummary[] = [];
    for (const { id, key, mtimeMs } of await this.#liveSessions(projectKey)) {
      const session = this.#store.session(id);
      try {
        const summary = await this.#summaries.summarise(session, key, Math.floor(mtimeMs));
        if (summary) summaries.push(summary);
      } finally {
        await session.release();
      }
    }
    return summaries;
  }

  /** Says of a session and its subagents, or of one of these, that it was deleted (CS4). */
  async delete(key: ClaudeSessionKey): Promise<void> {
    const id = idOf(key);
    const ids = [id];
    if (key.subpath === undefined) {
      const below = [...claudeLogs(this.root, key.projectKey, key.sessionId)];
      // The session itself last: whoever is interrupted can see that there is more to do.
      ids.unshift(...below.map((log) => log.id));
    }
    for (const each of ids) {
      if (!(await this.#store.has(each))) continue;
      await this.#inOrder(each, async (session) => {
        if (await isLive(session)) await session.appendNatives([deletion(Date.now())]);
      });
    }
  }

  /** The subpaths of a session that have entries, in no order. */
  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    const { projectKey, sessionId } = key;
    idOf({ projectKey, sessionId });
    const subkeys: string[] = [];
    for (const log of claudeLogs(this.root, projectKey, sessionId)) {
      const { subpath } = log.key;
      if (subpath !== undefined && (await this.#isLive(log))) subkeys.push(subpath);
    }
    return subkeys;
  }

  /** By what `verbatim` and the rest of this package call a session. */
  sessionName(key: ClaudeSessionKey): string {
    return idOf(key);
  }

  /** Puts all sessions down. Not needed for durability: what was appended is durable. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay.values());
    await this.#pool.close();
    await this.#store.close();
  }

  async #liveSessions(projectKey: string): Promise<ClaudeLog[]> {
    idOf({ projectKey, sessionId: "any" });
    const live: ClaudeLog[] = [];
    for (const log of claudeLogs(this.root, projectKey)) {
      if (log.key.subpath === undefined && (await this.#isLive(log))) live.push(log);
    }
    return live;
  }

  async #isLive({ id, size, mtimeMs }: ClaudeLog): Promise<boolean> {
    const at = `${size} ${mtimeMs}`;
    const known = this.#isLiveAt.get(id);
    if (known?.at === at) return known.isLive;
    const session = this.#store.session(id);
    try {
      const found = size > 0 && (await isLive(session));
      this.#isLiveAt.set(id, { at, isLive: found });
      return found;
    } finally {
      await session.release();
    }
  }

  /** CS2 */
  #inOrder(id: string, work: (session: Session) => Promise<unknown>): Promise<void> {
    const before = this.#underWay.get(id) ?? Promise.resolve();
    const done = before.then(async () => {
      await this.#pool.with(id, work);
    });
    const settled = done
      .catch(() => {}) // Its own caller is told.
      .then(() => {
        if (this.#underWay.get(id) === settled) this.#underWay.delete(id);
      });
    this.#underWay.set(id, settled);
    return done;
  }
}

/**
 * A session store for the `sessionStore` option of the SDK's `query` and of its other functions.
 *
 * @example query({ prompt, options: { sessionStore: claudeSessionStore({ root: "/var/lib/agent" }) } })
 */
export function claudeSessionStore(options: ClaudeSessionStoreOptions = {}): ClaudeSessionStore {
  return new ClaudeSessionStore(options);
}

function idOf({ projectKey, sessionId, subpath }: ClaudeSessionKey): string {
  if (HOOK_SOURCES.some((source) => source === projectKey)) {
    const reason = "it is where hooks record their sessions";
    throw new VerbatimError("BAD_ID", `the project key ${projectKey} is refused: ${reason}`, {
      id: projectKey,
      reason,
    });
  }
  return sessionIdOf({ projectKey, sessionId, ...(subpath === undefined ? {} : { subpath }) });
}

/** Whether a session has entries: whether any stand after it was last deleted. */
async function isLive(session: Session): Promise<boolean> {
  const [last] = await session.last(1, { onBadLine: "skip" });
  return last !== undefined && !isDeletion(last.native);
}

function isNotThere(cause: unknown): boolean {
  return cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND";
}
