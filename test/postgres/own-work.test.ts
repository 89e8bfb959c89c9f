/** Servers with one database: each hears only of what is waited for there. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { ReceivedSessions } from "../../src/server/received/received-sessions.ts";
import type { StreamStore } from "../../src/streams/files/stream-store.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

const TEXT = { body: new Uint8Array(), isClosed: false, contentType: "text/plain" };
const SESSION = "/sessions/ada/homeagent/agents/cook/sessions";

describe.skipIf(lacksPostgres)("with a database", () => {
  test("a server on which nothing waits receives nothing about what others append", async () => {
    const { one, two, proxy, url, schema } = await pair();
    const removed: string[] = [];
    two.watchRemoved("/gone", (path) => removed.push(path));
    for (const path of ["/busy", "/gone/1"]) await one.create(path, TEXT);
    // A third server listens, so that notifications are sent.
    const three = await opened(url, schema);
    onTestFinished(() => three.close());
    let end: unknown = null;
    three.watch("/busy", (head) => {
      end = head?.end;
    });
    const first = await append(one, "/busy", "x");
    await until(() => end === first, "the third server has heard");
    const sent: Buffer[] = [];
    proxy.sent = sent;
    for (let n = 0; n < 20; n++) {
      const last = await append(one, "/busy", "x");
      await until(() => end === last, "the third server hears");
    }
    // It asks for deletions: when it has heard of this one, it has asked about the appends, too.
    await one.remove("/gone/1");
    await until(() => removed.length > 0, "the deletion");
    assert.deepEqual(removed, ["/gone/1"]);
    const text = Buffer.concat(sent).toString("latin1");
    assert.deepEqual([text.includes("/gone/1"), text.includes("/busy")], [true, false]);
  });

  test("a server on which one stream is read receives no row of the others", async () => {
    const { one, two, proxy } = await pair();
    for (const path of ["/busy", "/read"]) await one.create(path, TEXT);
    let isCalled = false;
    two.watch("/read", () => {
      isCalled = true;
    });
    const sent: Buffer[] = [];
    proxy.sent = sent;
    for (let n = 0; n < 20; n++) await append(one, "/busy", "x");
    await append(one, "/read", "y");
    await until(() => isCalled, "the append");
    const text = Buffer.concat(sent).toString("latin1");
    const notified = /verbatim_[^\0]*\0[^\0]*\0/g; // A channel, and the paths that were changed.
    const rows = text.replaceAll(notified, "");
    assert.deepEqual([rows.includes("/read"), rows.includes("/busy")], [true, false]);
  });

  test("one who begins to wait while another server appends misses nothing", async () => {
    const { one, url, schema } = await pair();
    await one.create("/s", TEXT);
    for (let round = 1; round <= 6; round++) {
      const two = await opened(url, schema); // It does not listen yet.
      let called = () => {};
      const isCalled = new Promise<void>((resolve) => {
        called = resolve;
      });
      const appending = append(one, "/s", "x");
      const stop = two.watch("/s", () => called());
      const { bytes } = await two.read("/s", "start", 1000);
      if (bytes.length < round) await isCalled;
      stop();
      await appending;
      assert.equal((await two.read("/s", "start", 1000)).bytes.length, round);
      await two.close();
    }
  });

  test("what is appended while the connection that listens is broken is heard of later", async () => {
    const { one, two, proxy } = await pair();
    await one.create("/s", TEXT);
    const ends: unknown[] = [];
    two.watch("/s", (head) => ends.push(head?.end));
    const first = await append(one, "/s", "x");
    await until(() => ends.at(-1) === first, "the first append");
    const { target } = proxy;
    proxy.target = null;
    proxy.cutAll();
    const second = await append(one, "/s", "y");
    proxy.target = target;
    await until(() => ends.at(-1) === second, "the append in between");
    const third = await append(one, "/s", "z");
    await until(() => ends.at(-1) === third, "the append after it");
  });

  test("more changes than a notification holds are heard of", async () => {
    const { one, two } = await pair();
    const paths = Array.from({ length: 40 }, (_, n) => `/${"long".repeat(100)}/${n}`);
    const created = new Set<string>();
    two.watchPrefix("/long", (path) => created.add(path));
    await Promise.all(paths.map((path) => one.create(path, TEXT)));
    await until(() => created.size === paths.length, "all");
  });

  test("a received session is copied to another server when it is read there, and no other one", async () => {
    const { one, two } = await pair();
    const streams = [`${SESSION}/soup.jsonl`, `${SESSION}/rice.jsonl`] as const;
    for (const stream of streams) await one.create(stream, { ...TEXT, body: Buffer.from("{}\n") });
    const directory = tempDirectory();
    const received = await receiving(two, directory);
    const copyOf = (stream: string) => join(directory, stream.replace("/sessions/", ".received/"));
    const copied = () => streams.map((stream) => existsSync(copyOf(stream)));
    await received.list();
    assert.deepEqual([received.stores().length, copied()], [1, [false, false]]);
    await received.refresh(streams[0]);
    assert.deepEqual(copied(), [true, false]);
    await append(one, streams[0], "{}\n");
    await received.refresh();
    assert.deepEqual(copied(), [true, true]);
    const isLong = async () => {
      await received.refresh(streams[0]);
      return readFileSync(copyOf(streams[0]), "utf8") === "{}\n{}\n";
    };
    await until(isLong, "what was appended is copied");
    await one.remove(streams[0]);
    await until(() => !copied()[0], "the copy of a deleted session is removed, read or not");
  });

  test("a session that is followed on another server grows there without a request", async () => {
    const { one, two } = await pair();
    const stream = `${SESSION}/soup.jsonl`;
    await one.create(stream, TEXT);
    const directory = tempDirectory();
    const received = await receiving(two, directory);
    await received.refresh(stream);
    const stop = received.follow(stream);
    await append(one, stream, "{}\n");
    const path = join(directory, stream.replace("/sessions/", ".received/"));
    await until(() => readFileSync(path, "utf8") === "{}\n", "it grew");
    stop();
  });

  test("a server on which sessions are no longer read stops watching them, and finds what it missed", async () => {
    const { one, two } = await pair();
    let watching = 0;
    const watchPrefix: StreamStore["watchPrefix"] = (prefix, onChange) => {
      watching++;
      const stop = two.watchPrefix(prefix, onChange);
      return () => {
        watching--;
        stop();
      };
    };
    const store = new Proxy(two, {
      get: (target, name) => {
        if (name === "watchPrefix") return watchPrefix;
        const value = target[name as keyof StreamStore] as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const directory = tempDirectory();
    const received = await receiving(store, directory, 0);
    await received.refresh();
    await until(() => watching === 0, "it stopped");
    const stream = `${SESSION}/soup.jsonl`;
    await one.create(stream, { ...TEXT, body: Buffer.from("{}\n") });
    await received.refresh(stream);
    assert.ok(existsSync(join(directory, stream.replace("/sessions/", ".received/"))));
  });
});

/** Two servers with one schema; the second one's connections go through a proxy. */
async function pair() {
  const schema = newSchema();
  const shared = await sharedPostgres();
  const proxy = await PostgresProxy.open(decodeURIComponent(shared.split("host=")[1] ?? ""));
  const one = await opened(shared, schema);
  const two = await opened(proxy.url, schema);
  onTestFinished(async () => {
    await one.close();
    await two.close();
    await proxy.close();
  });
  return { one, two, proxy, schema, url: shared };
}

function opened(url: string, schema: string) {
  return openPostgresStore(url, { schema, durability: "memory" });
}

async function receiving(store: StreamStore, dataDirectory: string, useMs?: number) {
  const faults: unknown[] = [];
  const received = await ReceivedSessions.open({
    host: nodeHost,
    store,
    dataDirectory,
    onDeleted: async () => {},
    onFault: (...fault) => faults.push(fault),
    ...(useMs !== undefined && { useMs }),
  });
  onTestFinished(async () => {
    await received.close();
    assert.deepEqual(faults, []);
  });
  return received;
}

async function append(store: StreamStore, path: string, text: string): Promise<string> {
  const { head } = await store.append(path, { body: Buffer.from(text), close: false });
  return head.end;
}
