/** The JSONL-logger document's engine, on the entry point that it defines. */

import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { APPEND_MESSAGES_MAX, MESSAGE_DEPTH_MAX } from "../../src/core/base/limits.ts";
import { lookIntoCache } from "../../src/core/sqlite/sqlite.ts";
import {
  encodeLine,
  formatOffset,
  type JsonlEngine,
  LogFile,
  openStreams,
} from "../../src/doors/streams.ts";
import { SCHEMA } from "../../src/streams/files/lookup/stream-rows.ts";
import { openDescriptorsBelow } from "../support/open-descriptors.ts";
import { bytesOf } from "../support/open-log.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const PATH = "/chat/session-1";
const HELLO = '{"role":"user","content":"hello"}';
const HI = '{"role":"assistant","content":"Hi there!"}';

test("S3-4 the data directory has streams.db and logs/, one file per stream", async () => {
  const { engine, directory } = await opened();
  await engine.createStream(PATH);
  await engine.append(PATH, bytesOf(HELLO));
  const names = readdirSync(directory);
  for (const name of ["streams.db", "streams.db-wal", "logs", "journal", "meta.jsonl"]) {
    assert.ok(names.includes(name), name);
  }
  assert.deepEqual(readdirSync(join(directory, "logs")), ["chat__session-1.jsonl"]);
  assert.equal(statSync(join(directory, "logs")).mode & 0o777, 0o700);
});

test("S3-12 the files are grep-able: one JSON value per line, newline-terminated, unchanged", async () => {
  const { engine, directory } = await opened();
  await engine.createStream(PATH);
  await engine.append(PATH, bytesOf(HELLO));
  await engine.append(PATH, bytesOf(HI));
  const file = readFileSync(join(directory, "logs/chat__session-1.jsonl"), "utf8");
  assert.equal(file, `${HELLO}\n${HI}\n`);
});

test("S3-6 read returns data, offset and timestamp, all of them or those after an offset", async () => {
  let nowMs = 1_763_200_000_000;
  const { engine } = await opened({ now: () => nowMs++ });
  await engine.createStream(PATH);
  const appended = [];
  for (const text of [HELLO, HI, "[1,2]"]) appended.push(await engine.append(PATH, bytesOf(text)));
  const messages = await engine.read(PATH);
  assert.deepEqual(
    messages.map(({ data }) => Buffer.from(data).toString()),
    [HELLO, HI, "[1,2]"],
  );
  assert.deepEqual(
    messages.map(({ offset }) => offset),
    appended,
  );
  const times = messages.map(({ timestamp }) => timestamp);
  assert.deepEqual(times, times.toSorted());
  assert.ok(times.every((time) => time >= 1_763_200_000_000));
  for (const [n, offset] of appended.entries()) {
    assert.deepEqual(await engine.read(PATH, offset), messages.slice(n + 1));
  }
  assert.equal(await engine.getCurrentOffset(PATH), appended.at(-1));
  assert.equal(await engine.messageCount(PATH), 3);
});

test("S3-7 the engine's offsets are sixteen digits each and sort as strings", async () => {
  const { engine } = await opened();
  await engine.createStream(PATH);
  assert.equal(await engine.getCurrentOffset(PATH), "0000000000000000_0000000000000000");
  assert.equal(await engine.append(PATH, bytesOf('"0123456789"')), formatOffset(0, 13));
});

test("S3-5 file first, then one SQLite transaction: pointer and current offset agree with the file", async () => {
  const { engine, directory } = await opened();
  await engine.createStream(PATH);
  await engine.append(PATH, bytesOf(HELLO));
  await engine.append(PATH, bytesOf(HI));
  await engine.close();
  const database = join(directory, "streams.db");
  const columns = ["streamPath", "bytePos", "length", "offset"];
  const messages = await lookIntoCache(database, SCHEMA, "messages", columns);
  const streams = await lookIntoCache(database, SCHEMA, "streams", ["path", "currentByteOffset"]);
  assert.ok(messages.state === "ours" && streams.state === "ours");
  const end = HELLO.length + HI.length + 2;
  assert.deepEqual(streams.seen, [[PATH, end]]);
  assert.deepEqual(messages.seen, [
    [PATH, 0, HELLO.length + 1, formatOffset(0, HELLO.length + 1)],
    [PATH, HELLO.length + 1, HI.length + 1, formatOffset(0, end)],
  ]);
});

