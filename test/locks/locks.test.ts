/**
 * The kernel's lock between real programs: the package that took it until version 0.9, threads,
 * containers, processes that are killed, and machines where native code cannot be loaded.
 *
 * VERBATIM_TIMES=500 kills 10,000 processes.
 */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { onTestFinished, test } from "vitest";
import { tryLockDescriptor, unlockDescriptor } from "../../src/core/base/lock.ts";
import { createNodeFiles } from "../../src/core/base/node-files.ts";
import { openLog } from "../../src/doors/log.ts";
import { startChild } from "../support/child.ts";
import { compiledProgram } from "../support/program.ts";
import { times } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { testWhere } from "../support/test-where.ts";

const KINDS = ["exclusive", "shared"] as const;
const HOLDER = "test/support/lock-holder.ts";
const OPENER = "test/locks/opener.ts";
const PARENT = "test/locks/parent.ts";
const TAKEN_NAMES = "./test/locks/taken-names.mjs";

/** Opens further handles of one file. */
async function handles(directory = tempDirectory()) {
  const opened = await createNodeFiles().openDirectory(directory, { create: false });
  onTestFinished(() => opened.close());
  return () => opened.open("lock", "update");
}

test("ours and the package that took locks before exclude each other, in both directions", async () => {
  const old = createRequire(import.meta.url)("fs-native-extensions");
  const directory = tempDirectory();
  const ours = (await handles(directory))();
  const theirs = openSync(join(directory, "lock"), "r+");
  onTestFinished(() => closeSync(theirs));
  for (const held of KINDS) {
    for (const wanted of KINDS) {
      const both = held === "shared" && wanted === "shared";
      assert.equal(ours.tryLock(held), true);
      assert.equal(old.tryLock(theirs, 0, 0, { shared: wanted === "shared" }), both);
      ours.unlock();
      if (both) old.unlock(theirs);

      assert.equal(old.tryLock(theirs, 0, 0, { shared: held === "shared" }), true);
      assert.equal(ours.tryLock(wanted), both, `${wanted} while the package holds ${held}`);
      old.unlock(theirs);
      if (both) ours.unlock();
    }
  }
});

test("after each of many kills with -9 the lock is free at once", {
  timeout: 3_600_000,
}, async () => {
  const directory = tempDirectory();
  const file = (await handles(directory))();
  for (let kill = 0; kill < 20 * times; kill++) {
    const holder = startChild(HOLDER, join(directory, "lock"), "exclusive");
    assert.equal(await holder.line(), "held");
    assert.equal(file.tryLock("shared"), false);
    await holder.kill();
    assert.equal(file.tryLock("exclusive"), true, `after kill ${kill + 1}`);
    file.unlock();
  }
});

test("a thread's lock excludes other threads, and ends with the thread", async () => {
  const directory = tempDirectory();
  const open = await handles(directory);
  const file = open();
  for (let round = 0; round < 3; round++) {
    const holder = new Worker(compiledProgram(HOLDER), {
      argv: [join(directory, "lock"), "exclusive"],
      stdout: true,
    });
    const [text] = await once(holder.stdout, "data");
    assert.equal(String(text), "held\n");
    assert.equal(file.tryLock("shared"), false);
    await holder.terminate();
    assert.equal(file.tryLock("exclusive"), true);
    file.unlock();
  }
});

const UNSHARE = ["--user", "--map-root-user", "--pid", "--net", "--ipc", "--mount", "--fork"];
const canUnshare = spawnSync("unshare", [...UNSHARE, "true"]).status === 0;

testWhere(canUnshare)("a container with namespaces of its own is excluded", async () => {
  const log = join(tempDirectory(), "a.jsonl");
  const writer = await openLog(log);
  const run = (...args: string[]) =>
    execFileSync("unshare", [...UNSHARE, process.execPath, compiledProgram(OPENER), ...args], {
      encoding: "utf8",
    });
  assert.equal(run(log), "LOG_LOCKED\n");
  await writer.close();
  assert.equal(run(log), "opened\n");
});

/** What a program prints that opens a log. */
function openWhere(log: string, env: Readonly<Record<string, string>>, ...flags: string[]): string {
  const argv = [...flags, compiledProgram(OPENER), log];
  return spawnSync(process.execPath, argv, { env, encoding: "utf8" }).stdout;
}

