/**
 * `npm run release:pack -- FOLDER`: the tarballs of a release, in FOLDER: verbatim-log, and one with
 * SQLite for each platform. Builds first, if needed.
 *
 * The published package.json is not the one of the repository. It has no scripts and no development
 * dependencies, and it has the SQLite packages as optional dependencies, which a clone does not
 * need. They get the version of the release, so they are not in any registry before it, and `npm ci`
 * in a clone could not install them. The repository's is private, so that npm publishes neither the
 * repository nor what `npm pack` makes of it.
 *
 *     --local    optional dependencies are the tarballs in FOLDER, to try the packages before a release
 */

import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { main, root, setUp } from "../setup.mjs";
import { sqlitePackages, writeSqlitePackage } from "./sqlite-packages.mjs";

/** Fields of package.json that only a clone uses. */
const ONLY_IN_A_CLONE = ["private", "scripts", "devDependencies", "overrides", "allowScripts"];

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
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const { name, version, files } = manifest;
    const packages = sqlitePackages();
    const folders = packages.map((one) => writeSqlitePackage(one, manifest, staging));

    const folder = join(staging, name);
    mkdirSync(folder);
    // npm leaves out what `files` does not name.
    for (const part of new Set(files.map((/** @type {string} */ path) => path.split("/")[0]))) {
      if (!part.startsWith("!")) cpSync(join(root, part), join(folder, part), { recursive: true });
    }
    for (const field of ONLY_IN_A_CLONE) delete manifest[field];
    // For bundlers of users. In a clone it would hold for the viewer too, which imports style sheets.
    manifest.sideEffects = false;
    const from = (/** @type {string} */ optional) =>
      isLocal ? `file:${join(resolve(into), `${optional}-${version}.tgz`)}` : version;
    manifest.optionalDependencies = Object.fromEntries(
      packages.map((optional) => [optional.name, from(optional.name)]),
    );
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    return await npmPack([folder, ...folders], into);
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
