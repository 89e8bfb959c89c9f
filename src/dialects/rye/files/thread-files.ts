/** Thread files: reading and replacing a thread's `thread.json`, and rendering its log. */

import { join } from "node:path";
import { VerbatimError } from "../../../core/base/errors.ts";
import type { Host } from "../../../core/base/host.ts";
import { readSmallFile, replaceFileDurably } from "../../../core/base/replace.ts";
import { LogReader } from "../../../core/log/reader.ts";
import type { BadEntry } from "../../files/stored-entries.ts";
import { type ReadEnvelope, type RyeEvent, readEnvelope } from "../envelope.ts";
import { type MarkdownOptions, readPrinted, renderEvent } from "../markdown.ts";
import { MetaRebuilder } from "../rebuild-meta.ts";
import { logPath, META_NAME, THREADS_PATH, threadSegments } from "../thread-id.ts";
import { formatThreadMeta, type StoredThreadMeta } from "../thread-meta.ts";
import { parseMeta } from "./derived-files.ts";

/** The events of a thread in order; other lines are skipped, and `onBadLine` is called for each. */
export async function* threadEvents(
  host: Host,
  projectPath: string,
  threadId: string,
  onBadLine: (bad: BadEntry) => void = () => {},
  read: (value: unknown, line: Uint8Array) => ReadEnvelope = readEnvelope,
): AsyncGenerator<RyeEvent> {
  const logId = logPath(threadId).join("/");
  const options = { root: projectPath, onBadLine, takesUnterminated: true };
  for await (const { value, bytes, number, start } of new LogReader(host, logId, options)) {
    const { event, fault } = read(value, bytes);
    if (event) yield event;
    else onBadLine({ line: number === null ? null : number + 1, offset: start, reason: fault });
  }
}

/**
 * A thread's `thread.json`; if it is missing or corrupt, rebuilt from the log and marked
 * `reconstructed`; null if there is neither. Writes nothing.
 */
export async function readThreadMeta(
  host: Host,
  projectPath: string,
  threadId: string,
): Promise<StoredThreadMeta | null> {
  try {
    const stored = await readStoredMeta(host, projectPath, threadId);
    if (stored) return stored;
    const rebuilder = new MetaRebuilder(threadId);
    for await (const event of threadEvents(host, projectPath, threadId)) rebuilder.add(event);
    return rebuilder.meta();
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw cause;
  }
}

/** A thread's `thread.json` as stored; null if it is missing or corrupt. */
export async function readStoredMeta(
  host: Host,
  projectPath: string,
  threadId: string,
): Promise<StoredThreadMeta | null> {
  try {
    const directory = await host.files.openDirectory(threadPath(projectPath, threadId), {
      create: false,
      root: projectPath,
    });
    try {
      return parseMeta(await readSmallFile(directory, META_NAME));
    } finally {
      directory.close();
    }
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw cause;
  }
}

/** The directive of an existing thread, from its thread.json or its first event; null: none. */
export async function directiveOf(
  host: Host,
  root: string,
  threadId: string,
): Promise<string | null> {
  const stored = (await readStoredMeta(host, root, threadId))?.directive;
  if (stored) return stored;
  try {
    for await (const { directive } of threadEvents(host, root, threadId)) {
      if (directive) return directive;
    }
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND")) throw cause;
  }
  return null;
}

export async function writeThreadMeta(
  host: Host,
  projectPath: string,
  threadId: string,
  meta: StoredThreadMeta,
): Promise<void> {
  const directory = await host.files.openDirectory(threadPath(projectPath, threadId), {
    create: true,
    root: projectPath,
  });
  try {
    await replaceFileDurably(directory, META_NAME, formatThreadMeta(meta));
  } finally {
    directory.close();
  }
}

/** A thread's log as markdown, one event at a time. */
export async function* renderThread(
  host: Host,
  projectPath: string,
  threadId: string,
  options: MarkdownOptions,
  onBadLine?: (bad: BadEntry) => void,
): AsyncGenerator<string> {
  for await (const event of threadEvents(host, projectPath, threadId, onBadLine, readPrinted)) {
    const text = renderEvent(event, options);
    if (text !== "") yield text;
  }
}

/** The directory of a thread. */
export function threadPath(projectPath: string, threadId: string): string {
  return join(projectPath, ...THREADS_PATH, ...threadSegments(threadId));
}

function isMissing(cause: unknown): boolean {
  if (cause instanceof VerbatimError) return cause.code === "LOG_NOT_FOUND";
  return (cause as { code?: unknown } | null)?.code === "ENOENT";
}
