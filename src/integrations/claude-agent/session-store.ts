/**
 * Session store: stores sessions of Claude's Agent SDK in logs.
 *
 * - When `append` resolves, all of the batch is there and durable; entries with a `uuid` once,
 *   however often they were passed and by whatever process. When it rejects, the batch can be
 *   passed again, and the missing part is added.
 * - Batches of one key are written in the order of the calls.
 * - `load` returns what was appended, entry by entry, since the session was last deleted.
 * - Nothing is erased: deleting appends a line that says so (dialects/hooks/lines.ts).
 */

import { badArgument, checkData, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { invalidEntry } from "../../core/model/plain-json.ts";
import { provideDialect } from "../../dialects/all.ts";
import type { BadEntry } from "../../dialects/files/stored-entries.ts";
import { iterateLogs, type Unreadable } from "../../dialects/find.ts";
import { claude } from "../../dialects/hooks/dialect.ts";
import { HOOK_SOURCES } from "../../dialects/hooks/hook-spool.ts";
import { DELETED_TYPE, deletion, isDeletion } from "../../dialects/hooks/lines.ts";
import {
  directoryOf,
  idAt,
  LOG_NAME,
  parseSessionKey,
  type SessionKey,
  sessionIdOf,
} from "../../dialects/hooks/session-id.ts";
import { SessionPool } from "../../sessions/store/pool.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store, type StoreOptions } from "../../sessions/store/store.ts";
import {
  type ClaudeSessionEntry,
  type ClaudeSessionKey,
  type ClaudeSessionSummary,
  type FoldSummary,
  foldOfSdk,
  SummaryFiles,
} from "./summary-files.ts";

export interface ClaudeSessionStoreOptions
  extends Pick<
    StoreOptions,
    "root" | "remember" | "durability" | "sign" | "lockWaitMs" | "onWarning"
  > {
  /**
   * `shared`: several processes write to a session, each append under its lock. `exclusive`: a
   * session belongs to this process from its first append until `close`; only then can it be signed
   * per turn instead of per append. Default: `shared`.
   */
  readonly mode?: "shared" | "exclusive";
  /** The SDK's own function of that name. Default: imported from it when needed. */
  readonly foldSessionSummary?: FoldSummary;
}

const OPTIONS: OptionKinds<ClaudeSessionStoreOptions> = {
  root: "text",
  remember: "boolean",
  durability: "any",
  sign: "any",
  lockWaitMs: "count",
  onWarning: "function",
  mode: "any",
  foldSessionSummary: "function",
};

export class ClaudeSessionStore {
  readonly root: string;
  readonly #store: Store;
  readonly #pool: SessionPool;
  readonly #onWarning: (warning: string) => void;
  readonly #summaries: SummaryFiles;
  /** Work in progress for a session, by its id. */
  readonly #underWay = new Map<string, Promise<void>>();
  /** Whether a log has a session, while its size and time are these. */
  readonly #isLiveAt = new Map<string, { readonly at: string; readonly isLive: boolean }>();

  constructor(options: ClaudeSessionStoreOptions = {}) {
    checkOptions("claudeSessionStore", options, OPTIONS);
    const { foldSessionSummary, mode = "shared", ...rest } = options;
    this.#store = new Store(nodeHost, { ...rest, dialect: provideDialect(claude), mode });
    this.root = this.#store.root;
    this.#pool = new SessionPool((id) => this.#store.session(id));
    this.#onWarning = options.onWarning ?? ((warning) => process.emitWarning(warning));
    const fold = foldSessionSummary;
    this.#summaries = new SummaryFiles(fold ? async () => fold : foldOfSdk);
  }

  /** Resolves once the entries are durable. Refuses entries that the format cannot write. */
  async append(key: ClaudeSessionKey, entries: ClaudeSessionEntry[]): Promise<void> {
    const id = idOf(key);
    if (!Array.isArray(entries)) throw badArgument("append", "takes its entries as a list");
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
      return session.appendLines(given);
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
      this.#onWarning(`${bad} lines of ${session.path} are not entries, and were left out`);
    return entries.length === 0 ? null : entries;
  }

  /** The sessions of a project, unsorted; `mtime` is when they were last written. */
  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const logs = await this.#liveSessions(projectKey);
    return logs.map(({ key, mtimeMs }) => ({
      sessionId: key.sessionId,
      mtime: Math.floor(mtimeMs),
    }));
  }

  /** Summaries for the SDK's own listing. Reads only what is new since the last call. */
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

  /** Marks a session and its subagents, or one of these, as deleted. */
  async delete(key: ClaudeSessionKey): Promise<void> {
    const id = idOf(key);
    const ids = [id];
    if (key.subpath === undefined) {
      const below = [...claudeLogs(this.root, key.projectKey, key.sessionId)];
      // The session itself last: after an interruption it is visible that there is more to do.
      ids.unshift(...below.map((log) => log.id));
    }
    for (const each of ids) {
      if (!(await this.#store.has(each))) continue;
      await this.#inOrder(each, async (session) => {
        if (await isLive(session)) await session.appendLines([deletion(Date.now())]);
      });
    }
  }

  /** The subpaths of a session that have entries, unsorted. */
  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    checkData("listSubkeys", key, "key");
    const { projectKey, sessionId } = key;
    idOf({ projectKey, sessionId });
    const subkeys: string[] = [];
    for (const log of claudeLogs(this.root, projectKey, sessionId)) {
      const { subpath } = log.key;
      if (subpath !== undefined && (await this.#isLive(log))) subkeys.push(subpath);
    }
    return subkeys;
  }

  /** The name of a session in `verbatim` and the rest of this package. */
  sessionName(key: ClaudeSessionKey): string {
    return idOf(key);
  }

  /** Closes all sessions. Not needed for durability: appended entries are durable. */
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

  #inOrder(id: string, work: (session: Session) => Promise<unknown>): Promise<void> {
    const before = this.#underWay.get(id) ?? Promise.resolve();
    const done = before.then(async () => {
      await this.#pool.with(id, work);
    });
    const settled = done
      .catch(() => {}) // Its own caller gets the error.
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

function idOf(key: ClaudeSessionKey): string {
  checkData("the session store", key, "key");
  const { projectKey, sessionId, subpath } = key;
  if (HOOK_SOURCES.some((source) => source === projectKey)) {
    const reason = "it is where hooks record their sessions";
    throw new VerbatimError("BAD_ID", `the project key ${projectKey} is refused: ${reason}`, {
      id: projectKey,
      reason,
    });
  }
  return sessionIdOf({ projectKey, sessionId, ...(subpath === undefined ? {} : { subpath }) });
}

/** Whether a session has entries after it was last deleted. */
async function isLive(session: Session): Promise<boolean> {
  const [last] = await session.last(1, { onBadLine: "skip" });
  return last !== undefined && !isDeletion(last.native);
}

function isNotThere(cause: unknown): boolean {
  return cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND";
}

interface ClaudeLog {
  readonly id: string;
  readonly key: SessionKey;
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * Finds the transcripts of a project, or of a session, below a root, by their keys.
 *
 * Looks at names and sizes only (dialects/find.ts).
 *
 * The transcripts of a project's sessions, or of one session's subagents, unsorted. Refuses with
 * IO_ERROR when a directory cannot be read: the caller wants all of them.
 */
function* claudeLogs(root: string, ...names: readonly string[]): Generator<ClaudeLog> {
  const layout = { under: directoryOf(...names), logName: LOG_NAME, idAt };
  for (const { id, size, mtimeMs } of iterateLogs(root, layout, { onUnreadable })) {
    const key = parseSessionKey(id);
    if (key !== null) yield { id, key, size, mtimeMs };
  }
}

/** A link is not a transcript. */
function onUnreadable({ cause }: Unreadable): void {
  if (cause.code === "IO_ERROR") throw cause;
}
