/**
 * Session files: the log of a signed session, and its sidecar `<log>.checkpoints`, which holds the
 * checkpoints if the log's readers must not see them.
 *
 * The sidecar is written only with the log's lock held, after the log is synced: a checkpoint never
 * covers bytes that are missing. One line is one write; a line that a crash cut short is copied to
 * another file before it is cut.
 */

import { ioError } from "../../core/base/errors.ts";
import { diskFull, openIfThere } from "../../core/base/file-steps.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { type LogPath, openLogPath, openToRead } from "../../core/log/log-path.ts";
import { recover, repairTail } from "../../core/log/repair.ts";
import type { Heads, RememberedHead, RootNames } from "../heads/heads.ts";
import { type SignableLog, sidecarOf } from "../session-log.ts";
import type { SignedFiles } from "./signed-log.ts";
import type { SignerHead } from "./signer-state.ts";

export class SignedSessionFiles implements SignedFiles {
  readonly #host: Host;
  readonly #log: SignableLog;
  /** The sidecar's length as far as known; null after a failed write. */
  #bytes: number | null = 0;
  #mayHaveWritten = false;

  constructor(host: Host, log: SignableLog) {
    this.#host = host;
    this.#log = log;
  }

  async openLog(): Promise<OpenFile> {
    const { logId, root } = this.#log;
    const place = await openLogPath(this.#host, logId, { create: false, root });
    try {
      return openToRead(place);
    } finally {
      place.directory.close();
    }
  }

  /**
   * Makes the sidecar's content durable before anything is signed on top of it: after a failed sync
   * its pages may be in memory only (core/log/repair.ts, R2).
   */
  async openSidecar(): Promise<OpenFile | null> {
    const there = await openSidecar(this.#host, this.#log);
    there?.close();
    if (there) {
      await this.#inPlace(async (file, place) => {
        await recover(place, file, null);
        await place.directory.sync();
      });
    }
    const sidecar = await openSidecar(this.#host, this.#log);
    this.#bytes = sidecar?.size() ?? 0;
    this.#mayHaveWritten = false;
    return sidecar;
  }

  /** The last write failed, but its checkpoints may still be in the file. */
  get mayHaveWritten(): boolean {
    return this.#mayHaveWritten;
  }

  /** False after a failed write; with `looks`, also if another process has signed. */
  async isKnown(looks: boolean): Promise<boolean> {
    if (this.#bytes === null || !looks) return this.#bytes !== null;
    try {
      const sidecar = await openSidecar(this.#host, this.#log);
      const size = sidecar?.size() ?? 0;
      sidecar?.close();
      return size === this.#bytes;
    } catch (cause) {
      throw this.#error("reading", cause);
    }
  }

  async appendSidecar(lines: Uint8Array): Promise<boolean> {
    const size = this.#bytes ?? 0;
    this.#bytes = null; // Until the write has succeeded.
    this.#mayHaveWritten = false;
    try {
      await this.#inPlace(async (file, place) => {
        await repairTail(place, file);
        const before = file.size();
        try {
          writeLines(file, lines);
        } finally {
          this.#mayHaveWritten = file.size() !== before;
        }
        await file.sync();
        if (before === 0) await place.directory.sync();
      });
    } catch (cause) {
      throw this.#error("appending", cause);
    }
    this.#mayHaveWritten = false;
    this.#bytes = size + lines.length;
    return true;
  }

  async #inPlace(work: (file: OpenFile, place: LogPath) => Promise<void>): Promise<void> {
    const { logId, root } = this.#log;
    const place = await openLogPath(this.#host, sidecarOf(logId), { create: false, root });
    try {
      const file = place.directory.open(place.name, "append");
      try {
        await work(file, place);
      } finally {
        file.close();
      }
    } finally {
      place.directory.close();
    }
  }

  #error(operation: string, cause: unknown): Error {
    const { root, logId } = this.#log;
    return ioError(`${root}/${sidecarOf(logId)}`, operation, cause);
  }
}

/** The sidecar of a log, to read; null when there is none. */
export async function openSidecar(
  host: Host,
  { logId, root }: SignableLog,
): Promise<OpenFile | null> {
  const place = await openLogPath(host, sidecarOf(logId), { create: false, root });
  try {
    return openIfThere(place.directory, place.name);
  } finally {
    place.directory.close();
  }
}

/** Appends whole lines, all of them or none. */
function writeLines(file: OpenFile, lines: Uint8Array): void {
  const taken = file.write(lines);
  if (taken === lines.length) return;
  file.truncate(file.size() - taken);
  throw diskFull();
}

interface SessionPins {
  remembered(): Promise<RememberedHead>;
  pin(head: SignerHead): void;
}

/**
 * Where the heads of one session are pinned, and its existing pin.
 *
 * `namesOf` returns the names of its store in pins. It is called once the log exists.
 */
export function sessionPins(
  heads: Heads,
  id: string,
  namesOf: () => Promise<RootNames>,
): SessionPins {
  let place = "";
  return {
    async remembered() {
      const names = await namesOf();
      place = names.place;
      return heads.remembered({ place, id, names });
    },
    pin(head) {
      heads.pin({ ...head, place, id }, "signed");
    },
  };
}
