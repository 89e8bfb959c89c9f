/**
 * Appender: the open end of one log file. Writes whole lines, undoes a write that the disk did not
 * take whole, and stops for good after a failure it cannot undo.
 *
 * Queues and callers are in `writer.ts`. The caller holds the lock.
 *
 * W1  `end` moves only after a write was taken whole, `synced` only after a sync succeeded. No
 *     caller learns of a byte before the one that covers it has moved.
 * W2  A failed sync leaves the file in an unknown state: the kernel may have dropped the dirty
 *     pages yet still show them to readers, and a later sync that succeeds proves nothing about
 *     them. So a sync is never retried. This appender is finished; opening the log again rewrites
 *     the bytes in doubt (repair.ts, R2).
 * W3  After bytes were cut off, nothing is written before the cut is durable. Otherwise a power cut
 *     could bring back the old size, with the first page of the new line followed by the rest of
 *     the old one: two lines fused into one. In `shared` mode the cut is made durable before the
 *     lock is released: another writer cannot see that there was one.
 * W5  Programs that ignore the lock may append at any time. So where a write landed is learned after
 *     it, and only bytes of ours are cut: the file's size is looked at directly before, and nothing
 *     is cut that others' bytes follow.
 * W6  Nothing is durable in a file that lost its name: the log was removed or replaced, and bytes
 *     written here vanish when it is closed.
 */

import { isNoSpace, VerbatimError } from "../base/errors.ts";
import type { Landing, OpenFile } from "../base/files.ts";
import type { LogLimits } from "../base/limits.ts";
import type { ByteOffset } from "../base/offset.ts";
import type { Turn } from "./companion.ts";
import { checkLines } from "./line-check.ts";
import type { OpenedLog } from "./open-log.ts";

/** How often lines are written again that landed in the middle of another program's line. */
const TRIES = 64;

export class Appender implements Turn {
  readonly #path: string;
  readonly #log: OpenedLog;
  readonly #file: OpenFile;
  readonly #limits: LogLimits;
  #isNameSynced: boolean;
  #end: ByteOffset;
  #synced: ByteOffset;
  #ownFrom: ByteOffset;
  #failure: VerbatimError | null = null;
  #cuts = 0;
  #cutsSynced = 0;

  /** Takes over a recovered log: everything before `end` is durable. */
  constructor(log: OpenedLog, limits: LogLimits) {
    this.#path = log.place.path;
    this.#log = log;
    this.#file = log.file;
    this.#limits = limits;
    this.#isNameSynced = log.isNameSynced;
    this.#end = log.recovery.end;
    this.#synced = log.recovery.end;
    this.#ownFrom = log.recovery.end;
  }

  /** End of the last whole line that the kernel has. */
  get end(): ByteOffset {
    return this.#end;
  }

  /** Every byte from here to the end was written here: none by another program. */
  get ownFrom(): ByteOffset {
    return this.#ownFrom;
  }

  /** Everything before this is durable. */
  get synced(): ByteOffset {
    return this.#synced;
  }

  /** Why this appender is finished, or null. */
  get failure(): VerbatimError | null {
    return this.#failure;
  }

  /** Whether the next write must wait for a sync (W3). */
  get hasUnsyncedCut(): boolean {
    return this.#cuts !== this.#cutsSynced;
  }

