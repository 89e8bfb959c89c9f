/**
 * `npm run release:executable -- FILE`: the command line as one file with Node in it, for machines
 * without Node. For the platform it runs on, with the Node that runs it: 25.5 or later, which can build
 * one by itself (`--build-sea`).
 *
 * The file contains what the command line needs of the package, and on macOS the lock package with one
 * binary. When it first runs, it writes them to the user's cache directory (sea-main.cjs), because
 * neither a native module nor a thread can be loaded from inside. SQLite is Node's own.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { serialize } from "node:v8";
import { gzipSync } from "node:zlib";
import { main, root, setUp } from "../setup.mjs";

const PARTS = [
  "dist/cli",
  "dist/viewer",
  "dist/completions",
  "dist/proof-page.js",
  "dist/licenses.md",
  "LICENSE",
];
/** The lock package of macOS and what it loads (src/core/base/lock.ts). */
const MODULES = [
  "bare-addon-resolve",
  "bare-module-resolve",
  "bare-semver",
  "fs-native-extensions",
  "require-addon",
  "which-runtime",
];

/** The files of the executable: path in the package, content. */
function contents() {
  /** @type {Map<string, Buffer>} */
  const files = new Map();
  const add = (/** @type {string} */ path) => {
    if (statSync(join(root, path)).isDirectory()) {
      for (const name of readdirSync(join(root, path))) add(`${path}/${name}`);
    } else if (isNeeded(path)) files.set(path, readFileSync(join(root, path)));
  };
  for (const part of PARTS) add(part);
  if (process.platform === "darwin") for (const name of MODULES) add(`node_modules/${name}`);
  const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  files.set("package.json", Buffer.from(JSON.stringify({ name, version, type: "module" })));
  return files;
}

/** @param {string} path */
function isNeeded(path) {
  if (path.startsWith("dist/cli/compiled/")) return false;
  if (path.includes("/prebuilds/")) {
    return path.includes(`/${process.platform}-${process.arch}/`) && path.endsWith(".node");
  }
  return !path.startsWith("node_modules/") || /\.(?:js|json)$|\/LICENSE$/.test(path);
}

/** @param {string} output */
function build(output) {
  const files = gzipSync(serialize(contents()));
  const folder = mkdtempSync(join(tmpdir(), "verbatim-executable-"));
  try {
    writeFileSync(join(folder, "files"), files);
    writeFileSync(join(folder, "id"), createHash("sha256").update(files).digest("hex"));
    const config = {
      main: join(root, "scripts", "release", "sea-main.cjs"),
      output,
      assets: { files: join(folder, "files"), id: join(folder, "id") },
      disableExperimentalSEAWarning: true,
    };
    writeFileSync(join(folder, "config.json"), JSON.stringify(config));
    execFileSync(process.execPath, ["--build-sea", join(folder, "config.json")]);
    if (process.platform === "darwin") execFileSync("codesign", ["--sign", "-", output]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await main(async () => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 25 || (major === 25 && minor < 5)) {
    process.stderr.write(`Node ${process.version} cannot build an executable; use 26 or later.\n`);
    return 1;
  }
  await setUp();
  const output = resolve(process.argv[2] ?? join(root, "dist.release", "verbatim"));
  mkdirSync(dirname(output), { recursive: true });
  build(output);
  process.stdout.write(`${output} ${(statSync(output).size / 1e6).toFixed(0)} MB\n`);
  return 0;
});
