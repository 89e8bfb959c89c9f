/**
 * Install: puts a session that was verified elsewhere into a store, byte for byte; and removes one
 * that could not be finished.
 *
 * - The id is reserved first (sessions/store/session-ids.ts), the log comes last, by a rename: no
 *   reader, and no crash, ever finds a part of a log. Everything else is durable before.
 * - The written files have the stated hashes, or nothing of them stays.
 * - Removing deletes what we made and nothing else.
 */

import { createHash } from "node:crypto";
import { rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ioError, isNoSpace, VerbatimError } from "../../core/base/errors.ts";
import { writeAll } from "../../core/base/file-steps.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { LogLock } from "../../core/log/lock.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { SessionIds, sessionExists } from "../../sessions/store/session-ids.ts";

/** A file of the session, by its name in the log's directory. */
export interface InstalledFile {
  readonly name: string;
  readonly sha256: string;
  readonly chunks: () => AsyncIterable<Uint8Array>;
}

export interface InstallParts {
  readonly dialect: string;
  readonly root: string;
  readonly id: string;
  readonly log: Omit<InstalledFile, "name">;
  readonly others: readonly InstalledFile[];
}

/**
 * Refuses with SESSION_EXISTS, NO_SPACE, IO_ERROR; then nothing of it is there. Returns what is
 * needed to remove it.
 */
export async function installSession(host: Host, parts: InstallParts): Promise<Traces> {
  const { dialect, root, id, log, others } = parts;
  const { newIds } = dialectNamed(dialect).writing ?? {};
  const pathOf = (each: string) => join(root, ...dialectNamed(dialect).naming.logPath(each));
  const path = pathOf(id);
  const traces = await Traces.before(host, { dialect, root, path });
  if (!(await new SessionIds(host, { newIds, root, pathOf }).win(id))) throw sessionExists(id);
  try {
    const directory = await host.files.openDirectory(dirname(path), { create: false, root });
    const lock = new LogLock(host, directory, basename(path));
    try {
      await lock.acquire(0);
      for (const file of others) await writeNew(directory, file);
      const name = basename(path);
      const bytes = await writeNew(directory, { ...log, name: `${name}.tmp` });
      directory.rename(`${name}.tmp`, name);
      await directory.sync();
      lock.saySynced(bytes);
      return traces;
    } finally {
      lock.close();
      directory.close();
    }
  } catch (cause) {
    await traces.remove();
    throw installError(path, cause);
  }
}

async function writeNew(
  directory: Directory,
  { name, sha256, chunks }: InstalledFile,
): Promise<number> {
  const file = directory.open(name, "new");
  try {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of chunks()) {
      hash.update(chunk);
      bytes += chunk.length;
      writeAll(file, chunk);
    }
    if (hash.digest("hex") !== sha256) throw changed(`${directory.path}/${name}`, bytes);
    await file.sync();
    return bytes;
  } finally {
    file.close();
  }
}

/** The contents of a session's place before it was created. */
export class Traces {
  readonly #host: Host;
  readonly #root: string;
  readonly #path: string;
  /** Null when there was no such directory. */
  readonly #before: ReadonlySet<string> | null;
  readonly #isShared: boolean;

  private constructor(host: Host, place: TracedPlace, before: ReadonlySet<string> | null) {
    this.#host = host;
    this.#root = place.root;
    this.#path = place.path;
    this.#before = before;
    // Where sessions share a directory, others may make theirs meanwhile.
    this.#isShared = !("logName" in dialectNamed(place.dialect).naming.layout);
  }

  static async before(host: Host, place: TracedPlace): Promise<Traces> {
    const directory = await openIfThere(host, place.root, dirname(place.path));
    const before = directory && new Set(directory.names());
    directory?.close();
    return new Traces(host, place, before);
  }

  /** For a session whose id is certainly new. */
  static ofNew(host: Host, place: TracedPlace): Traces {
    return new Traces(host, place, null);
  }

  /** Removes files added since. Those that cannot be removed stay; doctor lists them. */
  async remove(): Promise<void> {
    const logName = basename(this.#path);
    const directory = await openIfThere(this.#host, this.#root, dirname(this.#path));
    if (!directory) return;
    for (const name of directory.names()) {
      if (this.#before?.has(name) || (this.#isShared && !name.startsWith(logName))) continue;
      try {
        directory.remove(name);
      } catch {
        // A directory, or no permission to remove it.
      }
    }
    directory.close();
    if (this.#before) return;
    try {
      rmdirSync(dirname(this.#path));
    } catch {
      // Another process put something there, which stays.
    }
  }
}

interface TracedPlace {
  readonly dialect: string;
  readonly root: string;
  /** The log's. */
  readonly path: string;
}

async function openIfThere(host: Host, root: string, path: string): Promise<Directory | null> {
  try {
    return await host.files.openDirectory(path, { create: false, root });
  } catch {
    return null; // Missing; or it cannot be opened, and the writer reports that.
  }
}

function changed(path: string, offset: number): VerbatimError {
  return new VerbatimError(
    "CHANGED_WHILE_READ",
    `the source of ${path} changed since it was verified; nothing was written`,
    { path, offset },
  );
}

function installError(path: string, cause: unknown): VerbatimError {
  if (!isNoSpace(cause)) return ioError(path, "writing", cause);
  return new VerbatimError(
    "NO_SPACE",
    `no space for ${path}; nothing was written: free some and unpack it again`,
    { path, end: 0, bytes: 0 },
    { cause },
  );
}
