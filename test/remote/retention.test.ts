/** A server's rule for received sessions: what it deletes, what it keeps, and every byte left. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { VerbatimClient } from "../../src/doors/client.ts";
import { createShare } from "../../src/evidence/share/create-share.ts";
import { FileShares } from "../../src/evidence/share/share-files.ts";
import { Places } from "../../src/history/places.ts";
import { holdSession } from "../../src/history/removals.ts";
import type { ServeOptions } from "../../src/server/settings/serve-options.ts";
import { openLocalStore } from "../../src/streams/files/local-store.ts";
import { startTestServer, type TestServer } from "../server/test-server.ts";
import { ManualTime } from "../support/manual-time.ts";
import { lacksPostgres, newDatabase, rowsIn } from "../support/postgres.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

const BYTES = "application/octet-stream";
const DAY_MS = 86_400_000;
/** One word, so that a full-text index holds it whole. */
const VALUE = "quixote90417zebra";
const RULE = { keepReceivedMs: 180 * DAY_MS, sweepMs: 1000 } as const;
const turn = (text: string) => {
  return `${JSON.stringify({ turnId: "1", role: "user", content: text, ts: 1_700_000_000_000 })}\n`;
};
const streamOf = (name: string) => `/sessions/laptop/homeagent/agents/cook/sessions/${name}.jsonl`;

const copyOf = ({ directory }: TestServer, stream: string) => {
  return join(directory, stream.replace("/sessions/", ".received/"));
};

/** A user of this process, whose caches and state are in a directory of their own. */
function ownUser(): string {
  const home = tempDirectory();
  for (const [name, part] of Object.entries({ CACHE: "cache", STATE: "state", DATA: "share" })) {
    process.env[`XDG_${name}_HOME`] = join(home, part);
  }
  return home;
}

/** The files below directories that have a text. */
function holding(text: string, ...directories: string[]): string[] {
  return directories.flatMap((directory) => {
    return readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(directory, name), { throwIfNoEntry: false })?.isFile())
      .filter((name) => readFileSync(join(directory, name)).includes(text));
  });
}

async function receive(server: TestServer, stream: string, text: string): Promise<void> {
  await fetch(server.at(stream), { method: "PUT", headers: { "Content-Type": BYTES } });
  await server.post(stream, BYTES, text);
}

const isThere = async ({ at }: TestServer, stream: string) => {
  return (await fetch(at(stream), { method: "HEAD" })).ok;
};
const isGone = async (server: TestServer, stream: string) => !(await isThere(server, stream));
const reportOf = ({ url }: TestServer) => new VerbatimClient({ url }).sessions.retention();

/** Waits until the rule was applied after this time. */
async function nextRun(server: TestServer, time: ManualTime, passes: number): Promise<void> {
  time.pass(passes);
  const at = new Date(time.nowMs()).toISOString();
  await until(async () => (await reportOf(server)).lastRunAt === at, "the rule is applied");
}

test("a received session is deleted when its last change is older than the rule, and not before", async () => {
  ownUser();
  const time = new ManualTime();
  const notes: string[] = [];
  const onNote = (note: string) => notes.push(note);
  const server = await startTestServer({ ...RULE, time, onNote });
  const [old, grown] = [streamOf("old"), streamOf("grown")];
  for (const stream of [old, `${old}.checkpoints`, grown]) await receive(server, stream, turn("a"));
  await server.put("/chat", BYTES);
  await nextRun(server, time, 100 * DAY_MS);
  await server.post(grown, BYTES, turn("b"));
  await nextRun(server, time, 80 * DAY_MS - 1);
  assert.ok(await isThere(server, old));
  expect(await reportOf(server)).toMatchObject({ keepSeconds: 180 * 86_400, removed: [] });
  await nextRun(server, time, 3_600_000);
  assert.ok(await isGone(server, old));
  assert.ok(await isGone(server, `${old}.checkpoints`));
  assert.ok(await isThere(server, grown));
  assert.ok(await isThere(server, "/chat"));
  const { removed } = await reportOf(server);
  const bytes = 2 * turn("a").length;
  const changedAt = "2026-01-01T00:00:00.000Z";
  expect(removed).toMatchObject([{ session: "cook/old", stream: old, changedAt, bytes }]);
  const note = `deleted the received session ${old}: ${bytes} bytes, last changed ${changedAt}`;
  assert.deepEqual(notes, [note]);
});

test("a held session stays, whatever its age", async () => {
  ownUser();
  const time = new ManualTime();
  const server = await startTestServer({ ...RULE, time });
  for (const name of ["case", "other"]) await receive(server, streamOf(name), turn("a"));
  await until(() => existsSync(copyOf(server, streamOf("case"))), "the copy");
  // `verbatim rm --hold cook/case --root DATA`
  const places = new Places(nodeHost, { roots: [server.directory] });
  await holdSession(places, "cook/case", "case 4711");
  await nextRun(server, time, 200 * DAY_MS);
  assert.ok(await isThere(server, streamOf("case")));
  assert.ok(await isGone(server, streamOf("other")));
  assert.equal((await reportOf(server)).held, 1);
});

test("a stream that grew since it was looked at is not deleted", async () => {
  const store = await openLocalStore({ dataDirectory: tempDirectory() });
  const { head } = await store.create("/a", { body: Buffer.from("a"), isClosed: false });
  const append = store.append("/a", { body: Buffer.from("b"), close: false });
  await assert.rejects(store.remove("/a", head.end), { code: "STREAM_CONFLICT" });
  const { end } = (await append).head;
  await store.remove("/a", end);
  await assert.rejects(store.head("/a"), { code: "STREAM_NOT_FOUND" });
  await store.close();
});

