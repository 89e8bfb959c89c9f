/**
 * `npm run release:pack -- FOLDER`: the tarballs of a release, in FOLDER: verbatim-log, the locks of
 * macOS, and one with SQLite for each platform. Builds first, if needed.
 *
 * The published package.json is not the one of the repository (manifest.mjs). The repository's is
 * private, so that npm does not publish the repository itself.
 *
 *     --local    optional dependencies are the tarballs in FOLDER, to try the packages before a release
 */

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { main, root, setUp } from "../setup.mjs";
import { writeLockPackage } from "./lock-package.mjs";
import { publishedManifest, repositoryManifest } from "./manifest.mjs";
import { sqlitePackages, writeSqlitePackage } from "./sqlite-packages.mjs";

/** @typedef {{ name: string, filename: string, size: number, unpackedSize: number, files: { path: string }[] }} PackedTarball */

/**
 * Packs what `dist` has; returns what npm reports of each tarball, verbatim-log first.
 *
 * @param {string} into
 * @param {{ isLocal?: boolean }} [options]
 * @returns {Promise<PackedTarball[]>}
 */
export async function packRelease(into, { isLocal = false } = {}) {
  mkdirSync(into, { recursive: true });
  const staging = mkdtempSync(join(realpathSync(into), ".staging-"));
  try {
    const manifest = repositoryManifest();
    const { name, version, files } = manifest;
    const sqlite = sqlitePackages().map((one) => writeSqlitePackage(one, manifest, staging));

    const folder = join(staging, name);
    mkdirSync(folder);
    // npm leaves out what `files` does not name.
    for (const part of new Set(files.map((path) => path.split("/")[0] ?? ""))) {
      if (!part.startsWith("!")) cpSync(join(root, part), join(folder, part), { recursive: true });
    }
    const tarball = (/** @type {string} */ optional) =>
      `file:${join(resolve(into), `${optional}-${version}.tgz`)}`;
    const text = isLocal ? publishedManifest(tarball) : publishedManifest();
    writeFileSync(join(folder, "package.json"), text);
    return await npmPack([folder, writeLockPackage(manifest, staging), ...sqlite], into);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} folders
 * @param {string} into
 */
async function npmPack(folders, into) {
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", into, ...folders];
  const { stdout } = await promisify(execFile)("npm", args, { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const [into = "dist.release"] = process.argv.slice(2).filter((word) => !word.startsWith("-"));
    const isLocal = process.argv.includes("--local");
    await setUp();
    for (const { filename, size } of await packRelease(into, { isLocal })) {
      process.stdout.write(`${join(into, filename)} ${(size / 1e6).toFixed(1)} MB\n`);
    }
  });
}
