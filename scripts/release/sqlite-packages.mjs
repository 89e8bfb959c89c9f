/**
 * SQLite for Nodes that have none of their own: one package per platform, with one binary, taken from
 * @photostructure/sqlite, which has those of all platforms (29 MB) and an install script. npm
 * installs the one that fits the machine, and none on a Node with `node:sqlite`: they are optional
 * dependencies, and npm skips those whose `os`, `cpu`, `libc` or `engines` do not fit.
 * src/core/sqlite/sqlite-driver.ts loads them; docs/decisions/0022-install-size.md says why.
 */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../setup.mjs";

const source = join(root, "node_modules", "@photostructure", "sqlite");

/** Platforms of the source that Verbatim runs on: Windows is refused (`UNSUPPORTED_PLATFORM`). */
const SYSTEMS = ["darwin", "linux"];

/** The Nodes that need a package: `findDriver` refuses their own SQLite, if they have one. */
const NEEDED_BY = ">=20.19 <21 || >=22.12 <22.16";

/** @typedef {{ name: string, os: string, cpu: string, libc?: string, binary: string }} SqlitePackage */

/** @returns {SqlitePackage[]} */
export function sqlitePackages() {
  const prebuilds = join(source, "prebuilds");
  return readdirSync(prebuilds)
    .sort()
    .flatMap((platform) => {
      const [os = "", cpu = ""] = platform.split("-");
      if (!SYSTEMS.includes(os)) return [];
      return readdirSync(join(prebuilds, platform)).map((file) => {
        const isMusl = file.endsWith(".musl.node");
        const name = `verbatim-log-sqlite-${platform}${isMusl ? "-musl" : ""}`;
        const libc = os === "linux" ? { libc: isMusl ? "musl" : "glibc" } : {};
        return { name, os, cpu, ...libc, binary: join(prebuilds, platform, file) };
      });
    });
}

/**
 * Writes the package into a folder below `into`, and returns that folder.
 *
 * @param {SqlitePackage} sqlite
 * @param {{ version: string, repository?: object }} release npm refuses provenance without `repository`.
 * @param {string} into
 */
export function writeSqlitePackage({ name, os, cpu, libc, binary }, release, into) {
  const folder = join(into, name);
  mkdirSync(folder);
  const manifest = {
    name,
    version: release.version,
    description: `SQLite for verbatim-log on Node before 22.16, ${os} ${cpu}`,
    license: "MIT",
    repository: release.repository,
    type: "commonjs",
    main: "index.cjs",
    engines: { node: NEEDED_BY },
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const readme = `# ${name}\n\n${manifest.description}. Installed with verbatim-log; not for other use.\n`;
  writeFileSync(join(folder, "README.md"), readme);
  writeFileSync(join(folder, "index.cjs"), driverCode());
  copyFileSync(binary, join(folder, "sqlite.node"));
  copyFileSync(join(source, "LICENSE"), join(folder, "LICENSE"));
  return folder;
}

/** The driver's code, which loads the one binary next to it instead of searching for it. */
function driverCode() {
  const code = readFileSync(join(source, "dist", "index.cjs"), "utf8");
  const changed = code
    .replace('__toESM(require("node-gyp-build"))', '{ default: () => require("./sqlite.node") }')
    .replace(/^\/\/# sourceMappingURL=.*$/m, "");
  if (changed.includes("node-gyp-build")) throw new Error("@photostructure/sqlite has changed");
  return changed;
}
