/**
 * The main script of the executable (sea.mjs): writes the files that it contains to the user's cache
 * directory, once per version, and runs the command line from there.
 *
 * The directory appears whole, by a rename, or not at all. It is used only if it is the user's own and
 * others cannot write to it, because its files are run.
 */

const { lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { homedir } = require("node:os");
const { dirname, isAbsolute, join } = require("node:path");
const { getAsset, getRawAsset } = require("node:sea");
const { deserialize } = require("node:v8");
const { gunzipSync } = require("node:zlib");

const MAIN = "dist/cli/main.js";

function place() {
  const { XDG_CACHE_HOME = "" } = process.env;
  const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), ".cache");
  const folder = join(cache, "verbatim", "executable");
  const directory = join(folder, getAsset("id", "utf8"));
  if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) unpack(folder, directory);
  const { uid, mode } = lstatSync(directory);
  if (uid !== process.getuid() || (mode & 0o22) !== 0) {
    throw new Error(`others can write to ${directory}: delete it, and run this again`);
  }
  return directory;
}

function unpack(folder, directory) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const next = mkdtempSync(join(folder, "next-"));
  try {
    for (const [path, bytes] of deserialize(gunzipSync(getRawAsset("files")))) {
      mkdirSync(dirname(join(next, path)), { recursive: true, mode: 0o700 });
      writeFileSync(join(next, path), bytes, { mode: 0o600 });
    }
    renameSync(next, directory);
  } catch (error) {
    rmSync(next, { recursive: true, force: true });
    // Another process was first.
    if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) throw error;
  }
}

function run() {
  let path;
  try {
    path = join(place(), MAIN);
  } catch (error) {
    process.stderr.write(`verbatim: the executable cannot write its files: ${error.message}\n`);
    process.exitCode = 1;
    return;
  }
  // Commands that start themselves again pass the script's path, as to Node.
  if (process.argv[2]?.endsWith(`/${MAIN}`)) process.argv.splice(2, 1);
  process.argv[1] = path;
  createRequire(path)(path);
}

run();
