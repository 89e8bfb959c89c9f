/**
 * HomeAgent transcripts: the writer API of the HomeAgent document, over the store.
 *
 * Its callers never close a session, so sessions are shared, opened as needed and kept in a bounded
 * pool. Several processes may append to one session.
 */

import { checkKind, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { badLineWarning, type OnBadLine } from "../../core/log/bad-line-warning.ts";
import type { Durability } from "../../core/log/log-options.ts";
import { provideDialect } from "../../dialects/all.ts";
import type { BadEntry } from "../../dialects/files/stored-entries.ts";
import { homeagent } from "../../dialects/homeagent/dialect.ts";
import type { TranscriptEntry } from "../../dialects/homeagent/schema.ts";
import { sessionIdOf } from "../../dialects/homeagent/session-id.ts";
import { type PooledSession, SessionPool } from "../../sessions/store/pool.ts";
import { Store } from "../../sessions/store/store.ts";

export interface TranscriptWriterOptions {
  readonly durability?: Durability;
  /** Signs every session that is written to; checkpoints are in a sidecar file. Default: false. */
  readonly sign?: boolean;
}

export interface ReadTranscriptOptions {
  /** Default: `skip`, with one process warning that lists the bad line numbers. */
  readonly onBadLine?: OnBadLine<BadEntry>;
  readonly signal?: AbortSignal;
}

const WRITER_OPTIONS: OptionKinds<TranscriptWriterOptions> = { durability: "any", sign: "boolean" };
const READ_OPTIONS: OptionKinds<ReadTranscriptOptions> = { onBadLine: "any", signal: "object" };

export class TranscriptWriter {
  readonly #store: Store;
  readonly #pool: SessionPool;

  /** `basePath` is HomeAgent's own directory. Default: `~/.homeagent`. */
  constructor(basePath?: string, options: TranscriptWriterOptions = {}) {
    if (basePath !== undefined) checkKind("basePath", basePath, "text");
    checkOptions("TranscriptWriter", options, WRITER_OPTIONS);
    const { durability = "disk", sign = false } = options;
    const root = basePath === undefined ? {} : { root: basePath };
    this.#store = new Store(nodeHost, {
      dialect: provideDialect(homeagent),
      mode: "shared",
      durability,
      sign,
      ...root,
    });
    this.#pool = new SessionPool((id) => this.#store.session(id));
  }

  /** Appends one turn. Resolves once it is durable; an invalid turn is refused and not written. */
  async append(agentId: string, sessionId: string, entry: TranscriptEntry): Promise<void> {
    const id = sessionIdOf(agentId, sessionId);
    await this.#pool.with(id, (session) => session.appendNative(entry));
  }

  /** A session for neutral entries, such as those captured from a provider's stream. */
  session(agentId: string, sessionId: string): PooledSession {
    return this.#pool.session(sessionIdOf(agentId, sessionId));
  }

  /** All turns of a session, as in their lines. */
  async read(
    agentId: string,
    sessionId: string,
    options: ReadTranscriptOptions = {},
  ): Promise<TranscriptEntry[]> {
    const entries: TranscriptEntry[] = [];
    for await (const entry of this.readStream(agentId, sessionId, options)) entries.push(entry);
    return entries;
  }

  /** The turns of a session one by one, in constant memory. */
  async *readStream(
    agentId: string,
    sessionId: string,
    options: ReadTranscriptOptions = {},
  ): AsyncGenerator<TranscriptEntry> {
    checkOptions("TranscriptWriter.read", options, READ_OPTIONS);
    const { onBadLine = "skip", signal } = options;
    const session = this.#store.session(sessionIdOf(agentId, sessionId));
    const warning = badLineWarning(session.path);
    const entries = session.entries({
      onBadLine: onBadLine === "skip" ? warning.add : onBadLine,
      ...(signal ? { signal } : {}),
    });
    try {
      for await (const { native } of entries) yield native as TranscriptEntry;
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND") {
        throw new VerbatimError(
          "SESSION_NOT_FOUND",
          `there is no session ${session.id} in ${this.#store.root}; check both ids`,
          { session: session.id },
        );
      }
      throw cause;
    } finally {
      warning.emit();
      await session.release();
    }
  }

  /** Closes all sessions. Not needed for durability: an acknowledged append is durable. */
  async close(): Promise<void> {
    await this.#pool.close();
    await this.#store.close();
  }
}
