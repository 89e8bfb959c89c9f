/**
 * `npm run test:runtimes`: the package as users get it, in every runtime and bundle that npm has
 * here. Not part of `npm test`: it downloads some 500 MB and takes many minutes.
 * docs/compatibility.md has its results.
 *
 *     npm run test:runtimes -- [NAME …]    only cases whose names begin like this: `-- Bun Next`
 *
 * Each case runs scripts/runtimes/program.mjs: append, sign, resume, streams, search, and a log
 * that another process holds. Then it and the Node that runs this exclude each other in both directions,
 * the lock is free once its holder is killed with -9, and both append to one shared log.
 */

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packRelease } from "./release/pack.mjs";
import { nextCases } from "./runtimes/next.mjs";
import { main, root, setUp } from "./setup.mjs";

const run = promisify(execFile);
const PROGRAM = join(root, "scripts", "runtimes", "program.mjs");
const SHARED_LINES = 100;

/** What every step must print. Without SQLite, streams and search are refused with a sentence. */
const EXPECTED = {
  append: "1 line, a second writer gets LOG_LOCKED",
  sign: "verified",
  resume: "3 messages",
  contended: "LOG_LOCKED",
  streams: "1 message",
  search: "2 hits",
};
const NEEDS_SQLITE = ["streams", "search"];

/**
 * @typedef {{ command: string[], program: string, lacksSqlite?: boolean }} ProgramCase
 * @typedef {Map<string, () => Promise<ProgramCase>>} Cases By name, in this order.
 * @typedef {{ folder: string, user: string, tarball: string, programs: string }} Place
 */

/**
 * Installs packages of npm into a folder of their own, and returns it.
 *
 * @param {Place} place
 * @param {string} name
 * @param {string[]} packages
 */
async function install({ folder }, name, packages) {
  const target = join(folder, name);
  mkdirSync(target, { recursive: true });
  const allowScripts = { node: true, bun: true, deno: true };
  writeFileSync(join(target, "package.json"), JSON.stringify({ private: true, allowScripts }));
  const options = ["--no-audit", "--no-fund", "--prefer-offline"];
  await run("npm", ["install", ...options, ...packages], { cwd: target });
  return target;
}

/**
 * Where npm puts a program.
 *
 * @param {string} folder
 * @param {string} name
 */
const binOf = (folder, name) => join(folder, "node_modules", ".bin", name);

/**
 * @param {Place} place
 * @returns {Cases}
 */
function runtimeCases(place) {
  const program = join(place.user, "program.mjs");
  const cases = new Map();
  cases.set(`Node ${process.versions.node}`, async () => ({
    command: [process.execPath],
    program,
  }));
  for (const major of [22, 24, 26]) {
    cases.set(`Node ${major}`, async () => {
      const folder = await install(place, `node${major}`, [`node@${major}`]);
      return { command: [binOf(folder, "node")], program };
    });
  }
  cases.set("Bun", async () => {
    const command = [binOf(await install(place, "bun", ["bun"]), "bun")];
    return { command, program };
  });
  cases.set("Deno", async () => {
    const folder = await install(place, "deno", ["deno"]);
    return { command: [binOf(folder, "deno"), "run", "-A"], program };
  });
  return cases;
}

/**
 * CommonJS, a read-only installation, and bundles that were moved.
 *
 * @param {Place} place
 * @returns {Cases}
 */
function packagingCases(place) {
  const lacksSqlite = process.getBuiltinModule("node:sqlite") === undefined;
  const command = [process.execPath];
  const { user, folder, programs } = place;
  const cases = new Map();
  cases.set("CommonJS", async () => {
    const program = join(user, "program.cjs");
    const text = readFileSync(PROGRAM, "utf8");
    const requires = text.replace(/^import (.*) from (.*);$/gm, "const $1 = require($2);");
    writeFileSync(program, requires);
    return { command, program };
  });
  cases.set("a read-only installation", async () => {
    const target = join(folder, "readonly");
    cpSync(user, target, { recursive: true });
    makeReadOnly(target);
    return { command, program: join(target, "program.mjs") };
  });
  for (const format of ["esm", "cjs"]) {
    cases.set(`esbuild ${format}`, async () => {
      const program = join(programs, `esbuild-${format}`, format === "esm" ? "p.mjs" : "p.cjs");
      const options = ["--bundle", "--platform=node", `--format=${format}`, `--outfile=${program}`];
      const esbuild = join(root, "node_modules", ".bin", "esbuild");
      await run(esbuild, ["program.mjs", ...options, "--log-level=error"], { cwd: user });
      return { command, program, lacksSqlite };
    });
  }
  cases.set("webpack", async () => {
    const target = await install(place, "webpack", ["webpack", "webpack-cli"]);
    const out = join(programs, "webpack");
    const options = ["--mode=production", "--target=node20", `--output-path=${out}`];
    const name = ["--output-filename=p.cjs", "--entry=./program.mjs"];
    const { stdout } = await run(binOf(target, "webpack"), [...options, ...name], { cwd: user });
    if (stdout.includes("WARNING")) throw new Error(stdout);
    return { command, program: join(out, "p.cjs"), lacksSqlite };
  });
  return cases;
}

