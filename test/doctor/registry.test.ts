/** Doctor and repair on rye's registry.db: missing, stale, damaged, and another program's. */

import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { Registry } from "../../src/dialects/rye/files/registry.ts";
import { writeThreadMeta } from "../../src/dialects/rye/files/thread-files.ts";
import {
  codes,
  findingsIn,
  nodeDoctor,
  repairIn,
  summaries,
  WHOLE_THREAD,
  writeThread,
} from "../support/examining.ts";
import { openDescriptorsBelow } from "../support/open-descriptors.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { treeAt } from "../support/tree.ts";

async function twoThreads(): Promise<{ project: string; path: string }> {
  const project = tempDirectory();
  await writeThread(project, "a-1", WHOLE_THREAD);
  await writeThread(project, "deep/b-2", WHOLE_THREAD);
  return { project, path: join(project, ".ai/threads/registry.db") };
}

async function listed(path: string): Promise<string[]> {
  const look = await Registry.look(path);
  assert.equal(look.state, "ours");
  return look.seen.map(({ thread_id, status }) => `${thread_id} ${status}`);
}

function removeAll(path: string): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });
}

test("a missing registry is created; without a thread none is needed", async () => {
  const { project, path } = await twoThreads();
  removeAll(path);
  assert.deepEqual(summaries(await findingsIn(project)), [
    "DERIVED_MISSING registry.db is missing",
  ]);
  expect(await repairIn(project)).toMatchObject([{ did: "listed 2 threads in registry.db" }]);
  assert.deepEqual(await listed(path), ["a-1 completed", "deep/b-2 completed"]);
  assert.deepEqual(await findingsIn(project), []);

  const empty = tempDirectory();
  await writeThread(empty, "a-1", []);
  assert.deepEqual(await findingsIn(empty), []);
});

test("a registry that differs from the threads is rebuilt, and a copy of it kept", async () => {
  const { project, path } = await twoThreads();
  const registry = await Registry.open(path);
  const row = { status: "running", directive: "", created_at: "", updated_at: "" };
  registry?.replaceAll([
    { ...row, thread_id: "a-1" },
    { ...row, thread_id: "gone-3" },
  ]);
  registry?.close();
  assert.deepEqual(summaries(await findingsIn(project)), [
    "DERIVED_STALE registry.db lacks 1 of 2 threads, has 1 not as they are, lists 1 that are gone",
  ]);
  expect(await repairIn(project)).toMatchObject([{ kind: "mended" }]);
  assert.deepEqual(await listed(path), ["a-1 completed", "deep/b-2 completed"]);
  assert.deepEqual(await listed(`${path}.before-repair-0`), ["a-1 running", "gone-3 running"]);
  assert.deepEqual(await findingsIn(project), []);
});

test("a registry that a process is about to update is not a finding: doctor checks again later", async () => {
  const { project, path } = await twoThreads();
  const registry = await Registry.open(path);
  const rows = await Registry.look(path);
  assert.equal(rows.state, "ours");
  registry?.replaceAll([]);
  // Method: the registry is updated while doctor waits.
  const sleep = async () => registry?.replaceAll(rows.seen);
  const doctor = { ...nodeDoctor, host: { ...nodeHost, clock: { ...nodeHost.clock, sleep } } };
  assert.deepEqual(await findingsIn(project, "rye", doctor), []);
  registry?.close();
});

test("a damaged registry is renamed, and a new one created", async () => {
  const { project, path } = await twoThreads();
  removeAll(path);
  writeFileSync(path, "no database at all, but long enough".repeat(100), { mode: 0o600 });
  assert.deepEqual(summaries(await findingsIn(project)), [
    "DERIVED_STALE registry.db is damaged: SQLITE_NOTADB",
  ]);
  await repairIn(project);
  assert.match(readFileSync(`${path}.before-repair-0`, "utf8"), /^no database/);
  assert.deepEqual(await listed(path), ["a-1 completed", "deep/b-2 completed"]);
  assert.deepEqual(await findingsIn(project), []);
});

test("another program's registry is a note, and never changed", async () => {
  const { project, path } = await twoThreads();
  removeAll(path);
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE threads (id TEXT); INSERT INTO threads VALUES ('theirs')");
  database.close();
  chmodSync(path, 0o644);
  const before = readFileSync(path);
  expect(await findingsIn(project)).toMatchObject([
    { code: "DERIVED_FOREIGN", severity: "note", path, mends: false },
  ]);
  assert.deepEqual(await repairIn(project), []);
  assert.deepEqual(readFileSync(path), before);
});

test("a registry that is a link is not followed", async () => {
  const { project, path } = await twoThreads();
  const elsewhere = join(tempDirectory(), "registry.db");
  writeFileSync(elsewhere, readFileSync(path));
  removeAll(path);
  symlinkSync(elsewhere, path);
  assert.deepEqual(codes(await findingsIn(project)), ["SYMLINK_REFUSED"]);
});

test("a thread.json changed without the registry makes it stale", async () => {
  const { project } = await twoThreads();
  const meta = { thread_id: "a-1", status: "completed", directive: "renamed" };
  await writeThreadMeta(nodeHost, project, "a-1", meta);
  assert.ok(codes(await findingsIn(project)).includes("DERIVED_STALE"));
});

test("doctor leaves no file open and creates none, whatever a killed process left there", async () => {
  const { path } = await twoThreads();
  const directory = tempDirectory();
  const copy = join(directory, "registry.db");
  // As a killed process leaves them: the writer in this test still has its own open.
  for (const ending of ["", "-wal", "-shm"]) {
    if (existsSync(path + ending)) copyFileSync(path + ending, copy + ending);
  }
  const before = treeAt(directory);
  assert.deepEqual(await listed(copy), ["a-1 completed", "deep/b-2 completed"]);
  assert.deepEqual(treeAt(directory), before);
  assert.deepEqual(openDescriptorsBelow(directory), []);
  // The same process may write next: SQLite would share a connection that was opened read-only.
  const registry = await Registry.open(copy);
  registry?.replaceAll([]);
  registry?.close();
  assert.deepEqual(await listed(copy), []);
});
