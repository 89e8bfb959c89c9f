/**
 * Summary files: the SDK's summary of each session for its listings, stored next to the log.
 *
 *   summary.json   {"v":1,"start":…,"end":…,"line":…,"data":{…}}
 *
 * - A summary is the result of the SDK's own `foldSessionSummary` over the log up to `end`. It can
 *   be rebuilt from the log: a file that is missing, broken or of another log only costs reading.
 * - It belongs to a log if the last line folded into it is still there: from `start` to `end`, with
 *   the hash `line`.
 *
 * Contract: the types of Claude's Agent SDK for session stores. Copied, so that the SDK need not be
 * installed for ours; a test compares them with the SDK's own.
 */

import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { type ByteOffset, START, toByteOffset } from "../../core/base/offset.ts";
import { readSmallFile, replaceFile } from "../../core/base/replace.ts";
import type { StoredEntry } from "../../dialects/files/stored-entries.ts";
import { isDeletion } from "../../dialects/hooks/lines.ts";
import type { Session } from "../../sessions/store/session.ts";

const FILE_NAME = "summary.json";
/** Entries folded together, held in memory meanwhile. */
const FOLDED_TOGETHER = 256;

/** How far a log was folded, and the result. */
interface Folded {
  /** Of the last line folded. */
  readonly start: number;
  readonly end: number;
  readonly line: string;
  readonly data: Record<string, unknown>;
}

export class SummaryFiles {
  readonly #loadFold: () => Promise<FoldSummary>;

  constructor(loadFold: () => Promise<FoldSummary>) {
    this.#loadFold = loadFold;
  }

  /** The current summary of a session; null when it has no entries. */
  async summarise(
    session: Session,
    key: ClaudeSessionKey,
    mtime: number,
  ): Promise<ClaudeSessionSummary | null> {
    const fold = await this.#loadFold();
    const kept = await read(session);
    const run = new FoldRun(fold, key, mtime);
    if (!kept || !(await run.goOn(session, kept))) await run.all(session);
    const folded = run.result();
    if (folded && folded.end !== kept?.end) await write(session, folded);
    return run.summary;
  }
}

/** One pass over a log, from its beginning or from where the last one ended. */
class FoldRun {
  readonly #fold: FoldSummary;
  readonly #key: ClaudeSessionKey;
  readonly #mtime: number;
  #waiting: ClaudeSessionEntry[] = [];
  #last: StoredEntry | null = null;
  summary: ClaudeSessionSummary | null = null;

  constructor(fold: FoldSummary, key: ClaudeSessionKey, mtime: number) {
    this.#fold = fold;
    this.#key = key;
    this.#mtime = mtime;
  }

  /** False when the stored summary cannot be used. */
  async goOn(session: Session, { start, end, line, data }: Folded): Promise<boolean> {
    const { sessionId } = this.#key;
    try {
      let isFirst = true;
      for await (const entry of entriesOf(session, toByteOffset(start))) {
        if (!isFirst) this.#add(entry);
        else if (entry.end !== end || hashOf(entry) !== line) return false;
        else [this.#last, this.summary] = [entry, { sessionId, mtime: this.#mtime, data }];
        isFirst = false;
      }
      this.#foldWaiting();
      return !isFirst;
    } catch (cause) {
      if (cause instanceof VerbatimError) return false; // Not an offset of this log.
      throw cause;
    }
  }

  async all(session: Session): Promise<void> {
    this.#begin();
    for await (const entry of entriesOf(session, START)) this.#add(entry);
    this.#foldWaiting();
  }

  #begin(): void {
    this.summary = null;
    this.#waiting = [];
  }

  #add(entry: StoredEntry): void {
    this.#last = entry;
    if (isDeletion(entry.native)) this.#begin();
    else this.#waiting.push(entry.native as ClaudeSessionEntry);
    if (this.#waiting.length >= FOLDED_TOGETHER) this.#foldWaiting();
  }

  #foldWaiting(): void {
    if (this.#waiting.length === 0) return;
    const [entries, mtime] = [this.#waiting, this.#mtime];
    this.summary = this.#fold(this.summary ?? undefined, this.#key, entries, { mtime });
    this.#waiting = [];
  }

  /** What to store; null when the session has no entries. */
  result(): Folded | null {
    const [last, summary] = [this.#last, this.summary];
    if (!last || !summary) return null;
    return { start: last.start, end: last.end, line: hashOf(last), data: summary.data };
  }
}

function entriesOf(session: Session, from: ByteOffset): AsyncGenerator<StoredEntry> {
  return session.entries({ from, onBadLine: "skip" });
}

function hashOf({ native }: StoredEntry): string {
  return createHash("sha256").update(JSON.stringify(native)).digest("hex");
}

async function read(session: Session): Promise<Folded | null> {
  return inDirectory(session, async (directory) => {
    const text = await readSmallFile(directory, FILE_NAME);
    const { v, start, end, line, data } = JSON.parse(text ?? "null") as Partial<Folded & { v: 1 }>;
    const isWhole = v === 1 && isOffset(start) && isOffset(end) && typeof line === "string";
    return isWhole && typeof data === "object" && data !== null ? { start, end, line, data } : null;
  });
}

async function write(session: Session, folded: Folded): Promise<void> {
  await inDirectory(session, async (directory) => {
    replaceFile(directory, FILE_NAME, `${JSON.stringify({ v: 1, ...folded })}\n`);
  });
}

type InDirectory<T> = (
  directory: Awaited<ReturnType<typeof nodeHost.files.openDirectory>>,
) => Promise<T>;

/** Null on failure: a file that only saves reading is not worth an error. */
async function inDirectory<T>(session: Session, work: InDirectory<T>): Promise<T | null> {
  const { root, path } = session;
  try {
    const directory = await nodeHost.files.openDirectory(dirname(path), { create: false, root });
    try {
      return await work(directory);
    } finally {
      directory.close();
    }
  } catch {
    return null;
  }
}

function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The SDK's own. Versions before 0.2.118 do not have it, and do not ask for summaries. */
export async function foldOfSdk(): Promise<FoldSummary> {
  let reason = "this version of @anthropic-ai/claude-agent-sdk has no foldSessionSummary";
  let cause: unknown;
  try {
    const sdk: { foldSessionSummary?: unknown } = await import("@anthropic-ai/claude-agent-sdk");
    if (typeof sdk.foldSessionSummary === "function") return sdk.foldSessionSummary as FoldSummary;
  } catch (error) {
    cause = error;
    reason = "@anthropic-ai/claude-agent-sdk cannot be imported from here";
  }
  throw new VerbatimError(
    "BAD_SETTING",
    `cannot summarise sessions: ${reason}; install 0.2.118 or later, or pass foldSessionSummary`,
    { setting: "foldSessionSummary", from: "options", reason },
    { cause },
  );
}

/** Names a transcript; `subpath` for a subagent's. The SDK's `SessionKey`. */
export interface ClaudeSessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** One line of a transcript. The SDK's `SessionStoreEntry`. */
export interface ClaudeSessionEntry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [key: string]: unknown;
}

/** A session in a listing. The SDK's `SessionSummaryEntry`. */
export interface ClaudeSessionSummary {
  sessionId: string;
  mtime: number;
  data: Record<string, unknown>;
}

/** The SDK's `foldSessionSummary`. */
export type FoldSummary = (
  previous: ClaudeSessionSummary | undefined,
  key: ClaudeSessionKey,
  entries: ClaudeSessionEntry[],
  options?: { mtime?: number },
) => ClaudeSessionSummary;
