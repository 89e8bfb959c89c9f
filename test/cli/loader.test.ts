/** The command line keeps the code that V8 compiled, in a copy of `dist/cli` made for each test. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { tempDirectory } from "../support/temp-directory.ts";
import { testWhere } from "../support/test-where.ts";
import { root } from "./cli.ts";

const version: string = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;

class InstalledCopy {
  readonly #place = tempDirectory();
  readonly kept = join(this.#place, "dist", "cli", "compiled");

  constructor() {
    const from = join(root, "dist", "cli");
    // Other tests write compiled code there at the same time.
    const filter = (path: string) => path !== join(from, "compiled");
    cpSync(from, join(this.#place, "dist", "cli"), { recursive: true, filter });
    copyFileSync(join(root, "package.json"), join(this.#place, "package.json"));
    symlinkSync(join(root, "node_modules"), join(this.#place, "node_modules"));
  }

  run(...args: string[]) {
    const main = join(this.#place, "dist", "cli", "main.js");
    const env = { HOME: this.#place, PATH: process.env.PATH };
    return spawnSync(process.execPath, [main, ...args], { encoding: "utf8", env });
  }

  prints(...args: string[]): string {
    const { status, stdout, stderr } = this.run(...args);
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout;
  }

  /** The kept files and what is in them. */
  files(): Map<string, Buffer> {
    const [folder = ""] = readdirSync(this.kept);
    const names = readdirSync(join(this.kept, folder)).sort();
    return new Map(
      names.map((name) => [
        join(this.kept, folder, name),
        readFileSync(join(this.kept, folder, name)),
      ]),
    );
  }
}

const built = testWhere(isBuilt());

test("commands are built from these sources, or have no compiled code to keep", () => {
  if (isBuilt()) assert.ok(existsSync(join(root, "dist")));
});

built("a command that succeeds keeps the compiled code, and the next one changes nothing", () => {
  const copy = new InstalledCopy();
  assert.notEqual(copy.run("no-such-command").status, 0);
  assert.ok(!existsSync(copy.kept));
  assert.equal(copy.prints("--version"), `${version}\n`);
  const kept = copy.files();
  assert.ok(kept.size >= 3);
  for (const path of kept.keys()) assert.match(path, /\.js$/);
  assert.equal(copy.prints("--version"), `${version}\n`);
  assert.deepEqual(copy.files(), kept);
});

built("compiled code that is cut off or altered is not used, and is replaced (KC1)", () => {
  const copy = new InstalledCopy();
  copy.prints("--version");
  const [[path, whole] = ["", Buffer.alloc(0)]] = [...copy.files()].filter(([name]) =>
    name.includes("first"),
  );
  assert.ok(whole.length > 100_000);
  const damaged = [0, 1, whole.length / 2, whole.length - 1].map((end) => whole.subarray(0, end));
  for (let at = 64; at < whole.length; at += Math.ceil(whole.length / 8)) {
    const flipped = Buffer.from(whole);
    flipped[at] = 1 ^ (flipped[at] ?? 0);
    damaged.push(flipped);
  }
  for (const bytes of damaged) {
    writeFileSync(path, bytes);
    assert.equal(copy.prints("--version"), `${version}\n`);
    assert.ok(!readFileSync(path).equals(bytes));
  }
});

built("where compiled code cannot be kept, commands work and say nothing of it", () => {
  const copy = new InstalledCopy();
  writeFileSync(copy.kept, "in the way");
  assert.equal(copy.prints("--version"), `${version}\n`);
  rmSync(copy.kept);
  mkdirSync(join(copy.kept, `${process.version}-${process.arch}`, "entry.js"), { recursive: true });
  assert.equal(copy.prints("--version"), `${version}\n`);
  assert.deepEqual(readdirSync(join(copy.kept, `${process.version}-${process.arch}`)), [
    "entry.js",
  ]);
});

built("a short command keeps the functions that it uses, whatever command ran first", () => {
  const copy = new InstalledCopy();
  copy.prints("--version");
  const before = copy.files();
  assert.equal(copy.run("ls").status, 0);
  assert.deepEqual(readdirSync(copy.kept).length, 2);
  const [other = "", own = ""] = readdirSync(copy.kept).sort();
  assert.equal(own, `${other}-ls`);
  const first = readdirSync(join(copy.kept, own)).find((name) => name.startsWith("first-")) ?? "";
  const size = (folder: string) => readFileSync(join(copy.kept, folder, first)).length;
  assert.ok(size(own) > 1.05 * size(other));
  assert.deepEqual(copy.files(), before);
});

built("a Node that is too old is refused in one line, before another file is loaded", () => {
  const place = tempDirectory();
  const main = join(place, "main.js"); // Alone: what it loads besides is missing.
  copyFileSync(join(root, "dist", "cli", "main.js"), main);
  const preload = join(place, "old.cjs");
  const old = '{ value: { ...process.versions, node: "18.20.8" } }';
  writeFileSync(preload, `Object.defineProperty(process, "versions", ${old});`);
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["--require", preload, main, ...args], { encoding: "utf8" });
  const { status, stdout, stderr } = run("ls");
  assert.deepEqual([status, stdout], [7, ""]);
  assert.match(stderr, /^verbatim needs Node \^20\.19 .* this is Node 18\.20\.8: install .*\n$/);
  // An agent that runs hooks is not stopped.
  const hook = run("record", "--from", "claude-code-hooks");
  assert.deepEqual([hook.status, hook.stdout, hook.stderr], [0, "", stderr]);
  assert.equal(run("record", "--from", "anthropic-sse").status, 7);
});