test("S3-5 bytes without their transaction are orphans until the engine is reopened, and then there once", async () => {
  const { engine, directory } = await opened();
  await engine.createStream(PATH);
  await engine.append(PATH, bytesOf(HELLO));
  // As after kill -9: the files as they are, without SQLite's row.
  const killed = join(tempDirectory(), "data");
  cpSync(directory, killed, { recursive: true, filter: (from) => !from.includes("streams.db") });
  const again = await reopened(killed);
  await again.append(PATH, bytesOf(HI));
  const texts = (await again.read(PATH)).map(({ data }) => Buffer.from(data).toString());
  assert.deepEqual(texts, [HELLO, HI]);
  const file = readFileSync(join(killed, "logs/chat__session-1.jsonl"), "utf8");
  assert.equal(file, `${HELLO}\n${HI}\n`);
});

test("S3-5 bytes that another program appended are neither read nor overwritten", async () => {
  const { engine, directory } = await opened();
  await engine.createStream(PATH);
  await engine.append(PATH, bytesOf(HELLO));
  await engine.close();
  const file = join(directory, "logs/chat__session-1.jsonl");
  writeFileSync(file, '{"not":"ours"}\n', { flag: "a" });

  const again = await reopened(directory);
  await refusal(again.append(PATH, bytesOf(HI)), "STREAM_DAMAGED");
  await again.createStream("/other");
  await again.append("/other", bytesOf(HI));
  assert.equal((await again.read(PATH)).length, 1);
  assert.equal(readFileSync(file, "utf8"), `${HELLO}\n{"not":"ours"}\n`);
});

test("S3-8 a deleted stream is gone; created again, its old offsets are invalid and its rows removed", async () => {
  const { engine, directory } = await opened();
  await engine.createStream(PATH);
  const old = await engine.append(PATH, bytesOf(HELLO));
  await engine.deleteStream(PATH);
  assert.equal(await engine.getStream(PATH), null);
  assert.deepEqual(await engine.listStreams(), []);
  await refusal(engine.append(PATH, bytesOf(HI)), "STREAM_NOT_FOUND");

  await engine.createStream(PATH);
  assert.equal(await engine.getCurrentOffset(PATH), formatOffset(1, 0));
  assert.deepEqual(await engine.read(PATH), []);
  assert.equal(await engine.messageCount(PATH), 0);
  await refusal(engine.read(PATH, old), "OFFSET_GONE");
  await engine.append(PATH, bytesOf(HI));
  const files = readdirSync(join(directory, "logs")).sort();
  assert.deepEqual(files, ["chat__session-1.jsonl", "chat__session-1~1.jsonl"]);
  assert.equal(
    readFileSync(join(directory, "logs", "chat__session-1.jsonl"), "utf8"),
    `${HELLO}\n`,
  );
});

test("S3-9 few files stay open however many streams are used, and none of a deleted one", async () => {
  const { engine, directory } = await opened({ openFilesMax: 4 });
  const logs = join(directory, "logs/");
  const paths = Array.from({ length: 20 }, (_, n) => `/s/${n}`);
  await Promise.all(paths.map((path) => engine.createStream(path)));
  await Promise.all(paths.map((path) => engine.append(path, bytesOf(HELLO))));
  await Promise.all(paths.map((path) => engine.read(path)));
  assert.ok(openDescriptorsBelow(logs).length <= 4);
  for (const path of paths) await engine.deleteStream(path);
  await new Promise(setImmediate);
  assert.deepEqual(openDescriptorsBelow(logs), []);
});

