/**
 * Generation: the file of one generation, plain or compressed (docs/formats/guard.md, "Cold
 * copies"). Compressing and expanding write a temporary file, sync it and rename it; a crash leaves
 * both forms or one, and both have the same bytes.
 */

import { createHash } from "node:crypto";
import { createReadStream, lutimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createGunzip, createGzip } from "node:zlib";
import { openAgain, openIfThere, writeAtOnce } from "../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../core/base/files.ts";
import type { Host } from "../core/base/host.ts";
import { readChunks } from "../core/log/bytes.ts";
import { type GuardRecord, generationFile } from "../dialects/files/guard-store.ts";

/** Opens a generation to append; expands it first if it is compressed. */
export async function openPlain(
  directory: Directory,
  name: string,
  generation: number,
): Promise<OpenFile> {
  const found = generationFile(directory.path, name, generation);
  const plain = `${name}.${generation}`;
  if (found?.isCompressed) await convert(directory, `${plain}.gz`, plain, createGunzip());
  const file = directory.open(plain, "append");
  file.narrow();
  return file;
}

/** Makes a plain copy durable that a guard may have left unsynced when it was killed. */
export async function syncGeneration(
  { files }: Host,
  root: string,
  path: string,
  generation: number,
): Promise<void> {
  const found = generationFile(root, path, generation);
  if (found === null || found.isCompressed) return; // It was synced before it was compressed.
  const directory = await files.openDirectory(dirname(found.file), { create: false, root });
  try {
    const file = directory.open(basename(found.file), "append");
    try {
      await file.sync();
    } finally {
      file.close();
    }
    await directory.sync();
  } finally {
    directory.close();
  }
}

/** Replaces a plain copy by a compressed one, with the same modification time. */
export async function compress(directory: Directory, name: string, mtimeMs: number): Promise<void> {
  if (!(await convert(directory, name, `${name}.gz`, createGzip()))) return;
  stamp(join(directory.path, `${name}.gz`), mtimeMs);
  directory.remove(name);
  await directory.sync();
}

/** Writes `from` as `to` through a compressor; false if there is no `from`. */
async function convert(
  directory: Directory,
  from: string,
  to: string,
  through: ReturnType<typeof createGzip>,
): Promise<boolean> {
  const source = openIfThere(directory, from);
  if (source === null) return false;
  try {
    const file = openAgain(directory, `${to}.tmp`);
    try {
      const feeding = feed(source, through);
      for await (const bytes of through) writeAtOnce(file, bytes as Buffer);
      await feeding;
      await file.sync();
    } finally {
      file.close();
    }
    directory.rename(`${to}.tmp`, to);
    await directory.sync();
    return true;
  } finally {
    source.close();
  }
}

async function feed(source: OpenFile, into: ReturnType<typeof createGzip>): Promise<void> {
  try {
    for await (const chunk of readChunks(source, 0, source.size())) {
      if (!into.write(Buffer.from(chunk))) {
        await new Promise((resolve) => into.once("drain", resolve).once("close", resolve));
      }
    }
    into.end();
  } catch (cause) {
    into.destroy(cause as Error);
  }
}

/** The bytes of a generation, uncompressed; null: there is none. */
export function streamGeneration(
  root: string,
  path: string,
  generation: number,
): AsyncIterable<Buffer> | null {
  const found = generationFile(root, path, generation);
  if (found === null) return null;
  const bytes = createReadStream(found.file, { highWaterMark: 256 * 1024 });
  if (!found.isCompressed) return bytes;
  const expanded = createGunzip();
  bytes.on("error", (cause) => expanded.destroy(cause));
  return bytes.pipe(expanded);
}

/** Length and hash of a generation; null: there is none. */
export async function hashGeneration(
  root: string,
  path: string,
  generation: number,
): Promise<{ bytes: number; sha256: string } | null> {
  const stream = streamGeneration(root, path, generation);
  if (stream === null) return null;
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Gives a copy the modification time of its source: its bytes are durable. */
export function stamp(path: string, mtimeMs: number): void {
  try {
    lutimesSync(path, mtimeMs / 1000, mtimeMs / 1000);
  } catch {
    // Without it the next guard compares the bytes.
  }
}

export const COLD_DAYS = 7;
const DAY_MS = 86_400_000;

/** Compresses copies that the guard did not write to for long. */
export async function compressCold(
  { files }: Host,
  root: string,
  sessions: ReadonlyMap<string, GuardRecord>,
  nowMs: number,
): Promise<void> {
  for (const { path, generation } of sessions.values()) {
    for (let each = 1; each <= generation; each++) {
      const found = generationFile(root, path, each);
      if (!found || found.isCompressed || found.stats.size === 0) continue;
      if (nowMs - found.stats.ctimeMs < COLD_DAYS * DAY_MS) continue;
      const options = { create: false, root };
      const directory = await files.openDirectory(join(root, dirname(path)), options);
      try {
        await compress(directory, `${basename(path)}.${each}`, found.stats.mtimeMs);
      } finally {
        directory.close();
      }
    }
  }
}
