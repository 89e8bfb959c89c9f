import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { bytesOf, contentOf, openWriter } from "../../../test/support/open-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../base/node-host.ts";
import { LogReader, type ReadOptions } from "./reader.ts";

const HOSTILE_IDS = [
  "",
  ".",
  "..",
  "../log.jsonl",
  "a/../../log.jsonl",
  "/etc/log.jsonl",
  "a//log.jsonl",
  "a/",
  "a\\log.jsonl",
  "a\0.jsonl",
  "a\nb.jsonl",
  "a\u009fb.jsonl",
  "\ud800.jsonl",
  `${"a".repeat(201)}/log.jsonl`,
  `${"é".repeat(101)}.jsonl`,
];

test("a hostile id is refused, to write and to read, and nothing is created", async () => {
  const root = tempDirectory();
  for (const id of HOSTILE_IDS) {
    for (const use of [() => openWriter(id, { root }), () => readAll(id, { root })]) {
      assert.equal((await refusal(use(), "BAD_ID")).details.id, id);
    }
  }
  assert.deepEqual(readdirSync(root), []);
});

test("an id below a root names a log there, with 0600 files in 0700 directories", async () => {
  const root = join(tempDirectory(), "root");
  const before = process.umask(0);
  try {
    const log = await openWriter("agents/a1/é.jsonl", { root });
    assert.equal(log.path, join(root, "agents/a1/é.jsonl"));
    await log.append(bytesOf("1"));
    await log.close();
  } finally {
    process.umask(before);
  }
  assert.equal((await readAll("agents/a1/é.jsonl", { root })).length, 1);
  for (const made of ["", "agents", "agents/a1"]) assert.equal(modeOf(join(root, made)), 0o700);
  const files = readdirSync(join(root, "agents/a1")).sort();
  assert.deepEqual(files, ["é.jsonl", "é.jsonl.lock"]);
  for (const file of files) assert.equal(modeOf(join(root, "agents/a1", file)), 0o600);
});

test("a symbolic link in place of the log, or of a sidecar file, is refused", async () => {
  for (const name of ["log.jsonl", "log.jsonl.lock"]) {
    const [root, victim] = [tempDirectory(), tempDirectory()];
    writeFileSync(join(victim, "precious"), "untouched");
    symlinkSync(join(victim, "precious"), join(root, name));

    await refusal(openWriter("log.jsonl", { root }), "UNSAFE_PATH");
    await refusal(openWriter(join(root, "log.jsonl")), "UNSAFE_PATH");
    assert.equal(readFileSync(join(victim, "precious"), "utf8"), "untouched");
  }
});

test("a symbolic link in place of the log is not read through", async () => {
  const [root, victim] = [tempDirectory(), tempDirectory()];
  writeFileSync(join(victim, "secret"), '"secret"\n');
  symlinkSync(join(victim, "secret"), join(root, "log.jsonl"));

  await refusal(readAll("log.jsonl", { root }), "UNSAFE_PATH");
  await refusal(readAll(join(root, "log.jsonl")), "UNSAFE_PATH");
});

test("a symbolic link among a log's parents below the root is refused, to write and to read", async () => {
  const [root, victim] = [tempDirectory(), tempDirectory()];
  mkdirSync(join(victim, "b"));
  writeFileSync(join(victim, "b/log.jsonl"), '"secret"\n');
  symlinkSync(victim, join(root, "a"));

  await refusal(openWriter("a/b/log.jsonl", { root }), "UNSAFE_PATH");
  await refusal(readAll("a/b/log.jsonl", { root }), "UNSAFE_PATH");
  assert.deepEqual(readdirSync(join(victim, "b")), ["log.jsonl"]);
});

test("the root itself may be a symbolic link", async () => {
  const [elsewhere, top] = [tempDirectory(), tempDirectory()];
  symlinkSync(elsewhere, join(top, "root"));
  const log = await openWriter("log.jsonl", { root: join(top, "root") });
  await log.append(bytesOf("1"));

  assert.equal(contentOf(join(elsewhere, "log.jsonl")), "1\n");
});

test("a pipe or a directory in place of the log, or of its lock file, is refused without hanging", async () => {
  for (const name of ["log.jsonl", "log.jsonl.lock"]) {
    const [piped, blocked] = [tempDirectory(), tempDirectory()];
    assert.equal(spawnSync("mkfifo", [join(piped, name)]).status, 0);
    mkdirSync(join(blocked, name));

    for (const root of [piped, blocked]) {
      await assert.rejects(openWriter("log.jsonl", { root }), { name: "VerbatimError" });
    }
  }
});

test("a missing log or directory is LOG_NOT_FOUND, and reading creates neither", async () => {
  const root = tempDirectory();
  for (const id of ["log.jsonl", "a/log.jsonl"]) {
    const { details } = await refusal(readAll(id, { root }), "LOG_NOT_FOUND");
    assert.deepEqual(details, { path: join(root, id) });
    await refusal(readAll(join(root, id)), "LOG_NOT_FOUND");
  }
  assert.deepEqual(readdirSync(root), []);
});

test("a sidecar file of a log never overwrites another log", async () => {
  // A log may not be named like another's lock file: opening that one would empty it.
  const root = tempDirectory();
  const written = await openWriter("log.jsonl.lock", { root }).then(
    async (log) => {
      await log.append(bytesOf('"acknowledged"'));
      await log.close();
      return true;
    },
    () => false,
  );
  await openWriter("log.jsonl", { root });

  if (written) assert.equal(contentOf(join(root, "log.jsonl.lock")), '"acknowledged"\n');
});

async function readAll(path: string, options: ReadOptions = {}): Promise<unknown[]> {
  const values = [];
  for await (const line of new LogReader(nodeHost, path, options)) values.push(line.value);
  return values;
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o7777;
}
