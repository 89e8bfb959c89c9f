/**
 * Set-up: brings a clone to the point where its programs run. Installs what the lock file names,
 * builds `dist` from `src` and `viewer`, and does neither when there is nothing to do.
 *
 * Plain JavaScript without dependencies: it runs before anything is installed. All it says goes
 * to stderr, because stdout belongs to the program that is set up.
 *
 * S1  `dist` is replaced as a whole by a finished build. A build that fails or is interrupted
 *     changes nothing, and no file of a deleted source is left behind.
 * S2  The stamp in `dist` is the fingerprint of the sources as they were before the compiler read
 *     them: an edit during a build makes that build stale, not fresh.
 *
 *     node scripts/setup.mjs              install and build, as far as needed
 *     node scripts/setup.mjs --rebuild    install as far as needed, build in any case
 */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

const dist = join(root, "dist");
const stamp = join(dist, ".stamp");

/**
 * Installs a package's locked dependencies if `node_modules` is missing or older than the lock file.
 * npm writes `node_modules/.package-lock.json` last, so an interrupted install counts as missing.
 */
export async function install(folder = root) {
  const installed = modifiedMs(join(folder, "node_modules", ".package-lock.json"));
  const locked = modifiedMs(join(folder, "package-lock.json"));
  if (installed !== undefined && locked !== undefined && installed >= locked) return;

  say(folder === root ? "installing dependencies" : `installing dependencies of ${folder}`);
  // Dev dependencies by name: they are needed even where NODE_ENV=production leaves them out.
  const code = await run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund"], {
    cwd: folder,
    quiet: true,
  });
  if (code !== 0) throw new SetupError("npm ci failed", code);
}

/** Compiles `src` and `viewer` to `dist` if the sources are not the ones `dist` was made from. */
export async function build({ force = false } = {}) {
  if (!force && isBuilt()) return;

  say("building");
  const fingerprint = sourceFingerprint();
  // A name of our own, since `npm start` and `npm test` may be building at the same time.
  const next = join(root, `dist.${process.pid}`);
  rmSync(next, { recursive: true, force: true });
  mkdirSync(next);
  try {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const code = await run(
      process.execPath,
      [tsc, "--project", "tsconfig.build.json", "--outDir", next],
      { quiet: true },
    );
    if (code !== 0) throw new SetupError("the build failed", code);
    // Before bundling, which leaves no file per command.
    const manual = join(root, "scripts", "man-page.mjs");
    const written = await run(process.execPath, [manual, next], { quiet: true });
    if (written !== 0) throw new SetupError("writing the manual page failed", written);
    const bundler = join(root, "scripts", "bundle-cli.mjs");
    const bundled = await run(process.execPath, [bundler, next], { quiet: true });
    if (bundled !== 0) throw new SetupError("bundling the command line failed", bundled);
    const vite = join(root, "node_modules", "vite", "bin", "vite.js");
    const pages = ["build", "viewer", "--outDir", join(next, "viewer"), "--logLevel", "warn"];
    const viewed = await run(process.execPath, [vite, ...pages], { quiet: true });
    if (viewed !== 0) throw new SetupError("building the viewer failed", viewed);
    writeFileSync(join(next, ".stamp"), fingerprint);
    rmSync(dist, { recursive: true, force: true });
    renameSync(next, dist);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/** Whether `dist` was made from the sources as they are now. */
export function isBuilt() {
  try {
    return readFileSync(stamp, "utf8") === sourceFingerprint();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Installs and builds; what `npm start`, `npm test` and `npm run bench` do first. */
export async function setUp({ rebuild = false } = {}) {
  await install();
  await build({ force: rebuild });
}

/**
 * Runs a program to its end and resolves to its exit code, 128 + n if signal n ended it.
 * `quiet` keeps its output off our stdout.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, quiet?: boolean }} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, { cwd = root, quiet = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: quiet ? ["ignore", process.stderr, process.stderr] : "inherit",
    });

    // A terminal sends ctrl-C to every process in the foreground: passing it on would make the
    // child see it twice, which many programs take as "at once, without cleaning up".
    const passOn = (/** @type {NodeJS.Signals} */ signal) => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    };
    const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
    for (const signal of signals) process.on(signal, passOn);
    const release = () => {
      for (const signal of signals) process.off(signal, passOn);
    };

    child.once("error", (error) => {
      release();
      reject(error);
    });
    child.once("close", (code, signal) => {
      release();
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

/**
 * Runs a script's main function and turns a failed set-up into a line on stderr and an exit code.
 *
 * @param {() => Promise<number | void>} body
 */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    process.exitCode = error.exitCode;
  }
}

class SetupError extends Error {
  /**
   * @param {string} message
   * @param {number} exitCode
   */
  constructor(message, exitCode) {
    super(`${message} (exit code ${exitCode})`);
    this.exitCode = exitCode;
  }
}

/** Changes with the name or content of anything the build reads; the lock file names the compiler. */
function sourceFingerprint() {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => join("src", path));
  const pages = readdirSync(join(root, "viewer"), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(?:tsx?|css|html|svg|json)$/.test(path) && !/\.test\.tsx?$/.test(path))
    .map((path) => join("viewer", path));
  const settings = [
    "tsconfig.json",
    "tsconfig.build.json",
    "package.json",
    "package-lock.json",
    "scripts/bundle-cli.mjs",
    "scripts/man-page.mjs",
  ];

  const hash = createHash("sha256");
  for (const path of [...sources, ...pages, ...settings].sort()) {
    const content = createHash("sha256")
      .update(readFileSync(join(root, path)))
      .digest("hex");
    hash.update(`${content} ${path}\n`);
  }
  return hash.digest("hex");
}

/** @param {string} path */
function modifiedMs(path) {
  try {
    return statSync(path).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** @param {unknown} error */
function isMissing(error) {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** @param {string} message */
function say(message) {
  process.stderr.write(`set-up: ${message}\n`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(() => setUp({ rebuild: process.argv.includes("--rebuild") }));
}
