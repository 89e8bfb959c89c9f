/**
 * Outbox: which sessions are to be sent to one server, and how far each was delivered
 * (docs/formats/remote.md). In the user's state directory, so that the next process continues.
 *
 *     <key>.waiting   durable: the session has, or may get, lines that the server does not have
 *     <key>.json      how far it was delivered; if lost, the server's copy is read back
 *     sender.json     who sends, as noted with the first session: the name of a machine may change
 *
 * - A session is delivered by one process at a time: the one that holds the lock of its
 *   `<key>.waiting`. Other machines are excluded by the server (remote-stream.ts).
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { badOption } from "../../../core/base/choice.ts";
import { errnoOf } from "../../../core/base/errors.ts";
import { writeAtOnce } from "../../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../../core/base/files.ts";
import type { Host } from "../../../core/base/host.ts";
import { readSmallFile, replaceFile, replaceFileDurably } from "../../../core/base/replace.ts";
import { type Sender, senderPath } from "../../../sessions/list/whose.ts";
import { type Remote, thisSender } from "../remote-url.ts";
import { isFolder, streamOf } from "../session-paths.ts";
import { type DeliveredPart, NOTHING_DELIVERED } from "./file-delivery.ts";

/** A session as it is on this machine. */
export interface OutgoingSession {
  readonly dialect: string;
  /** The directory that the paths below are in. */
  readonly root: string;
  /** The log's path in its store, which names it on the server. */
  readonly path: string;
  /** The path of the file: that of the log, or of a guard's copy. */
  readonly file: string;
  readonly generation: number | null;
  /** A guard's copy of kind `rows`. */
  readonly isRows?: boolean;
}

/** How far the two files of a session were delivered. */
export interface DeliveryRecord {
  readonly log: DeliveredPart;
  readonly sidecar: DeliveredPart;
}

const WAITING = ".waiting";
const FIELDS = ["dialect", "root", "path", "file"] as const;
const KEY_CHARS = 32;
const SENDER_NAME = "sender.json";

export class SessionOutbox {
  readonly #folder: string;
  readonly sender: Sender;
  readonly #directory: Directory;

  private constructor(folder: string, sender: Sender, directory: Directory) {
    this.#folder = folder;
    this.sender = sender;
    this.#directory = directory;
  }

  static async open(host: Host, stateDirectory: string, remote: Remote): Promise<SessionOutbox> {
    const name = hashed(`${remote.url}\n${remote.folder}`).slice(0, 16);
    const path = join(stateDirectory, "remote", name);
    const directory = await host.files.openDirectory(path, { create: true });
    try {
      return new SessionOutbox(remote.folder, await senderFor(remote, directory), directory);
    } catch (cause) {
      directory.close();
      throw cause;
    }
  }