  /** Continues after lines of another writer, whose torn tail may have been cut. */
  moveTo(end: ByteOffset, wasCut: boolean): void {
    if (end !== this.#end) this.#ownFrom = end;
    this.#end = end;
    if (wasCut) this.#cuts++;
  }

  append(lines: Uint8Array): ByteOffset {
    checkLines(this.#path, lines, this.#limits);
    return this.write(lines, lines.length);
  }

  /**
   * Appends the first `length` bytes, whole lines, in one write. Returns where they start: after what
   * other programs appended meanwhile, which its caller has not seen (W5).
   */
  write(lines: Uint8Array, length: number): ByteOffset {
    if (this.#failure) throw this.#failure;
    for (let tries = 1; ; tries++) {
      const from = this.#end;
      const { start, beginsLine } = this.#writeOnce(lines, length, from);
      this.#end = (start + length) as ByteOffset;
      if (start !== from) this.#ownFrom = start as ByteOffset;
      if (beginsLine) return start as ByteOffset;
      // It was fused to a line that lacked its LF, and has become a part of it.
      if (tries === TRIES) throw this.fail("another program writes lines to it in pieces");
    }
  }

  #writeOnce(lines: Uint8Array, length: number, from: ByteOffset): Landing {
    let taken = 0;
    try {
      taken = this.#file.write(lines, length);
    } catch (cause) {
      throw this.#undo(lines.subarray(0, 0), length, cause);
    }
    if (taken !== length) throw this.#undo(lines.subarray(0, taken), length, { code: "ENOSPC" });
    try {
      if (this.#file.endsAt(from + length)) return { start: from, beginsLine: true };
      return this.#file.landing(lines.subarray(0, length), from);
    } catch (cause) {
      throw this.fail("it is unknown where a write landed", cause);
    }
  }

  async cutBack(start: ByteOffset): Promise<boolean> {
    if (this.#failure) throw this.#failure;
    const isLast = this.#file.size() === this.#end;
    try {
      if (isLast) this.#file.truncate(start);
    } catch (cause) {
      throw this.fail("undoing a refused append failed", cause);
    }
    this.#end = start;
    if (this.#synced > start) this.#synced = start;
    if (!isLast) return false; // W5: the next turn finds them, with those of the other program.
    this.#cuts++;
    await this.sync(); // The lines were durable; their cut must be, too.
    return true;
  }

  async settle(meanwhile?: () => void): Promise<void> {
    const mustSync = this.#log.durability === "disk" && this.#synced < this.#end;
    if (mustSync) await this.sync(meanwhile);
    else meanwhile?.();
  }

  /** Makes everything written so far durable. `meanwhile` runs during the sync. */
  async sync(meanwhile?: () => void): Promise<void> {
    try {
      const synced = this.#sync();
      meanwhile?.();
      await synced;
    } catch (cause) {
      // The next process to open the log learns from where to trust nothing (repair.ts, R2).
      this.#log.lock.saySynced(this.#synced);
      throw cause;
    }
  }

  /** Skips what is already synced: with `disk` that is nearly always everything. */
  async syncAll(): Promise<void> {
    if (this.#synced < this.#end) await this.sync();
    if (!this.#isNameSynced) await this.#syncName();
  }

  /** With `os` a new log's name is synced when something must be durable for the first time. */
  async #syncName(): Promise<void> {
    const { directory } = this.#log.place;
    try {
      await directory.sync();
      await directory.syncAncestors();
      this.#isNameSynced = true;
    } catch (cause) {
      throw this.fail("the directory's sync failed", cause);
    }
  }

  async #sync(): Promise<void> {
    if (this.#failure) throw this.#failure;
    const [end, cuts] = [this.#end, this.#cuts];
    try {
      await this.#file.sync();
    } catch (cause) {
      throw this.fail("the sync failed", cause);
    }
    // Of two concurrent syncs (a flush, and closing) the kernel reports a failure to only one; the
    // other vouches for nothing either (W2).
    if (this.#failure) throw this.#failure;
    if (!this.#file.isLinked()) {
      throw this.fail("the log was removed or replaced");
    }
    if (end > this.#synced) this.#synced = end;
    this.#cutsSynced = cuts;
  }

  /** Ends this appender for good (W2). */
  fail(what: string, cause?: unknown): VerbatimError {
    this.#failure ??= new VerbatimError(
      "LOG_WRITER_FAILED",
      `${this.#path}: ${what} after byte ${this.#synced}; later bytes may be lost. ` +
        "Close this writer and open the log again to recover",
      { path: this.#path, end: this.#synced },
      { cause },
    );
    return this.#failure;
  }

  /** Cuts a write that was not taken whole, so that no later line is fused to its remains. */
  #undo(taken: Uint8Array, length: number, cause: unknown): VerbatimError {
    const end = this.#end;
    try {
      const isExpected = this.#file.endsAt(end + taken.length);
      const start = isExpected || taken.length === 0 ? end : this.#file.landing(taken, end).start;
      // W5: the beginning of our line is now in another program's line.
      if (taken.length > 0 && this.#file.size() !== start + taken.length)
        return this.fail("another program wrote to it without the lock", cause);
      if (isExpected || taken.length > 0) {
        this.#file.truncate(start);
        this.#cuts++;
      }
    } catch (second) {
      return this.fail("a write failed, and so did undoing it", second);
    }
    if (!isNoSpace(cause)) return this.fail("a write failed", cause);
    return new VerbatimError(
      "NO_SPACE",
      `no room for ${length} bytes in ${this.#path}; the log is unchanged, and accepts ` +
        "appends again when there is room",
      { path: this.#path, end, bytes: length },
      { cause },
    );
  }
}