test("what a killed server left of a deletion is finished at the next start", async () => {
  ownUser();
  const time = new ManualTime();
  const options: Partial<ServeOptions> = { time, dataDirectory: tempDirectory() };
  const first = await startTestServer(options);
  const [log, unsigned] = [streamOf("dinner"), streamOf("unsigned")];
  const streams = [log, `${log}.checkpoints`, unsigned];
  for (const stream of streams) await receive(first, stream, turn(VALUE));
  const copies = [log, unsigned].map((stream) => copyOf(first, stream));
  const isWhole = (copy: string) => existsSync(copy) && statSync(copy).size > 0;
  await until(() => copies.every(isWhole), "the copies");
  await first.running.close();
  // Killed after the log's stream was deleted: its copy and the sidecar are left.
  const store = await openLocalStore({ dataDirectory: first.directory, now: time.nowMs });
  await store.remove(log);
  await store.remove(unsigned);
  await store.close();
  time.pass(200 * DAY_MS);
  const second = await startTestServer({ ...options, ...RULE });
  await until(() => isGone(second, `${log}.checkpoints`), "the sidecar is deleted");
  await until(() => !copies.some((copy) => existsSync(copy)), "the copies are removed");
});

test("no byte of a deleted session is left in data, caches and state", async () => {
  const home = ownUser();
  const time = new ManualTime();
  const first = await startTestServer({ ...RULE, time });
  const { directory: dataDirectory } = first;
  await receive(first, streamOf("dinner"), turn(`my name is ${VALUE}`));
  await receive(first, streamOf("keeps"), turn("something else"));
  const client = new VerbatimClient({ url: first.url });
  const isFound = async () => {
    time.pass(1000); // So that the index looks again.
    return (await client.sessions.search(VALUE)).hits.length === 1;
  };
  await until(isFound, "it is found");
  await client.sessions.list({ facets: true, sort: "cost" });
  await fetch(`${first.url}/v1/usage`);
  assert.ok(holding(VALUE, dataDirectory, home).length > 2);
  time.pass(100 * DAY_MS);
  await first.post(streamOf("keeps"), BYTES, turn("more"));
  await nextRun(first, time, 100 * DAY_MS);
  const isClean = () => holding(VALUE, home, join(dataDirectory, ".received")).length === 0;
  await until(isClean, "caches and copies are clean");
  const { sessions } = await client.sessions.list();
  assert.deepEqual(
    sessions.map(({ session }) => session),
    ["cook/keeps"],
  );
  assert.equal((await client.sessions.search("something")).hits.length, 1);
  await first.running.close(); // Moves the journal into the log files.
  const second = await startTestServer({ ...RULE, time, dataDirectory });
  time.pass(1000);
  await until(() => holding(VALUE, dataDirectory, home).length === 0, "nothing has it");
  assert.ok(await isThere(second, streamOf("keeps")));
});

test("shares of a deleted session are revoked, not those of another machine's with its id", async () => {
  ownUser();
  const time = new ManualTime(Date.now());
  const { nowMs } = time;
  const server = await startTestServer({ ...RULE, time });
  const shares = new FileShares(nodeHost, server.directory, nowMs);
  const ids: string[] = [];
  const streams = ["laptop", "desktop"].map((machine) => {
    return streamOf("dinner").replace("/laptop/", `/team/@${machine}/ada/`);
  });
  for (const stream of streams) {
    await receive(server, stream, turn("good evening"));
    const copy = copyOf(server, stream);
    await until(() => existsSync(copy) && statSync(copy).size > 0, "the copy");
    const [root = "", logId = ""] = copy.split(/(?<=\/homeagent)\//);
    const session = { dialect: "homeagent", id: "cook/dinner", root, logId };
    const withholding = { rules: [], reason: "private" };
    const asked = { session, withholding, expiresAtMs: nowMs() + 300 * DAY_MS };
    const { share } = await createShare(nodeHost, shares, asked, { nowMs, onWarning() {} });
    ids.push(share.id);
  }
  time.pass(100 * DAY_MS);
  await server.post(streams[1] ?? "", BYTES, turn("more"));
  await nextRun(server, time, 100 * DAY_MS);
  const valid = async () => {
    const all = await shares.list();
    return all.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id);
  };
  await until(async () => (await valid()).length < 2, "one is revoked");
  assert.deepEqual(await valid(), ids.slice(1));
  const copies = () => {
    const names = readdirSync(join(server.directory, ".shares"));
    return names.filter((name) => name.endsWith(".vbd"));
  };
  await until(() => copies().length < 2, "its copy is removed");
  assert.deepEqual(copies(), [`${ids[1]}-1.vbd`]);
});

test.skipIf(lacksPostgres)("a database has no row of a deleted session", async () => {
  ownUser();
  const store = await newDatabase();
  const time = new ManualTime(Date.now());
  const server = await startTestServer({ ...RULE, time, store, durability: "memory" });
  await receive(server, streamOf("dinner"), turn(VALUE));
  await nextRun(server, time, 200 * DAY_MS);
  assert.ok(await isGone(server, streamOf("dinner")));
  const rows = "SELECT count(*)::int AS n FROM verbatim.messages";
  await until(async () => {
    time.pass(1000);
    return (await rowsIn(store, rows))[0]?.n === 0;
  }, "the sweeper removes its messages");
});

test("a rule that is shorter than a minute, or no age, is refused", async () => {
  const { openServer } = await import("../../src/doors/server.ts");
  const open = openServer({ root: tempDirectory(), keepReceivedMs: 59_999 });
  await assert.rejects(open, { code: "BAD_SETTING", message: /keepReceivedMs must be at least/ });
});
