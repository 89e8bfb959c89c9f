/** `streams.db`: stored rows are found again, and an unusable file is replaced. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { refusal } from "../../../../test/support/refusal.ts";
import { tempDirectory } from "../../../../test/support/temp-directory.ts";
import { lookIntoCache, openCache } from "../../../core/sqlite/sqlite.ts";
import type { MessagePointer, StreamState } from "../../commit/stream-state.ts";
import { formatOffset } from "../offset-token.ts";
import { StreamIndex } from "./stream-index.ts";
import { SCHEMA } from "./stream-rows.ts";

test("S3-11 the messages table holds pointers, not data, found by stream and offset", async () => {
  const { index, path } = await newIndex();
  index.putMessages(stream({ readSeq: 1 }), [
    { end: 12, length: 5, timestamp: 1763200000000, crc: 7 },
  ]);
  index.close();
  const columns = await lookIntoCache(path, SCHEMA, "pragma_table_info('messages')", [
    "name",
    "pk",
  ]);
  assert.ok(columns.state === "ours");
  assert.deepEqual(columns.seen, [
    ["streamPath", 1],
    ["bytePos", 0],
    ["length", 0],
    ["offset", 2],
    ["timestamp", 0],
    ["crc", 0],
  ]);
  const rows = await lookIntoCache(path, SCHEMA, "messages", [
    "streamPath",
    "bytePos",
    "length",
    "offset",
    "timestamp",
  ]);
  assert.ok(rows.state === "ours");
  assert.deepEqual(rows.seen, [["/s", 7, 5, formatOffset(1, 12), 1763200000000]]);
});

test("S3-12 SQLite runs in WAL mode for streams.db", async () => {
  const { index, path } = await newIndex();
  index.putStream(stream({}));
  index.close();
  // The file format's versions to write and to read: 2 is WAL (sqlite.org/fileformat.html).
  assert.deepEqual([...readFileSync(path).subarray(18, 20)], [2, 2]);
});

test("a stream's state is read back as it was stored", async () => {
  const { index } = await newIndex();
  const states = [
    stream({}),
    stream({
      path: "/fork",
      status: "held",
      readSeq: 3,
      base: 10,
      end: 20,
      isJson: false,
      isClosed: true,
      closedBy: { id: "p", epoch: 1, seq: 2 },
      streamSeq: "",
      deletedAtMs: 5,
      lifetime: { kind: "until", atMs: 99, text: "2026-11-15T00:00:00Z" },
      inheritsLifetime: true,
      fork: { source: "/s", at: formatOffset(3, 8), subOffset: 2 },
      forks: 2,
      blockStart: 12,
      blockCrc: 0xffffffff,
    }),
  ];
  for (const state of states) index.putStream(state);
  for (const state of states) assert.deepEqual(index.stream(state.path), state);
  assert.equal(index.stream("/none"), null);
  index.putStream(stream({ end: 100 }));
  assert.equal(index.stream("/s")?.end, 100);
});

test("live streams are listed in order of path, page by page", async () => {
  const { index } = await newIndex();
  for (const path of ["/b", "/a", "/c", "/B"]) index.putStream(stream({ path }));
  index.putStream(stream({ path: "/aa", status: "deleted" }));
  index.putStream(stream({ path: "/ab", status: "held" }));
  const paths = (after: string, limit: number) =>
    index.liveStreams(after, limit).map((s) => s.path);
  assert.deepEqual(paths("", 10), ["/B", "/a", "/b", "/c"]);
  assert.deepEqual(paths("/a", 2), ["/b", "/c"]);
});

test("expired streams are found, and recently used ones are not", async () => {
  const { index } = await newIndex();
  const ttl = { lifetime: { kind: "ttl", seconds: 10 }, touchedAtMs: 1000 } as const;
  index.putStream(stream({ path: "/ttl", ...ttl }));
  index.putStream(stream({ path: "/gone", ...ttl, status: "deleted" }));
  index.putStream(stream({ path: "/until", lifetime: { kind: "until", atMs: 9000, text: "" } }));
  index.putStream(stream({ path: "/ever" }));
  const paths = (nowMs: number) => index.expiredStreams(nowMs, 10).map(({ path }) => path);
  assert.deepEqual(paths(8999), []);
  assert.deepEqual(paths(10_999), ["/until"]);
  assert.deepEqual(paths(11_000), ["/until", "/ttl"]);
});

test("a stream's expiry is stored as an exact integer, and an out-of-range one still lists the stream", async () => {
  const { index, path } = await newIndex();
  index.putStream(stream({ lifetime: { kind: "ttl", seconds: 1e13 } }));
  index.close();
  const put = await lookIntoCache(path, SCHEMA, "streams", ["expiresAt"]);
  assert.ok(put.state === "ours");
  assert.deepEqual(put.seen, [[Number.MAX_SAFE_INTEGER]]);
  const { cache } = await openCache(path, SCHEMA);
  cache?.run("UPDATE streams SET expiresAt = 10001794771496316");
  cache?.close();
  const again = await opened(path);
  assert.equal(again.stream("/s")?.path, "/s");
  assert.deepEqual([again.liveStreams("", 9).length, again.keptStreams("", 9).length], [1, 1]);
  assert.deepEqual(again.expiredStreams(Number.MAX_SAFE_INTEGER, 9), []);
});

test("messages between any two offsets are found, in order, counted, with the last of them", async () => {
  const { index } = await newIndex();
  // Method: every pair of offsets in a small stream, compared with the same lookup in an array.
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 20 }),
      fc.nat({ max: 5 }),
      async (lengths, base) => {
        const key = stream({ base, readSeq: 2 });
        const pointers: MessagePointer[] = [];
        let end = base;
        for (const length of lengths) {
          end += length;
          pointers.push({ end, length, timestamp: end, crc: end });
        }
        index.dropContents(key.path);
        index.transaction(() => index.putMessages(key, pointers));
        index.putMessages({ ...key, path: "/other" }, pointers);
        for (let after = base; after <= end; after++) {
          for (let upTo = after; upTo <= end; upTo++) {
            const found = pointers.filter((p) => p.end > after && p.end <= upTo);
            assert.deepEqual(index.messages(key, after, upTo), found);
            assert.deepEqual(index.messages(key, after, upTo, 2), found.slice(0, 2));
            assert.equal(index.lastEnd(key, after, upTo), found.at(-1)?.end ?? null);
            assert.equal(index.countMessages(key, after, upTo), found.length);
          }
        }
      },
    ),
    { numRuns: 20 },
  );
});

test("blocks are found when they are entirely between two offsets", async () => {
  const { index } = await newIndex();
  const blocks = [0, 10, 20, 35].map((start, n) => ({
    start,
    end: [10, 20, 30, 40][n] ?? 0,
    crc: n,
  }));
  for (const block of blocks) index.putBlock("/s", block);
  index.putBlock("/other", { start: 0, end: 10, crc: 9 });
  for (let from = 0; from <= 40; from++) {
    for (let to = from; to <= 40; to++) {
      const inside = blocks.filter(({ start, end }) => start >= from && end <= to);
      assert.deepEqual(index.blocks("/s", from, to).map(plain), inside);
    }
  }
});

test("producers, records and files to remove are kept, replaced and dropped", async () => {
  const { index } = await newIndex();
  index.putProducer("/s", { id: "a", epoch: 0, seq: 0 });
  index.putProducer("/s", { id: "a", epoch: 1, seq: 5 });
  index.putProducer("/t", { id: "a", epoch: 7, seq: 7 });
  assert.deepEqual(plain(index.producer("/s", "a")), { id: "a", epoch: 1, seq: 5 });
  assert.equal(index.producer("/s", "b"), null);
  index.dropContents("/s");
  assert.equal(index.producer("/s", "a"), null);
  assert.equal(index.producer("/t", "a")?.seq, 7);

  for (const key of ["b/1", "a/2", "a/1", "a", "a/😀", "b"])
    index.putRecord(key, key.toUpperCase());
  index.putRecord("a/2", null);
  index.putRecord("a/1", "new");
  assert.deepEqual(
    [...index.records("a/")],
    [
      ["a/1", "new"],
      ["a/😀", "A/😀"],
    ],
  );
  assert.equal(index.records("").size, 5);

  index.putRemoval("x.jsonl", 10);
  index.putRemoval("y.jsonl", 20);
  assert.deepEqual(index.removals(15, 10), ["x.jsonl"]);
  index.dropRemoval("x.jsonl");
  assert.deepEqual(index.removals(99, 10), ["y.jsonl"]);
});

test("a failed transaction stores nothing and does not advance the applied position", async () => {
  const { index } = await newIndex();
  const before = index.applied();
  assert.throws(() =>
    index.transaction(() => {
      index.putStream(stream({}));
      index.setApplied({ ...before, lsn: 9, metaBytes: 9 });
      throw new Error("in between");
    }),
  );
  assert.equal(index.stream("/s"), null);
  assert.deepEqual(index.applied(), before);
});

test("a database that is missing, damaged or another store's is treated as empty", async () => {
  const { index, path } = await newIndex();
  const applied = { ...index.applied(), lsn: 5, metaBytes: 6 };
  index.putStream(stream({}));
  index.setApplied(applied);
  index.close();
  const again = await opened(path);
  assert.deepEqual(plain(again.applied()), applied);
  again.spoil();
  again.close();
  const spoilt = await opened(path);
  assert.equal(spoilt.applied().lsn, 0);
  assert.equal(spoilt.stream("/s"), null);
  spoilt.close();

  const damaged = join(tempDirectory(), "streams.db");
  writeFileSync(damaged, "no database at all".repeat(1000));
  assert.equal((await opened(damaged)).applied().lsn, 0);
});

test("a database that cannot be opened causes an error with the reason", async () => {
  const directory = join(tempDirectory(), "streams.db");
  mkdirSync(directory);
  const { details } = await refusal(StreamIndex.open(directory), "IO_ERROR");
  assert.deepEqual(details, { path: directory, operation: "opening", errno: "EINVAL" });
});

async function newIndex(): Promise<{ index: StreamIndex; path: string }> {
  const path = join(tempDirectory(), "streams.db");
  return { index: await opened(path), path };
}

async function opened(path: string): Promise<StreamIndex> {
  const index = await StreamIndex.open(path);
  onTestFinished(() => {
    try {
      index.close();
    } catch {
      // The test closed it already.
    }
  });
  return index;
}

function stream(state: Partial<StreamState>): StreamState {
  return {
    path: "/s",
    streamId: "1",
    status: "live",
    readSeq: 0,
    file: "s.jsonl",
    contentType: "application/json; charset=utf-8",
    isJson: true,
    lifetime: { kind: "forever" },
    inheritsLifetime: false,
    base: 0,
    end: 0,
    isClosed: false,
    closedBy: null,
    streamSeq: null,
    createdAtMs: 1,
    touchedAtMs: 2,
    deletedAtMs: null,
    fork: null,
    forks: 0,
    blockStart: 0,
    blockCrc: 0,
    ...state,
  };
}

/** SQLite's rows have no prototype. */
function plain<T extends object>(row: T | null): T | null {
  return row === null ? null : { ...row };
}
