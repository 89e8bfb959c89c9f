import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { tempDirectory } from "../support/temp-directory.ts";

async function recordThread(root: string, id: string): Promise<void> {
  const store = new Store(nodeHost, { dialect: "rye", root, agent: "d" });
  const session = await store.create({ id });
  await session.appendNative({ type: "thread_start" });
  await store.close();
}

const registryOf = (root: string) => join(root, ".ai", "threads", "registry.db");

function registered(root: string): Record<string, unknown>[] {
  const database = new DatabaseSync(registryOf(root), { readOnly: true });
  try {
    const rows = database.prepare("SELECT thread_id, directive, status FROM threads").all();
    return rows.map((row) => ({ ...(row as Record<string, unknown>) }));
  } finally {
    database.close();
  }
}

test("the registry follows the threads, and is filled from their directories when deleted (S2-15)", async () => {
  const root = tempDirectory();
  await recordThread(root, "a-1");
  assert.deepEqual(registered(root), [{ thread_id: "a-1", directive: "d", status: "paused" }]);
  for (const ending of ["", "-wal", "-shm"]) rmSync(registryOf(root) + ending, { force: true });
  await recordThread(root, "nested/b-2");
  assert.deepEqual(
    registered(root).map(({ thread_id }) => thread_id),
    ["a-1", "nested/b-2"],
  );
});

test("a registry.db that another program made is not changed", async () => {
  const root = tempDirectory();
  await recordThread(root, "a-1");
  for (const ending of ["", "-wal", "-shm"]) rmSync(registryOf(root) + ending, { force: true });
  const foreign = new DatabaseSync(registryOf(root));
  foreign.exec("CREATE TABLE threads (id TEXT); INSERT INTO threads VALUES ('theirs')");
  foreign.close();
  const before = readFileSync(registryOf(root));
  await recordThread(root, "b-2");
  assert.ok(readFileSync(registryOf(root)).equals(before));
  assert.equal(existsSync(`${registryOf(root)}-wal`), false);
});
