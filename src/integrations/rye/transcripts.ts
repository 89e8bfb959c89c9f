/**
 * Rye transcripts: the writer API of the thread-transcripts document, over the store.
 *
 * Its callers never close a thread, so threads are shared, opened as needed and kept in a bounded
 * pool. Several processes may write events to one thread.
 */

import {
  badArgument,
  checkData,
  checkKind,
  checkOptions,
  type OptionKinds,
} from "../../core/base/choice.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Durability } from "../../core/log/log-options.ts";
import type { Native } from "../../core/model/entry.ts";
import { provideDialect } from "../../dialects/all.ts";
import type { Envelope } from "../../dialects/rye/dialect.ts";
import { rye } from "../../dialects/rye/dialect.ts";
import { type PooledSession, SessionPool } from "../../sessions/store/pool.ts";
import { Store } from "../../sessions/store/store.ts";

export interface TranscriptWriterOptions {
  /** The directory whose sub-directories are the threads: `<project>/.ai/threads`. */
  readonly transcriptDir: string;
  /** Whether `transcript.md` is updated as events are appended. */
  readonly autoMarkdown?: boolean;
  /** Used if an event's data names no directive. */
  readonly defaultDirective?: string;
  readonly envelope?: Envelope;
  readonly durability?: Durability;
  /** Signs every thread that is written to, at the end of every append. Default: false. */
  readonly sign?: boolean;
}

const OPTIONS: OptionKinds<TranscriptWriterOptions> = {
  transcriptDir: "text",
  autoMarkdown: "boolean",
  defaultDirective: "text",
  envelope: "any",
  durability: "any",
  sign: "boolean",
};
const { transcriptDir: _, ...REST_OPTIONS } = OPTIONS;

export interface ReadEvents {
  /** The events, as in their lines. */
  readonly events: Native[];
  /** Line numbers count from 1. */
  readonly badLines: { readonly line: number; readonly reason: string }[];
}

export class TranscriptWriter {
  readonly #store: Store;
  readonly #pool: SessionPool;

  constructor(options: TranscriptWriterOptions);
  constructor(transcriptDir: string, options?: Omit<TranscriptWriterOptions, "transcriptDir">);
  /** The document's signature. */
  constructor(transcriptDir: string, autoMarkdown: boolean, defaultDirective?: string | null);
  constructor(first: unknown, second?: unknown, third?: unknown) {
    const options = optionsOf(first, second, third);
    const { transcriptDir, autoMarkdown = true, defaultDirective, envelope = "flat" } = options;
    this.#store = new Store(nodeHost, {
      dialect: provideDialect(rye),
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

  /**
   * Writes one event. Resolves once it is durable; the writer's ts, type and thread_id take
   * precedence.
   */
  async writeEvent(
    threadId: string,
    type: string,
    data: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    checkData("writeEvent", data);
    await this.#pool.with(threadId, (session) => session.appendNative({ ...data, type }));
  }

  /** A thread as a session for neutral entries, such as those captured from a stream. */
  thread(threadId: string): PooledSession {
    checkKind("threadId", threadId, "text");
    return this.#pool.session(threadId);
  }

  /** All events of a thread, and its bad lines. Default: of a thread in `transcriptDir`. */
  async readEvents(threadId: string, projectPath?: string): Promise<ReadEvents> {
    const events: Native[] = [];
    const badLines: { line: number; reason: string }[] = [];
    const session = this.#storeOf(projectPath).session(threadId);
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

  #storeOf(projectPath: string | undefined): Store {
    if (projectPath === undefined) return this.#store;
    checkKind("projectPath", projectPath, "text");
    return new Store(nodeHost, { dialect: provideDialect(rye), root: projectPath });
  }

  /** Closes all threads. Not needed for durability: an acknowledged event is durable. */
  async close(): Promise<void> {
    await this.#pool.close();
    await this.#store.close();
  }
}

/** Normalises the three forms of the constructor's arguments. */
function optionsOf(first: unknown, second: unknown, third: unknown): TranscriptWriterOptions {
  const isByPlace = typeof second === "boolean" || third !== undefined;
  if (typeof first !== "string" && second !== undefined) {
    throw badArgument("new TranscriptWriter", "takes one object of options, or a directory first");
  }
  const rest = isByPlace ? { autoMarkdown: second, defaultDirective: third ?? undefined } : second;
  if (rest !== undefined) checkOptions("TranscriptWriter", rest, REST_OPTIONS);
  const options = typeof first === "string" ? { ...(rest as object), transcriptDir: first } : first;
  checkOptions("TranscriptWriter", options, OPTIONS);
  const { transcriptDir } = options as Partial<TranscriptWriterOptions>;
  checkKind("transcriptDir", transcriptDir, "text");
  return options as TranscriptWriterOptions;
}
