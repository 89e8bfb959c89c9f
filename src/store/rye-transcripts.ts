/**
 * Rye transcripts: the writer that the thread-transcripts document asks for, over the store.
 *
 * Its callers never say that they are done, so threads are shared, opened as needed and kept in
 * a bounded pool. Several processes may write events to one thread.
 */

import { nodeHost } from "../base/node-host.ts";
import type { Native } from "../dialects/dialect.ts";
import type { Envelope } from "../dialects/rye/dialect.ts";
import type { Durability } from "../log/log-options.ts";
import { type PooledSession, SessionPool } from "./pool.ts";
import { Store } from "./store.ts";

export interface TranscriptWriterOptions {
  /** The directory whose sub-directories are the threads: `<project>/.ai/threads`. */
  readonly transcriptDir: string;
  /** Whether `transcript.md` grows as events land. */
  readonly autoMarkdown?: boolean;
  /** Stands in when an event's data names no directive. */
  readonly defaultDirective?: string;
  readonly envelope?: Envelope;
  readonly durability?: Durability;
  /** Signs every thread that is written to, at the end of every append. Default: false. */
  readonly sign?: boolean;
}

export interface ReadEvents {
  /** Each event as its line says it. */
  readonly events: Native[];
  /** Line numbers count from 1. */
  readonly badLines: { readonly line: number; readonly reason: string }[];
}

export class TranscriptWriter {
  readonly #store: Store;
  readonly #pool: SessionPool;

  constructor(options: TranscriptWriterOptions) {
    const { transcriptDir, autoMarkdown = true, defaultDirective, envelope = "flat" } = options;
    this.#store = new Store(nodeHost, {
      dialect: "rye",
      root: transcriptDir,
      isThreadsRoot: true,
      mode: "shared",
      durability: options.durability ?? "disk",
      envelope,
      markdown: autoMarkdown,
      sign: options.sign ?? false,
      ...(defaultDirective === undefined ? {} : { agent: defaultDirective }),
    });
    this.#pool = new SessionPool((id) => this.#store.session(id));
  }

  /** Writes one event. Resolves once it is durable; the writer's ts, type and thread_id win. */
  async writeEvent(
    threadId: string,
    type: string,
    data: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    await this.#pool.with(threadId, (session) => session.appendNative({ ...data, type }));
  }

  /** A thread as a session that entries in neutral words go to, such as capturing a stream makes. */
  thread(threadId: string): PooledSession {
    return this.#pool.session(threadId);
  }

  /** All events of a thread, and the lines that are none. */
  async readEvents(threadId: string): Promise<ReadEvents> {
    const events: Native[] = [];
    const badLines: { line: number; reason: string }[] = [];
    const session = this.#store.session(threadId);
    const entries = session.entries({
      onBadLine: ({ line, reason }) => {
        if (reason !== "blank") badLines.push({ line: line ?? 0, reason });
      },
    });
    try {
      for await (const { native } of entries) events.push(native);
      return { events, badLines };
    } finally {
      await session.release();
    }
  }

  /** Puts all threads down. Not needed for durability: what was written is durable. */
  async close(): Promise<void> {
    await this.#pool.close();
    await this.#store.close();
  }
}
