/**
 * Log lock: one writer at a time, across processes.
 *
 * The kernel's lock on `<log>.lock` decides, and ends with its holder. The file's text is a hint
 * for messages, and says how far the log is known to be durable.
 *
 * L1  Waiting is polling. A blocking lock call would occupy one of Node's four worker threads; four
 *     waiters would leave none for the sync of the holder they wait for.
 * L2  People delete lock files. So an `exclusive` writer also locks the log itself, and a `shared`
 *     writer switches to the new lock file as soon as it sees that others wrote.
 * L3  Readers never lock `<log>.lock` to read. A reader that finds bytes without an LF briefly
 *     takes a shared lock to learn whether a writer is at work, so a writer retries a first
 *     refusal.
 */

import { errnoOf, type LockHolder, VerbatimError } from "../base/errors.ts";
import type { Directory, OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";

/** Refusals that a reader's probe (L3) can explain, and the pause between tries. */
const PROBE_TRIES = 3;
const PROBE_PAUSE_MS = 2;
const POLL_MS_MAX = 8;

/** The text of a lock file. Any part may be missing or wrong: it is a hint. */
export interface LockHint {
  readonly holder: LockHolder;
  /** Everything before this was synced, and no later sync is known to have failed on it. */
  readonly synced: number | null;
}

const NO_HINT: LockHint = { holder: "unknown", synced: null };

export class LogLock {
  readonly #logPath: string;
  readonly #host: Host;
  readonly #open: () => OpenFile;
  #file: OpenFile;

  constructor(host: Host, directory: Directory, logName: string) {
    this.#logPath = `${directory.path}/${logName}`;
    this.#host = host;
    this.#open = () => directory.open(`${logName}.lock`, "update");
    this.#file = this.#open();
  }

  /** Takes the lock if it is free, without checking whether its file was deleted (L2). */
  tryAcquire(): boolean {
    return this.#file.tryLock("exclusive");
  }

  /** Resolves with the lock held, or refuses with LOG_LOCKED after about `waitMs`. */
  async acquire(waitMs: number, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#host;
    const deadline = clock.monotonicMs() + waitMs;
    for (let tries = 1; !this.#acquireLinked(); tries++) {
      signal?.throwIfAborted();
      if (tries > PROBE_TRIES && clock.monotonicMs() >= deadline) throw await this.lockedError();
      await clock.sleep(Math.min(PROBE_PAUSE_MS * tries, POLL_MS_MAX), signal);
    }
  }

  #acquireLinked(): boolean {
    while (this.tryAcquire()) {
      if (this.#file.isLinked()) return true;
      this.#file.close();
      this.#file = this.#open();
    }
    return false;
  }

  release(): void {
    this.#file.unlock();
  }

  hint(): Promise<LockHint> {
    return hintIn(this.#file);
  }

  /** Writes the holder. While the log is written, how far it is durable is unknown. */
  sayHeld(): void {
    this.#write(this.#host.process);
  }

  /** Writes how far the log is durable, for the next process that opens it. */
  saySynced(synced: number): void {
    this.#write({ synced });
  }

  /** Closing frees the lock too. */
  close(): void {
    this.#file.close();
  }

  #write(hint: object): void {
    try {
      this.#file.truncate(0);
      this.#file.writeAt(Buffer.from(`${JSON.stringify(hint)}\n`), 0);
    } catch {
      // A missing or truncated hint reads as "unknown", which is always safe.
    }
  }

  async lockedError(): Promise<VerbatimError> {
    const { holder } = await this.hint();
    const who = holder === "unknown" ? "unknown" : `pid ${holder.pid}, since ${holder.started}`;
    return new VerbatimError(
      "LOG_LOCKED",
      `${this.#logPath} is locked by another writer (${who}); ` +
        "wait for it, or stop it. A program can open with a longer lockWaitMs",
      { path: this.#logPath, holder },
    );
  }
}

/** Whether a writer is at work on the log right now (L3). Where nothing can be locked: it may be. */
export function isBeingWritten(directory: Directory, logName: string): boolean {
  try {
    return lockState(directory, logName) === "held";
  } catch (cause) {
    if (errnoOf(cause) === "LOCK_UNAVAILABLE") return true;
    throw cause;
  }
}

/** `none`: no writer of ours has opened the log, or its lock file was deleted (L2). */
export type LockState = "held" | "free" | "none";

export function lockState(directory: Directory, logName: string): LockState {
  let file: OpenFile;
  try {
    file = directory.open(`${logName}.lock`, "read");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return "none";
    throw cause;
  }
  try {
    return file.tryLock("shared") ? "free" : "held";
  } finally {
    file.close();
  }
}

/** The current writer of the log, as its lock file names it; null when there is none. */
export async function writerOf(directory: Directory, logName: string): Promise<LockHolder | null> {
  if (!isBeingWritten(directory, logName)) return null;
  let file: OpenFile;
  try {
    file = directory.open(`${logName}.lock`, "read");
  } catch {
    return "unknown"; // The lock file was deleted (L2), but the lock is held.
  }
  try {
    return (await hintIn(file)).holder;
  } finally {
    file.close();
  }
}

async function hintIn(file: OpenFile): Promise<LockHint> {
  const text = Buffer.alloc(512);
  const count = await file.read(text, 0);
  return parseHint(text.toString("utf8", 0, count));
}

function parseHint(text: string): LockHint {
  try {
    const { pid, started, synced } = JSON.parse(text) as Record<string, unknown>;
    const isHeld = typeof pid === "number" && typeof started === "string";
    const isEnd = typeof synced === "number" && Number.isSafeInteger(synced) && synced >= 0;
    return {
      holder: isHeld ? { pid, started } : "unknown",
      synced: isEnd ? synced : null,
    };
  } catch {
    return NO_HINT;
  }
}
