/**
 * `verbatim-log/rye`: thread transcripts with live markdown and telemetry.
 *
 * @example
 * const thread = await Thread.start({ projectPath: ".", directive: "hello_world", model: "m" });
 * await thread.userMessage("Say hello");
 * await thread.step(async () => {
 *   await thread.assistantText("Hello!");
 *   return { tokens: { input_tokens: 5, output_tokens: 2 }, cost: { spend: 0.0001 } };
 * });
 * await thread.complete();
 */

import { resolve } from "node:path";
import { nodeHost } from "./base/node-host.ts";
import { type MarkdownOptions, RENDERER_OPTIONS } from "./dialects/rye/markdown.ts";
import { Telemetry, type TelemetryStats } from "./dialects/rye/telemetry.ts";
import type { StoredThreadMeta } from "./dialects/rye/thread-meta.ts";
import { Store } from "./store/store.ts";
import * as threadFiles from "./store/thread-files.ts";

/**
 * Wins the id `{directive}-{epoch_seconds}` by making its directory. Refuses with
 * SESSION_EXISTS when this second's is taken, or waits for the next free second.
 */
export async function newThreadId(
  directive: string,
  options: { readonly projectPath?: string; readonly wait?: boolean } = {},
): Promise<string> {
  const { projectPath = ".", wait = false } = options;
  return new Store(nodeHost, { dialect: "rye", root: projectPath }).winThreadId(directive, wait);
}

/** `thread.json`, or what the log says when that is missing or corrupt; null without either. */
export function readThreadMeta(
  projectPath: string,
  threadId: string,
): Promise<StoredThreadMeta | null> {
  return threadFiles.readThreadMeta(nodeHost, projectPath, threadId);
}

/**
 * A signed `thread.json`, to grant something by: what a child thread may do, what it may spend.
 * Throws NOT_VERIFIED unless it is that thread's, signed by a key that you trust with threads, as new
 * as the log says, and not rebuilt. Nothing in it comes from a default.
 *
 * @example
 * const { capabilities, limits } = await readVerifiedThreadMeta(".", parentThreadId);
 */
export async function readVerifiedThreadMeta(
  projectPath: string,
  threadId: string,
): Promise<StoredThreadMeta> {
  const { readVerifiedMeta } = await import("./store/verified-meta.ts");
  return readVerifiedMeta(nodeHost, resolve(projectPath), threadId);
}

/**
 * Replaces `thread.json`, whole and durably. That of a signed thread is signed with your key, in a
 * higher revision; one that was altered is not written over (NOT_VERIFIED), nor is one of a thread
 * that is open elsewhere (LOG_LOCKED).
 */
export async function writeThreadMeta(
  projectPath: string,
  threadId: string,
  meta: StoredThreadMeta,
): Promise<void> {
  const write = await import("./store/write-meta.ts");
  return write.writeThreadMeta(nodeHost, resolve(projectPath), threadId, meta);
}

/** Renders a thread's log as markdown, whatever its `transcript.md` says. */
export class TranscriptRenderer {
  readonly #options: MarkdownOptions;

  constructor(options: MarkdownOptions = {}) {
    this.#options = { ...RENDERER_OPTIONS, ...options };
  }

  async render(threadId: string, projectPath: string): Promise<string> {
    let markdown = "";
    const chunks = threadFiles.renderThread(nodeHost, projectPath, threadId, this.#options);
    for await (const chunk of chunks) markdown += chunk;
    return markdown;
  }
}

/** Adds up what a project's threads cost, from their `thread.json`. */
export class ThreadTelemetry {
  /**
   * Threads made within `days` whole days. Those without a usable `thread.json` are skipped; signed
   * ones whose `thread.json` does not verify are named in `excluded`, and count for nothing.
   */
  async aggregate(
    projectPath: string,
    options: { readonly days?: number } = {},
  ): Promise<TelemetryStats> {
    const telemetry = new Telemetry(Date.now(), options.days);
    const { countedThreads } = await import("./store/counted-threads.ts");
    for await (const { meta, excluded } of countedThreads(nodeHost, resolve(projectPath))) {
      if (excluded) telemetry.exclude(excluded);
      else if (meta === undefined) telemetry.skip();
      else telemetry.add(meta);
    }
    return telemetry.stats();
  }
}

export type { Envelope } from "./dialects/rye/envelope.ts";
export type { MarkdownOptions } from "./dialects/rye/markdown.ts";
export type { ExcludedThread, TelemetryGroup, TelemetryStats } from "./dialects/rye/telemetry.ts";
export type { StoredThreadMeta, ThreadMeta } from "./dialects/rye/thread-meta.ts";
export {
  type ReadEvents,
  TranscriptWriter,
  type TranscriptWriterOptions,
} from "./store/rye-transcripts.ts";
export { Thread, type ThreadOptions, type TurnResult } from "./store/thread.ts";