test("the code for locks leaves no file and no descriptor, and takes another directory if TMPDIR cannot be used", () => {
  const directory = tempDirectory();
  const home = join(directory, "home");
  mkdirSync(home);
  writeFileSync(join(directory, "no-directory"), "");
  const log = join(directory, "logs", "a.jsonl");
  for (const TMPDIR of [directory, join(directory, "no-directory")]) {
    assert.equal(openWhere(log, { TMPDIR, HOME: home }), "opened\n");
  }
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  assert.deepEqual(names, ["home", "logs", "logs/a.jsonl", "logs/a.jsonl.lock", "no-directory"]);
});

/** A file system in memory that runs no program, or that is full. */
const NOEXEC = (path: string) => `mount -t tmpfs -o noexec none '${path}'`;
const FULL = (path: string) =>
  `mount -t tmpfs -o size=4096 none '${path}' && head -c 4096 /dev/zero > '${path}/all'`;

const UNUSABLE: readonly (readonly [string, readonly ((path: string) => string)[], RegExp])[] = [
  ["TMPDIR is full", [FULL], /^opened$/],
  ["TMPDIR runs no program", [NOEXEC], /^opened$/],
  ["neither TMPDIR nor the log's directory runs a program", [NOEXEC, NOEXEC], /^opened$/],
  [
    "no directory runs a program",
    [NOEXEC, NOEXEC, NOEXEC],
    /^LOCK_UNAVAILABLE\n.*set TMPDIR to a directory .* not mounted `noexec`/,
  ],
];

testWhere(canUnshare)(
  "a directory that is full or runs no program is passed over for the next one",
  () => {
    for (const [name, mounts, expected] of UNUSABLE) {
      const places = ["tmp", "logs", "home"].map((each) => join(tempDirectory(), each));
      for (const place of places) mkdirSync(place);
      const [TMPDIR = "", logs = "", HOME = ""] = places;
      const mounting = mounts.map((mount, at) => mount(places[at] ?? ""));
      const argv = [process.execPath, compiledProgram(OPENER), join(logs, "a.jsonl")];
      const script = [...mounting, argv.map((each) => `'${each}'`).join(" ")].join(" && ");
      const options = { env: { PATH: process.env.PATH, TMPDIR, HOME }, encoding: "utf8" } as const;
      const { stdout, stderr } = spawnSync("unshare", [...UNSHARE, "sh", "-c", script], options);
      assert.match(stdout.trim(), expected, `${name}: ${stderr}`);
    }
  },
);

test("a process that the killed holder started does not hold its lock", async () => {
  const directory = tempDirectory();
  const file = (await handles(directory))();
  const holder = startChild(PARENT, join(directory, "lock"));
  const pid = Number(await holder.line());
  onTestFinished(() => void process.kill(pid, "SIGKILL"));
  assert.equal(file.tryLock("shared"), false);
  await holder.kill();
  assert.equal(file.tryLock("exclusive"), true);
});

test("another addon that was loaded under the same name is not taken for ours", () => {
  const log = join(tempDirectory(), "a.jsonl");
  const output = openWhere(log, { TMPDIR: tempDirectory() }, "--import", TAKEN_NAMES);
  assert.match(output, /^LOCK_UNAVAILABLE\n.*another addon was loaded instead/);
});

test("a refusal of the kernel other than a taken lock is an error with its code", () => {
  const file = openSync(join(tempDirectory(), "lock"), "w");
  closeSync(file);
  assert.throws(() => tryLockDescriptor(file, "exclusive"), { code: "EBADF" });
  assert.throws(() => unlockDescriptor(file), { code: "EBADF" });
});

const nodeMajor = Number(process.versions.node.split(".")[0]);
const PERMISSION = nodeMajor >= 24 ? "--permission" : "--experimental-permission";

test.each([["--no-addons"], [PERMISSION, "--allow-fs-read=*", "--allow-fs-write=*"]])(
  "with %s nothing is opened to append, and no byte is written; reading works",
  (...flags) => {
    const log = join(tempDirectory(), "a.jsonl");
    writeFileSync(log, '{"n":1}\n{"n":', { mode: 0o600 });
    const output = openWhere(log, { TMPDIR: tempDirectory() }, ...flags);
    assert.match(output, /^LOCK_UNAVAILABLE\n/);
    assert.match(output, /run Node with --allow-addons, and without --no-addons/);
    assert.match(output, /read 1 line, 5 unfinished bytes/);
    assert.equal(readFileSync(log, "utf8"), '{"n":1}\n{"n":');
    assert.equal(readFileSync(`${log}.lock`, "utf8"), "");
  },
);
