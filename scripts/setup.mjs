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

  // Dev dependencies by name: they are needed even where NODE_ENV=production leaves them out.
  const npm = ["ci", "--include=dev", "--no-audit", "--no-fund"];
  const what = folder === root ? "dependencies" : `dependencies of ${folder}`;
  await step(`installing ${what}`, "npm", npm, folder);
}

/**
 * Compiles `src` and `viewer` to `dist` if the sources are not the ones `dist` was made from. Does
 * not check types, which would take as long again: `npm run typecheck` does.
 */
export async function build({ force = false } = {}) {
  if (!force && isBuilt()) return;

  const fingerprint = sourceFingerprint();
  // A name of our own, since `npm start` and `npm test` may be building at the same time.
  const next = join(root, `dist.${process.pid}`);
  rmSync(next, { recursive: true, force: true });
  mkdirSync(next);
  const node = process.execPath;
  const modules = join(root, "node_modules");
  const scripts = join(root, "scripts");
  const viewer = ["build", "viewer", "--outDir", join(next, "viewer"), "--logLevel", "warn"];
  try {
    const tsc = join(modules, "typescript-native", "bin", "tsc");
    const project = ["--project", "tsconfig.build.json", "--outDir", next, "--noCheck"];
    await step("compiling the sources", node, [tsc, ...project]);
    // Before bundling, which leaves no file per command.
    await step("writing the manual page", node, [join(scripts, "shell-files.mjs"), next]);
    await step("bundling the command line", node, [join(scripts, "bundle-cli.mjs"), next]);
    const proofPage = join(scripts, "bundle-proof-page.mjs");
    await step("bundling the page of proofs", node, [proofPage, next]);
    await step("removing unused files", node, [join(scripts, "unused-files.mjs"), next]);
    await step("writing types for CommonJS", node, [join(scripts, "require-types.mjs"), next]);
    await step("building the viewer", node, [join(modules, "vite", "bin", "vite.js"), ...viewer]);
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

/**
 * Runs one program of the set-up to its end, and shows that it is at work and how long it took. On
 * a terminal the seconds count up in place; elsewhere there is one line when it begins and one when
 * it ends. Its own output is shown only when it fails: a warning of npm is no news to a user.
 *
 * @param {string} what
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
async function step(what, command, args, cwd = root) {
  const began = performance.now();
  const seconds = (/** @type {number} */ digits) =>
    `${((performance.now() - began) / 1000).toFixed(digits)} s`;
  const { isTTY } = process.stderr;
  const show = () => process.stderr.write(`\rset-up: ${what} … ${seconds(0)}`);
  if (isTTY) show();
  else say(`${what} …`);
  const ticking = isTTY ? setInterval(show, 1000) : undefined;
  let output = "";
  const code = await run(command, args, {
    cwd,
    onOutput: (text) => {
      output += text;
    },
  });
  clearInterval(ticking);
  if (isTTY) process.stderr.write("\r\u001b[K");
  say(`${what} ${code === 0 ? "took" : "failed after"} ${seconds(1)}`);
  if (code !== 0) {
    process.stderr.write(output);
    throw new SetupError(`${what} failed`, code);
  }
}

/** Installs and builds; what `npm start`, `npm test` and `npm run bench` do first. */
export async function setUp({ rebuild = false } = {}) {
  await install();
  await build({ force: rebuild });
}

/**
 * Runs a program to its end and resolves to its exit code, 128 + n if signal n ended it.
 * With `onOutput` its output goes there, and it has no input.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, onOutput?: (text: string) => void }} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, { cwd = root, onOutput } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: onOutput ? ["ignore", "pipe", "pipe"] : "inherit",
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (onOutput) stream?.setEncoding("utf8").on("data", onOutput);
    }

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
    "scripts/bundle-proof-page.mjs",
    "scripts/bundled-licenses.mjs",
    "scripts/entry-points.mjs",
    "scripts/require-types.mjs",
    "scripts/shell-files.mjs",
    "scripts/unused-files.mjs",
    ...readdirSync(join(root, "scripts", "shell")).map((name) => join("scripts", "shell", name)),
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
