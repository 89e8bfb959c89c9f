/**
 * Restore: writes a guarded session back as its program wrote it, with its time and mode.
 *
 * - A file that is there is replaced only if it is a beginning of what is written; any other only
 *   on request, and then it is renamed and kept.
 */

import { chmodSync, lstatSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { VerbatimError } from "../core/base/errors.ts";
import { openAgain, openIfThere } from "../core/base/file-steps.ts";
import type { Directory } from "../core/base/files.ts";
import type { Host } from "../core/base/host.ts";
import { dialectNamed } from "../dialects/all.ts";
import { latestRows } from "../dialects/files/guard-rows.ts";
import { generationFile, readGeneration } from "../dialects/files/guard-store.ts";
import { followingHost } from "../dialects/files/moved-directories.ts";
import { commonBytes } from "./compare.ts";
import { streamGeneration } from "./generation.ts";
import type { GuardedSession } from "./guarded-sessions.ts";
import { readVersions, versionBytes } from "./versions.ts";

export interface RestoreOptions {
  /** Written below this directory, as below the program's own. Default: the program's own. */
  readonly to?: string | undefined;
  /** Default: the newest. `version` is of a file that is written again as a whole. */
  readonly generation?: number | undefined;
  readonly version?: number | undefined;
  readonly force?: boolean;
  /** Where rows of a database are written to. */
  readonly exportTo: string;
}

export interface RestoredFile {
  readonly path: string;
  readonly bytes: number;
  readonly generation: number;
  /** The file already had these bytes. */
  readonly isSame: boolean;
  /** Where the file that was there before is now. */
  readonly keptAs: string | null;
  /** It is an export: the program does not read it. */
  readonly isExport: boolean;
}

/** What is written, and with which time and mode. */
interface Content {
  readonly bytes: AsyncIterable<Buffer>;
  readonly mtimeMs: number;
  readonly mode: number;
}

export async function restore(
  host: Host,
  session: GuardedSession,
  options: RestoreOptions,
): Promise<RestoredFile> {
  const { root, kept } = session;
  const generation = options.generation ?? kept.generation;
  const isExport = kept.mode === null;
  const place = isExport ? options.exportTo : (options.to ?? root.source);
  const path = isExport ? `${basename(kept.path)}.${generation}.jsonl` : kept.path;
  const content = await contentOf(host, session, generation, options.version);
  const target = join(place, path);
  if (content === null) {
    throw refused(target, `there is no copy of generation ${generation}; \`guard status\` counts`);
  }
  const { files } = followingHost(host, root.agent, place);
  const directory = await files.openDirectory(dirname(target), { create: true, root: place });
  try {
    const name = basename(target);
    const temporary = `.${name}.restoring`;
    const bytes = await write(directory, temporary, content);
    try {
      const there = await compareThere(directory, name, temporary);
      if (there === "same") {
        directory.remove(temporary);
        return { path: target, bytes, generation, isSame: true, keptAs: null, isExport };
      }
      if (there === "different" && !options.force) {
        const reason =
          "a longer or different file is there; --force renames it and writes this one";
        throw refused(target, reason);
      }
      const keptAs = there === "different" ? rename(directory, name) : null;
      directory.rename(temporary, name);
      await directory.sync();
      const aside = keptAs === null ? null : join(dirname(target), keptAs);
      return { path: target, bytes, generation, isSame: false, keptAs: aside, isExport };
    } catch (cause) {
      removeIfThere(directory, temporary);
      throw cause;
    }
  } finally {
    directory.close();
  }
}

async function contentOf(
  host: Host,
  { root, kept }: GuardedSession,
  generation: number,
  version: number | undefined,
): Promise<Content | null> {
  const found = generationFile(root.directory, kept.path, generation);
  const mtimeMs = found?.stats.mtimeMs ?? 0;
  if (kept.kind === "bytes") {
    const bytes = streamGeneration(root.directory, kept.path, generation);
    return bytes && { bytes, mtimeMs, mode: kept.mode ?? 0o600 };
  }
  if (kept.mode === null) {
    const rows = readGeneration(root.directory, kept.path, generation);
    const dialect = dialectNamed(root.agent);
    return rows && { bytes: one(latestRows(rows, dialect)), mtimeMs, mode: 0o600 };
  }
  const options = { create: false, root: root.directory };
  const at = join(root.directory, dirname(kept.path));
  const directory = await host.files.openDirectory(at, options);
  try {
    const { versions } = await readVersions(directory, basename(kept.path));
    const wanted = versions.findLast((each) =>
      version === undefined ? each.generation === generation : each.version === version,
    );
    const bytes = wanted ? versionBytes(versions, wanted.version) : null;
    return bytes && wanted
      ? { bytes: one(bytes), mtimeMs: wanted.mtime_ms, mode: wanted.mode }
      : null;
  } finally {
    directory.close();
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Writes a new file durably; returns its length. */
async function write(directory: Directory, name: string, content: Content): Promise<number> {
  const file = openAgain(directory, name);
  let length = 0;
  try {
    for await (const bytes of content.bytes) {
      for (let at = 0; at < bytes.length; ) at += file.write(bytes.subarray(at));
      length += bytes.length;
    }
    await file.sync();
  } catch (cause) {
    removeIfThere(directory, name);
    throw cause;
  } finally {
    file.close();
  }
  const path = join(directory.path, name);
  chmodSync(path, content.mode);
  utimesSync(path, content.mtimeMs / 1000, content.mtimeMs / 1000);
  return length;
}

/** What is at the target, compared with what was written. */
async function compareThere(
  directory: Directory,
  name: string,
  written: string,
): Promise<"nothing" | "same" | "beginning" | "different"> {
  const there = openIfThere(directory, name);
  if (there === null) return "nothing";
  const fresh = directory.open(written, "read");
  try {
    if (there.size() > fresh.size()) return "different";
    const size = there.size();
    if ((await commonBytes(there, fresh, size)) !== size) return "different";
    return there.size() === fresh.size() ? "same" : "beginning";
  } finally {
    there.close();
    fresh.close();
  }
}

/** Renames a file to a free name next to it. */
function rename(directory: Directory, name: string): string {
  for (let number = 1; ; number++) {
    const aside = `${name}.before-restore-${number}`;
    if (lstatSync(join(directory.path, aside), { throwIfNoEntry: false })) continue;
    directory.rename(name, aside);
    return aside;
  }
}

function removeIfThere(directory: Directory, name: string): void {
  try {
    directory.remove(name);
  } catch {
    // It was renamed, or removed.
  }
}

function refused(path: string, reason: string): VerbatimError<"RESTORE_REFUSED"> {
  return new VerbatimError("RESTORE_REFUSED", `${path} is not written: ${reason}`, {
    path,
    reason,
  });
}
