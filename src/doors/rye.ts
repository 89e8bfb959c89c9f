/**
 * `verbatim-log/rye`: thread transcripts with live markdown and telemetry.
 *
 * @example
 * const thread = await Thread.start({ root: ".", directive: "hello_world", model: "m" });
 * await thread.userMessage("Say hello");
 * await thread.step(async () => {
 *   await thread.assistantText("Hello!");
 *   return { tokens: { input_tokens: 5, output_tokens: 2 }, cost: { spend: 0.0001 } };
 * });
 * await thread.complete();
 */

import { resolve } from "node:path";
import {
  checkData,
  checkKind,
  checkOptions,
  type OptionKinds,
  rootIn,
} from "../core/base/choice.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { badLineWarning, checkOnBadLine, type OnBadLine } from "../core/log/bad-line-warning.ts";
import { provideDialect } from "../dialects/all.ts";
import { type BadEntry, badEntry } from "../dialects/files/stored-entries.ts";
import { rye } from "../dialects/rye/dialect.ts";
import * as threadFiles from "../dialects/rye/files/thread-files.ts";
import { type MarkdownOptions, RENDERER_OPTIONS } from "../dialects/rye/markdown.ts";
import { Telemetry, type TelemetryStats } from "../dialects/rye/telemetry.ts";
import type { StoredThreadMeta } from "../dialects/rye/thread-meta.ts";
import { Store } from "../sessions/store/store.ts";

/**
 * Claims the id `{directive}-{epoch_seconds}` by creating its directory. Throws SESSION_EXISTS if
 * this second's id is taken, or waits for the next free second.
 */
export async function newThreadId(
  directive: string,
  options: {
    /** The project. Default: the current directory. */
    readonly root?: string;
    /** The document's word for `root`. */
    readonly projectPath?: string;
    readonly wait?: boolean;
  } = {},
): Promise<string> {
  checkKind("directive", directive, "text");
  checkOptions("newThreadId", options, {
    root: "text",
    projectPath: "text",
    wait: "boolean",
  });
  const isNamed = options.root !== undefined || options.projectPath !== undefined;
  const root = isNamed ? rootIn("newThreadId", options, "projectPath") : ".";
  return new Store(nodeHost, { dialect: provideDialect(rye), root }).winSecond(
    directive,
    options.wait ?? false,
  );
}

/**
 * `thread.json`, or its reconstruction from the log if it is missing or corrupt; null without
 * either.
 */
export async function readThreadMeta(
  projectPath: string,
  threadId: string,
): Promise<StoredThreadMeta | null> {
  checkKind("projectPath", projectPath, "text");
  return threadFiles.readThreadMeta(nodeHost, projectPath, threadId);
}

/**
 * A signed `thread.json`, for granting capabilities and limits to a child thread. Throws
 * NOT_VERIFIED unless it belongs to that thread, is signed by a key that you trust for threads, is
 * as new as the log says, and was not rebuilt. Nothing in it comes from a default.
 *
 * @example
 * const { capabilities, limits } = await readVerifiedThreadMeta(".", parentThreadId);
 */
export async function readVerifiedThreadMeta(
  projectPath: string,
  threadId: string,
): Promise<StoredThreadMeta> {
  checkKind("projectPath", projectPath, "text");
  const { readVerifiedMeta } = await import("../integrations/rye/thread-meta.ts");
  return readVerifiedMeta(nodeHost, resolve(projectPath), threadId);
}

/**
 * Replaces `thread.json`, atomically and durably. For a signed thread it is signed with your key,
 * with a higher revision. Throws NOT_VERIFIED if the current file was altered, and LOG_LOCKED if
 * the thread is open elsewhere.
 */
export async function writeThreadMeta(
  projectPath: string,
  threadId: string,
  meta: StoredThreadMeta,
): Promise<void> {
  checkKind("projectPath", projectPath, "text");
  checkData("writeThreadMeta", meta, "metadata");
  const write = await import("../integrations/rye/thread-meta.ts");
  return write.writeThreadMeta(nodeHost, resolve(projectPath), threadId, meta);
}

