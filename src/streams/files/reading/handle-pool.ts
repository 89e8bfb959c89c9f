/**
 * Handle pool: the log files that are open.
 *
 * - At most `handlesMax` stay open. The least recently used one is closed for the next; when all
 *   are in use, readers wait, and only a writer may exceed the limit by one.
 * - None is closed while in use, so no descriptor can belong to another file when a read runs.
 * - Reading creates no file. A handle opened to read is replaced before an append.
 */

import { assert, VerbatimError } from "../../../core/base/errors.ts";
import type { Directory } from "../../../core/base/files.ts";
import { InFlight } from "../../../core/base/in-flight.ts";
import type { StreamState } from "../../commit/stream-state.ts";
import { StreamLogFile } from "./log-file.ts";

/**
 * Throws unless a stream's file ends where the published stream does; called before each append.
 *
 * A file that another program cut or wrote to affects only its stream: found here, the append is
 * refused (STREAM_DAMAGED). Found after the journal took it, it stops all writes of the store.
 */
export function checkEnd(pool: HandlePool, { path, file, base, end }: StreamState): void {
  const expected = end - base;
  pool.useNow(file, (log) => {
    if (log.endsAt(expected)) return;
    const size = log.sizeOnDisk();
    const remedy =
      size > expected
        ? "another program wrote to it: stop the server, and run `verbatim doctor --fix` on its directory"
        : "nothing is appended to it until it is restored from a backup";
    throw new VerbatimError(
      "STREAM_DAMAGED",
      `${log.path} has ${size} bytes, but ${expected} were appended to ${path}; ${remedy}`,
      { stream: path, offset: Math.min(size, expected), path: log.path },
    );
  });
}

interface Handle {
  readonly log: StreamLogFile;
  readonly canAppend: boolean;
  uses: number;
  /** No longer in the pool: closed with its last use. */
  isRetired: boolean;
}

export class HandlePool {
  readonly #directory: Directory;
  readonly #handlesMax: number;
  /** Most recently used last. */
  readonly #handles = new Map<string, Handle>();
  /** Readers that wait for a free handle. */
  readonly #waiting: (() => void)[] = [];
  readonly #closings = new InFlight();
  #openCount = 0;
  #isClosed = false;
  #onEmpty: (() => void) | null = null;

  constructor(directory: Directory, handlesMax: number) {
    assert(Number.isSafeInteger(handlesMax) && handlesMax > 0, "a pool holds at least one file");
    this.#directory = directory;
    this.#handlesMax = handlesMax;
  }

  /** How many files are open. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Appends or checks, without waiting. The file is created if missing. */
  useNow<T>(name: string, work: (log: StreamLogFile) => T): T {
    const handle = this.#take(name, "append");
    try {
      return work(handle.log);
    } finally {
      this.#giveBack(handle);
    }
  }

  /** Reads or syncs. Waits while all handles are in use. */
  async use<T>(name: string, work: (log: StreamLogFile) => Promise<T>): Promise<T> {
    while (!this.#isClosed && !this.#hasRoomFor(name)) {
      await new Promise<void>((go) => this.#waiting.push(go));
    }
    const handle = this.#take(name, "read");
    // A reader that was woken for a handle may have found its file open.
    if (this.#waiting.length > 0 && this.#hasRoom()) this.#waiting.shift()?.();
    try {
      return await work(handle.log);
    } finally {
      this.#giveBack(handle);
    }
  }

  /** Releases a file, now or after its last use: it will be deleted or rewritten. */
  close(name: string): void {
    const handle = this.#handles.get(name);
    if (handle !== undefined) this.#retire(name, handle);
  }

  /**
   * Resolves when every file is closed; those in use, after their use. Waiting readers are refused.
   */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    for (const go of this.#waiting.splice(0)) go();
    for (const [name, handle] of this.#handles) this.#retire(name, handle);
    if (this.#openCount > 0) await new Promise<void>((done) => (this.#onEmpty = done));
    await this.#closings.ended();
  }

  #hasRoomFor(name: string): boolean {
    return this.#handles.has(name) || this.#hasRoom();
  }

  #hasRoom(): boolean {
    if (this.#openCount < this.#handlesMax) return true;
    // In order of use, so that the first is usually idle.
    for (const { uses } of this.#handles.values()) if (uses === 0) return true;
    return false;
  }

  #take(name: string, mode: "append" | "read"): Handle {
    if (this.#isClosed) throw this.#closed();
    let handle = this.#handles.get(name);
    if (handle !== undefined && mode === "append" && !handle.canAppend) {
      this.#retire(name, handle);
      handle = undefined;
    }
    if (handle === undefined) handle = this.#open(name, mode);
    else this.#handles.delete(name);
    this.#handles.set(name, handle);
    handle.uses++;
    return handle;
  }

  #closed(): VerbatimError<"LOG_CLOSED"> {
    const { path } = this.#directory;
    return new VerbatimError("LOG_CLOSED", `${path} was closed; open it again to continue`, {
      path,
    });
  }

  #open(name: string, mode: "append" | "read"): Handle {
    while (this.#openCount >= this.#handlesMax && this.#closeOneIdle());
    const log = StreamLogFile.open(this.#directory, name, mode);
    this.#openCount++;
    return { log, canAppend: mode === "append", uses: 0, isRetired: false };
  }

  #closeOneIdle(): boolean {
    for (const [name, handle] of this.#handles) {
      if (handle.uses > 0) continue;
      this.#retire(name, handle);
      return true;
    }
    return false;
  }

  #giveBack(handle: Handle): void {
    handle.uses--;
    if (handle.uses > 0) return;
    if (handle.isRetired) this.#shut(handle);
    else if (this.#openCount > this.#handlesMax) this.#closeOneIdle();
    this.#waiting.shift()?.();
  }

  #retire(name: string, handle: Handle): void {
    this.#handles.delete(name);
    handle.isRetired = true;
    if (handle.uses === 0) this.#shut(handle);
  }

  #shut(handle: Handle): void {
    this.#openCount--;
    this.#closings.track(handle.log.close());
    if (this.#openCount === 0) this.#onEmpty?.();
  }
}
