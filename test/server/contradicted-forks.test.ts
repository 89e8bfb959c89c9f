/** A server does not serve a stream whose history is not the one that was signed. */

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { startServer } from "../../src/server/serve.ts";
import type { ServeOptions } from "../../src/server/settings/serve-options.ts";
import type { LocalStore } from "../../src/streams/files/local-store.ts";
import { formatOffset } from "../../src/streams/files/offset-token.ts";
import type { PostgresStreams } from "../../src/streams/postgres/postgres-store.ts";
import { editMeta, type MetaState } from "../support/edit-meta.ts";
import { lacksPostgres, newDatabase } from "../support/postgres.ts";
import { SignedDatabase } from "../support/signed-database.ts";
import { JSON_STREAM, message, NEVER, SignedStreams } from "../support/signed-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const LINE = '{"in":"/a","n":1}\n'.length;

/** `/fork` of `/a`, and `/deep` of that; `/b` is another stream of the same length as `/a`. */
async function forked(): Promise<string> {
  const streams = new SignedStreams();
  await writeForks(await streams.open({ signingCadence: NEVER }));
  return streams.directory;
}

async function writeForks(store: LocalStore | PostgresStreams): Promise<void> {
  for (const path of ["/a", "/b"]) {
    await store.create(path, JSON_STREAM);
    await store.append(path, message({ in: path, n: 1 }));
    await store.append(path, message({ in: path, n: 2 }));
  }
  await store.create("/fork", { ...JSON_STREAM, fork: { source: "/a" } });
  await store.append("/fork", message({ in: "/fork", n: 3 }));
  const at = formatOffset(0, LINE);
  await store.create("/deep", { ...JSON_STREAM, fork: { source: "/fork", at } });
  await store.append("/deep", message({ in: "/deep", n: 2 }));
  await store.close();
}

async function served(dataDirectory: string, options: Partial<ServeOptions> = {}) {
  const faults: string[] = [];
  const onFault = (what: string, cause: unknown) => void faults.push(`${what}: ${cause}`);
  const server = await startServer({ dataDirectory, port: 0, roots: [], onFault, ...options });
  onTestFinished(() => server.close());
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}/v1/stream${path}`, init);
  const statuses: Record<string, number> = {};
  for (const path of ["/a", "/b", "/fork", "/deep"]) {
    statuses[path] = (await ask(`${path}?offset=-1`)).status;
  }
  return { faults, statuses, ask };
}

test("plain serve serves signed forks, and says nothing about them", async () => {
  const { faults, statuses } = await served(await forked());
  assert.deepEqual(faults, []);
  assert.deepEqual(statuses, { "/a": 200, "/b": 200, "/fork": 200, "/deep": 200 });
});

test("a fork of another source or length than was signed is named at start, and answered with an error", async () => {
  const whole = await forked();
  const edits: ((state: MetaState) => void)[] = [
    (state) => (state.fork = state.fork && { ...state.fork, source: "/b" }),
    (state) => {
      state.base -= LINE;
      state.end -= LINE;
    },
  ];
  for (const change of edits) {
    const directory = tempDirectory();
    cpSync(whole, directory, { recursive: true });
    editMeta(directory, "/fork", change);
    await refusesForks(await served(directory));
  }
});

async function refusesForks({ faults, statuses, ask }: Awaited<ReturnType<typeof served>>) {
  expect(faults.join("\n")).toMatch(/\/fork is not served, because its history is not the one/);
  expect(faults.join("\n")).toMatch(/\/deep is not served.*of \/fork, in which it begins/);
  assert.deepEqual(statuses, { "/a": 200, "/b": 200, "/fork": 500, "/deep": 500 });
  const answer = await ask("/fork?offset=-1");
  expect(await answer.text()).toMatch(/STREAM_DAMAGED.*history is not the one that was signed/);
  const headers = { "content-type": "application/json" };
  const appended = await ask("/fork", { method: "POST", headers, body: "{}" });
  assert.equal(appended.status, 500);
  const fork = { "stream-forked-from": "/v1/stream/fork" };
  const created = await ask("/new", { method: "PUT", headers: { ...headers, ...fork } });
  assert.equal(created.status, 500);
  assert.equal((await ask("/a", { method: "POST", headers, body: "{}" })).status, 204);
}

describe.skipIf(lacksPostgres)("with a database", () => {
  test("forks whose rows contradict their checkpoints are named at start, and answered with an error", async () => {
    const edits = [
      `settings = replace(settings, '"source":"/a"', '"source":"/b"')`,
      `base = base - ${LINE}, "end" = "end" - ${LINE}`,
    ];
    for (const edit of edits) {
      const store = await newDatabase();
      const database = await SignedDatabase.create("verbatim", undefined, store);
      await writeForks(await database.open({ signingCadence: NEVER }));
      const serve = () => served(tempDirectory(), { store, durability: "memory" });
      const { faults, statuses } = await serve();
      assert.deepEqual(faults, []);
      assert.deepEqual(statuses, { "/a": 200, "/b": 200, "/fork": 200, "/deep": 200 });
      await database.rows(`UPDATE $.streams SET ${edit} WHERE path = '/fork'`);
      const running = await serve();
      await refusesForks(running);
      expect(running.faults.join()).toMatch(
        /`verbatim verify` on the database, and restore its row/,
      );
    }
  });
});

test("a fork that meta.jsonl calls a stream of its own is answered with an error", async () => {
  const directory = await forked();
  editMeta(directory, "/fork", (state) => {
    state.end -= state.base;
    state.base = 0;
    state.fork = null;
  });
  const { statuses, ask } = await served(directory);
  assert.equal(statuses["/fork"], 500);
  expect(await (await ask("/fork?offset=-1")).text()).toMatch(/its genesis says that it is a fork/);
});