  streamOf({ dialect, generation, isRows = false, path }: OutgoingSession): string {
    const [folder, sender] = [this.#folder, this.sender];
    return streamOf({ folder, sender, dialect, generation, isRows }, path);
  }

  /** Notes durably that the session is to be sent. The guard notes nothing: it looks at all. */
  async add(session: OutgoingSession): Promise<void> {
    const isDurable = session.generation === null;
    const file = this.#directory.open(this.#nameOf(session), "update");
    try {
      if (file.size() > 0) return; // Noted, or being noted under the lock by another process.
      writeAtOnce(file, new TextEncoder().encode(`${JSON.stringify(session)}\n`), 0);
      if (isDurable) await file.sync();
    } finally {
      file.close();
    }
    if (isDurable) await this.#directory.sync();
  }

  /** How far the session was delivered, as far as this machine knows. */
  async record(session: OutgoingSession): Promise<DeliveryRecord> {
    return recordIn(await readSmallFile(this.#directory, `${this.#keyOf(session)}.json`));
  }

  /** The sessions that wait; what cannot be read is skipped. */
  async waiting(): Promise<OutgoingSession[]> {
    const names = this.#directory.names().filter((name) => name.endsWith(WAITING));
    const found: OutgoingSession[] = [];
    for (const name of names) {
      const session = sessionIn(await readSmallFile(this.#directory, name));
      if (session !== null) found.push(session);
    }
    return found;
  }

  /**
   * Calls `deliver` with the record of the session while no other process delivers it, and stores
   * the record after it, also if it throws. False: another process delivers it now.
   */
  async alone(
    session: OutgoingSession,
    deliver: (record: DeliveryRecord) => Promise<void>,
    recordAfter: () => DeliveryRecord,
  ): Promise<boolean> {
    await this.add(session);
    const lock = openToLock(this.#directory, this.#nameOf(session));
    if (lock === null) return false;
    try {
      const record = await this.record(session);
      try {
        await deliver(record);
      } finally {
        const after = recordAfter();
        if (JSON.stringify(after) !== JSON.stringify(record)) {
          const name = `${this.#keyOf(session)}.json`;
          replaceFile(this.#directory, name, `${JSON.stringify(after)}\n`);
        }
      }
      return true;
    } finally {
      lock.close();
    }
  }

  /** The session waits no more. */
  remove(session: OutgoingSession): void {
    try {
      this.#directory.remove(this.#nameOf(session));
    } catch (cause) {
      if (errnoOf(cause) !== "ENOENT") throw cause; // Another process removed it.
    }
  }

  close(): void {
    this.#directory.close();
  }

  #keyOf(session: OutgoingSession): string {
    return hashed(this.streamOf(session)).slice(0, KEY_CHARS);
  }

  #nameOf(session: OutgoingSession): string {
    return `${this.#keyOf(session)}${WAITING}`;
  }
}

/**
 * Who sends to this folder: as noted, else as the user says, else as the system does. The name is
 * part of every path, so another one would send all sessions again.
 */
async function senderFor({ sender, folder }: Remote, directory: Directory): Promise<Sender> {
  const noted = senderIn(await readSmallFile(directory, SENDER_NAME));
  if (noted === null) {
    const first = sender ?? thisSender();
    await replaceFileDurably(directory, SENDER_NAME, `${JSON.stringify(first)}\n`);
    return first;
  }
  if (sender === null || senderPath(sender) === senderPath(noted)) return noted;
  const file = join(directory.path, SENDER_NAME);
  throw badOption(
    "sender",
    `is ${sender.user}@${sender.machine}, but ${noted.user}@${noted.machine} has sent sessions to ` +
      `${folder}; use that, or remove ${file} to send all of them again`,
  );
}

function senderIn(text: string | null): Sender | null {
  const { machine, user } = objectIn(text) ?? {};
  if (typeof machine !== "string" || typeof user !== "string") return null;
  return isFolder(machine) && isFolder(user) ? { machine, user } : null;
}

function openToLock(directory: Directory, name: string): OpenFile | null {
  const file = directory.open(name, "update");
  if (file.tryLock("exclusive")) return file;
  file.close();
  return null;
}

function sessionIn(text: string | null): OutgoingSession | null {
  const value = objectIn(text);
  if (value === null || FIELDS.some((name) => typeof value[name] !== "string")) return null;
  const { generation } = value;
  if (generation !== null && !Number.isSafeInteger(generation)) return null;
  return value as unknown as OutgoingSession;
}

/** A record that cannot be read is none: the server's copy is read back. */
function recordIn(text: string | null): DeliveryRecord {
  const { log, sidecar } = objectIn(text) ?? {};
  return { log: deliveredIn(log), sidecar: deliveredIn(sidecar) };
}

function deliveredIn(value: unknown): DeliveredPart {
  const { token, offset, sha256 } = (value ?? {}) as Record<string, unknown>;
  const isWhole = Number.isSafeInteger(offset) && Number(offset) >= 0;
  if (!isWhole || typeof token !== "string" || typeof sha256 !== "string") return NOTHING_DELIVERED;
  return { token, offset: Number(offset), sha256 };
}

function objectIn(text: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function hashed(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
