/**
 * The published package.json, made from the one of the repository: no scripts and no development
 * dependencies, and SQLite for each platform and the locks of macOS as optional dependencies. A clone
 * does not need those. They get the version of the release, so they are in no registry before it, and `npm ci` in a clone
 * could not install them.
 *
 * `npm pack` in the repository packs it too, by its scripts `prepack` and `postpack`:
 *
 *     node scripts/release/manifest.mjs publish    package.json becomes the published one
 *     node scripts/release/manifest.mjs restore    and the one of the repository again
 */

import { copyFileSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../setup.mjs";
import { LOCK_PACKAGE } from "./lock-package.mjs";
import { sqlitePackages } from "./sqlite-packages.mjs";

/** Fields of package.json that only a clone uses. */
const ONLY_IN_A_CLONE = ["private", "scripts", "devDependencies", "overrides", "allowScripts"];

const path = join(root, "package.json");
/** The repository's, while package.json is the published one. */
const kept = `${path}.repository`;

/** @returns {{ name: string, version: string, files: string[], repository?: object }} */
export function repositoryManifest() {
  return JSON.parse(readFileSync(path, "utf8"));
}

/**
 * @param {(name: string) => string} [packageFrom] a version, or the path of a tarball; the release's
 *   own version if left out
 * @returns {string}
 */
export function publishedManifest(packageFrom) {
  const manifest = repositoryManifest();
  const from = packageFrom ?? (() => manifest.version);
  const optional = [LOCK_PACKAGE, ...sqlitePackages().map(({ name }) => name)];
  const published = Object.entries(manifest).filter(([field]) => !ONLY_IN_A_CLONE.includes(field));
  return `${JSON.stringify(
    {
      ...Object.fromEntries(published),
      // For bundlers of users. In a clone it would hold for the viewer too, which imports style sheets.
      sideEffects: false,
      optionalDependencies: Object.fromEntries(optional.map((name) => [name, from(name)])),
    },
    null,
    2,
  )}\n`;
}

function publish() {
  const text = publishedManifest();
  copyFileSync(path, kept);
  writeFileSync(path, text);
}

function restore() {
  renameSync(kept, path);
  process.stderr.write(
    "\nNode before 22.16 also needs a package with SQLite: " +
      "`npm run release:pack -- --local FOLDER` makes all packages, to try them together.\n\n",
  );
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [word] = process.argv.slice(2);
  if (word === "publish") publish();
  else if (word === "restore") restore();
  else throw new Error("manifest.mjs publish, or manifest.mjs restore");
}
