/**
 * The package that takes locks on macOS, where npm alone installs it: its `os` says so, which the
 * package that it loads does not. On Linux the code for locks is part of verbatim-log
 * (src/core/base/lock.ts, docs/decisions/0003-kernel-locks.md).
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../setup.mjs";

const LOADED = "fs-native-extensions";

export const LOCK_PACKAGE = "verbatim-log-lock-darwin";

/**
 * Writes the package into a folder below `into`, and returns that folder.
 *
 * @param {{ version: string, repository?: object }} release npm refuses provenance without `repository`.
 * @param {string} into
 */
export function writeLockPackage({ version, repository }, into) {
  const folder = join(into, LOCK_PACKAGE);
  mkdirSync(folder);
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const manifest = {
    name: LOCK_PACKAGE,
    version,
    description: "Locks for verbatim-log on macOS",
    license: "MIT",
    repository,
    type: "commonjs",
    main: "index.cjs",
    os: ["darwin"],
    dependencies: { [LOADED]: devDependencies[LOADED] },
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const readme = `# ${LOCK_PACKAGE}\n\n${manifest.description}. Installed with it; not for other use.\n`;
  writeFileSync(join(folder, "README.md"), readme);
  writeFileSync(join(folder, "index.cjs"), `module.exports = require("${LOADED}");\n`);
  return folder;
}