test("S3-12 nothing is cached: a read reads the file, and notices when it was changed", async () => {
  const { engine, directory } = await opened();
  await engine.createStream(PATH);
  await engine.append(PATH, bytesOf(HELLO));
  await engine.read(PATH);
  const file = join(directory, "logs/chat__session-1.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace("hello", "jello"));
  const { details } = await refusal(engine.read(PATH), "STREAM_DAMAGED");
  assert.deepEqual(details, { stream: PATH, offset: 0, path: file });
});

test("S3-1 the entry point has the document's LogFile too", async () => {
  const path = join(tempDirectory(), "own.jsonl");
  const file = await LogFile.open(path);
  assert.deepEqual(await file.append(bytesOf(HELLO)), { bytePos: 0, length: HELLO.length });
  await file.close();
  assert.equal(readFileSync(path, "utf8"), `${HELLO}\n`);
});

test("one append is one message, also an array, and a value without JSON is refused", async () => {
  const { engine } = await opened();
  await engine.createStream(PATH);
  for (const text of ["[]", " [1, [2]]\n", "[[]]"]) await engine.append(PATH, bytesOf(text));
  for (const text of ["1,2", "[1],[2]", "[1", "", "]["]) {
    await refusal(engine.append(PATH, bytesOf(text)), "BAD_MESSAGE");
  }
  const texts = (await engine.read(PATH)).map(({ data }) => Buffer.from(data).toString());
  assert.deepEqual(texts, ["[]", "[1, [2]]", "[[]]"]);
});

test("the engine refuses too deep nesting and too many messages, like the server", async () => {
  const { engine } = await opened();
  await engine.createStream(PATH);
  const nested = (depth: number) => bytesOf("[".repeat(depth) + "]".repeat(depth));
  await engine.append(PATH, nested(MESSAGE_DEPTH_MAX));
  await refusal(engine.append(PATH, nested(MESSAGE_DEPTH_MAX + 1)), "BAD_MESSAGE");
  const many = Array.from({ length: APPEND_MESSAGES_MAX + 1 }, () => 1);
  await refusal(engine.appendAll(PATH, many), "TOO_MANY_MESSAGES");
  assert.equal(await engine.messageCount(PATH), 1);
});

test("streams are listed in order of path, with their facts", async () => {
  const { engine } = await opened();
  await engine.createStream("/b", { contentType: "text/plain" });
  await engine.createStream("/a");
  assert.deepEqual(
    (await engine.listStreams()).map(({ path }) => path),
    ["/a", "/b"],
  );
  assert.equal((await engine.getStream("/b"))?.contentType, "text/plain");
  assert.equal((await engine.createStream("/a")).path, "/a"); // As it is.
  await refusal(engine.createStream("/a", { contentType: "text/plain" }), "STREAM_CONFLICT");
  await refusal(engine.createStream("/a?b"), "BAD_STREAM_PATH");
});

test("streams.db may be deleted: it is rebuilt, with the same offsets, times and pointers", async () => {
  const { engine, directory } = await opened();
  for (const path of ["/a", "/b"]) {
    await engine.createStream(path);
    for (let n = 0; n < 5; n++) await engine.append(path, encodeLine({ n }));
  }
  const before = [await engine.listStreams(), await engine.read("/a"), await engine.read("/b")];
  await engine.close();
  for (const ending of ["", "-wal", "-shm"])
    rmSync(join(directory, `streams.db${ending}`), { force: true });
  const again = await reopened(directory);
  assert.ok(existsSync(join(directory, "streams.db")));
  assert.deepEqual(
    [await again.listStreams(), await again.read("/a"), await again.read("/b")],
    before,
  );
});

test("one process has a data directory at a time", async () => {
  const { engine, directory } = await opened();
  await refusal(openStreams({ root: directory }), "LOG_LOCKED");
  await engine.close();
  await engine.close();
  await (await reopened(directory)).createStream(PATH);
});

async function opened(options = {}): Promise<{ engine: JsonlEngine; directory: string }> {
  const directory = tempDirectory();
  return { engine: await reopened(directory, options), directory };
}

async function reopened(directory: string, options = {}): Promise<JsonlEngine> {
  const engine = await openStreams({ root: directory, ...options });
  onTestFinished(() => engine.close());
  return engine;
}
