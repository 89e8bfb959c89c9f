/**
 * Sidecar file: `<log>.checkpoints`, the checkpoints of a log whose readers must not see them.
 *
 * SC1  Written only with the log's lock held, after the log is synced: it never covers what is not
 *      there. One line is one write; a line that a crash cut short is kept aside before the next.
 */

import { errnoOf } from "../../base/errors.ts";
import type { Directory, OpenFile } from "../../base/files.ts";
import type { Host } from "../../base/host.ts";
import { openPlace } from "../../log/place.ts";
import { recover, repairTail } from "../../log/repair.ts";
import { type SessionLog, sidecarOf } from "../session-log.ts";

export class SidecarFile {
  readonly #directory: Directory;
  readonly #file: OpenFile;
  #isNew = false;

  private constructor(directory: Directory, file: OpenFile) {
    this.#directory = directory;
    this.#file = file;
  }

  /** The sidecar of a log, to append to; made when missing, its torn tail kept aside and cut. */
  static async open(host: Host, { logId, root }: SessionLog): Promise<SidecarFile> {
    const place = await openPlace(host, sidecarOf(logId), { create: false, root });
    try {
      const file = place.directory.open(place.name, "append");
      try {
        await repairTail(place, file);
        return new SidecarFile(place.directory, file);
      } catch (cause) {
        file.close();
        throw cause;
      }
    } catch (cause) {
      place.directory.close();
      throw cause;
    }
  }

  /**
   * Makes what a sidecar holds durable before anything is signed on top of it: after a failed sync
   * its pages may be in memory only (log/repair.ts, R2).
   */
  static async recover(host: Host, log: SessionLog): Promise<void> {
    const there = await SidecarFile.openToRead(host, log);
    there?.close();
    if (!there) return;
    const place = await openPlace(host, sidecarOf(log.logId), { create: false, root: log.root });
    try {
      const file = place.directory.open(place.name, "append");
      try {
        await recover(place, file, null);
        await place.directory.sync();
      } finally {
        file.close();
      }
    } finally {
      place.directory.close();
    }
  }

  /** The sidecar of a log, to read; null when there is none. */
  static async openToRead(host: Host, { logId, root }: SessionLog): Promise<OpenFile | null> {
    const place = await openPlace(host, sidecarOf(logId), { create: false, root });
    try {
      return place.directory.open(place.name, "read");
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return null;
      throw cause;
    } finally {
      place.directory.close();
    }
  }

  get size(): number {
    return this.#file.size();
  }

  /** Appends whole lines, all of them or, refused, none. They are not durable before `sync`. */
  write(lines: Uint8Array): void {
    this.#isNew ||= this.size === 0;
    const taken = this.#file.write(lines);
    if (taken === lines.length) return;
    this.#file.truncate(this.size - taken);
    throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
  }

  /** Makes what was written durable, and the file's name when it is new. */
  async sync(): Promise<void> {
    await this.#file.sync();
    if (this.#isNew) await this.#directory.sync();
  }

  close(): void {
    this.#file.close();
    this.#directory.close();
  }
}