/** @param {string} folder */
function makeReadOnly(folder) {
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).reverse()) {
    chmodSync(join(folder, path), 0o555);
  }
}

/**
 * Runs a program and returns its output.
 *
 * @param {string[]} command
 * @param {string} home
 */
async function outputOf([file = "", ...args], home) {
  const env = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: join(home, ".cache") };
  const { stdout } = await run(file, args, { cwd: home, env, timeout: 300_000 });
  return stdout;
}

/**
 * Opens a log in another process, and calls `work` while that holds it. It is killed with -9.
 *
 * @param {string[]} command
 * @param {string} log
 * @param {() => Promise<void>} work
 */
async function whileHeldBy([file = "", ...args], log, work) {
  const holder = spawn(file, [...args, "hold", log], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(holder, "exit");
  try {
    await Promise.race([once(holder.stdout, "data"), ended]);
    if (holder.exitCode !== null) throw new Error("the program that holds the log has ended");
    await work();
  } finally {
    holder.kill("SIGKILL");
    await ended;
  }
}

/**
 * @param {Place} place
 * @param {ProgramCase} tested
 * @returns {Promise<string>} How it works.
 */
async function tryProgram(place, { command, program, lacksSqlite = false }) {
  const home = mkdtempSync(join(place.folder, "home-"));
  const [own, theirs] = [
    [process.execPath, join(place.user, "program.mjs")],
    [...command, program],
  ];
  const held = join(home, "held.jsonl");
  await whileHeldBy(own, held, async () => {
    for (const line of (await outputOf([...theirs, "all", home], home)).trim().split("\n")) {
      const [step, outcome] = JSON.parse(line);
      const isRefused = lacksSqlite && NEEDS_SQLITE.includes(step) && /NO_SQLITE/.test(outcome);
      const expected = EXPECTED[/** @type {keyof typeof EXPECTED} */ (step)];
      if (!isRefused && outcome !== expected) throw new Error(`${step}: ${outcome}`);
    }
  });
  await whileHeldBy(theirs, held, async () => {
    const refusal = await outputOf([...own, "open", held], home);
    if (refusal !== "LOG_LOCKED\n") throw new Error(`it excludes no other program: ${refusal}`);
  });
  const after = await outputOf([...own, "open", held], home);
  if (after !== "opened\n") throw new Error(`after its end: ${after}`);
  const shared = join(home, "shared.jsonl");
  const share = ["share", shared, String(SHARED_LINES)];
  await Promise.all([own, theirs].map((each) => outputOf([...each, ...share], home)));
  const lines = readFileSync(shared, "utf8").trimEnd().split("\n");
  if (lines.length !== 2 * SHARED_LINES) throw new Error(`${lines.length} shared lines`);
  return lacksSqlite ? "works, without SQLite: no streams and no search" : "works";
}

/** @returns {Promise<Place>} */
async function preparePlace() {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-runtimes-"));
  await setUp();
  const [{ filename } = { filename: "" }] = await packRelease(folder, { isLocal: true });
  const place = { folder, user: "", tarball: join(folder, filename), programs: "" };
  place.user = await install(place, "user", [place.tarball]);
  copyFileSync(PROGRAM, join(place.user, "program.mjs"));
  // Outside of every folder with node_modules.
  place.programs = mkdtempSync(join(tmpdir(), "verbatim-bundles-"));
  return place;
}

await main(async () => {
  const wanted = process.argv.slice(2);
  const place = await preparePlace();
  let failed = 0;
  /** @param {string} name @param {() => Promise<string>} work */
  const report = async (name, work) => {
    if (wanted.length > 0 && !wanted.some((word) => name.startsWith(word))) return;
    try {
      process.stdout.write(`${name}: ${await work()}\n`);
    } catch (error) {
      failed++;
      process.stdout.write(`${name}: FAILED ${error instanceof Error ? error.message : error}\n`);
    }
  };
  try {
    for (const [name, prepare] of [...runtimeCases(place), ...packagingCases(place)]) {
      await report(name, async () => tryProgram(place, await prepare()));
    }
    for (const [name, work] of nextCases(place)) await report(name, work);
  } finally {
    for (const path of [place.folder, place.programs])
      rmSync(path, { recursive: true, force: true });
  }
  return failed > 0 ? 1 : 0;
});