export interface TranscriptOptions extends MarkdownOptions {
  /** Default: `skip`, with one process warning that lists the bad line numbers. */
  readonly onBadLine?: OnBadLine<BadEntry>;
}

const RENDER_OPTIONS: OptionKinds<TranscriptOptions> = {
  thinking: "boolean",
  toolDetails: "boolean",
  assistantMetadata: "boolean",
  onBadLine: "any",
};

/** Renders a thread's log as markdown, independent of its `transcript.md`. */
export class TranscriptRenderer {
  readonly #options: MarkdownOptions;
  readonly #onBadLine: OnBadLine<BadEntry>;

  constructor(options: TranscriptOptions = {}) {
    checkOptions("TranscriptRenderer", options, RENDER_OPTIONS);
    const { onBadLine = "skip", ...markdown } = options;
    checkOnBadLine(onBadLine);
    this.#onBadLine = onBadLine;
    this.#options = { ...RENDERER_OPTIONS, ...markdown };
  }

  async render(threadId: string, projectPath: string): Promise<string> {
    checkKind("projectPath", projectPath, "text");
    const path = threadFiles.threadPath(projectPath, threadId);
    const warning = badLineWarning(path);
    const onBadLine = this.#onBadLine;
    const tell = (bad: BadEntry) => {
      if (onBadLine === "throw" && bad.reason !== "blank") throw badEntry(path, bad);
      if (typeof onBadLine === "function") onBadLine(bad);
      else warning.add(bad);
    };
    const chunks = threadFiles.renderThread(nodeHost, projectPath, threadId, this.#options, tell);
    let markdown = "";
    try {
      for await (const chunk of chunks) markdown += chunk;
    } finally {
      warning.emit();
    }
    return markdown;
  }
}

/** Sums up the cost of a project's threads, from their `thread.json`. */
export class ThreadTelemetry {
  /**
   * Threads created within `days` whole days, 7 by default, given as a number or as an option.
   * Threads without a usable `thread.json` are skipped; signed ones whose `thread.json` does not
   * verify are listed in `excluded` and do not count.
   */
  async aggregate(
    projectPath: string,
    options: number | { readonly days?: number } = {},
  ): Promise<TelemetryStats> {
    checkKind("projectPath", projectPath, "text");
    const given = typeof options === "number" ? { days: options } : options;
    checkOptions("aggregate", given, { days: "count" });
    const telemetry = new Telemetry(Date.now(), given.days);
    const { countedThreads } = await import("../integrations/rye/thread-meta.ts");
    for await (const { meta, excluded } of countedThreads(nodeHost, resolve(projectPath))) {
      if (excluded) telemetry.exclude(excluded);
      else if (meta === undefined) telemetry.skip();
      else telemetry.add(meta);
    }
    return telemetry.stats();
  }
}

export type { DirectoryErrors, VerifyErrors } from "../core/base/errors.ts";
export { VerifyError as VerbatimError } from "../core/base/published-errors.ts";
export type { BadEntry } from "../dialects/files/stored-entries.ts";
export type { Envelope } from "../dialects/rye/envelope.ts";
export type { MarkdownOptions } from "../dialects/rye/markdown.ts";
export type { ExcludedThread, TelemetryGroup, TelemetryStats } from "../dialects/rye/telemetry.ts";
export type { StoredThreadMeta, ThreadMeta } from "../dialects/rye/thread-meta.ts";
export { Thread, type ThreadOptions, type TurnResult } from "../integrations/rye/thread.ts";
export {
  type ReadEvents,
  TranscriptWriter,
  type TranscriptWriterOptions,
} from "../integrations/rye/transcripts.ts";
export type { PooledSession } from "../sessions/store/pool.ts";
