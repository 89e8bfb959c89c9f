/** The log file of the JSONL-logger document, method by method. */

import assert from "node:assert/strict";
import { pbkdf2 } from "node:crypto";
import { closeSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { openDescriptorsBelow } from "../../../test/support/open-descriptors.ts";
import {
  bytesOf,
  contentOf,
  logHolding,
  newLogPath,
  openWriter,
} from "../../../test/support/open-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { LogFile } from "./log-file.ts";
import type { LogOptions } from "./log-options.ts";

const derive = promisify(pbkdf2);
const decoder = new TextDecoder();

test("append writes the data and a newline, and returns the data's position", async () => {
  const path = newLogPath();
  const file = await open(path);

  assert.deepEqual(await file.append(bytesOf('{"n":1}')), { bytePos: 0, length: 7 });
  assert.deepEqual(await file.append(bytesOf('"é"')), { bytePos: 8, length: 4 });
  assert.deepEqual(await file.append(bytesOf("")), { bytePos: 13, length: 0 });
  assert.equal(contentOf(path), '{"n":1}\n"é"\n\n');
  assert.equal(statSync(path).mode & 0o7777, 0o600);
});

test("data and newline go out in one write", async () => {
  const path = newLogPath();
  const disk = new WatchedFiles();
  const file = await open(path, {}, disk);
  await file.append(bytesOf("12345"));

  assert.deepEqual(
    disk.made("write", "log.jsonl").map(({ bytes }) => bytes),
    [6],
  );
});

test("readAt returns the appended data, whatever it was", async () => {
  const file = await open(newLogPath(), { durability: "os" });
  const data = fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => bytes.filter((b) => b !== 0 && b !== 10));
  await fc.assert(
    fc.asyncProperty(fc.array(data, { maxLength: 8 }), async (all) => {
      const stored = await Promise.all(all.map((data) => file.append(data)));
      const read = await Promise.all(stored.map((at) => file.readAt(at.bytePos, at.length)));
      assert.deepEqual(
        read.map((bytes) => [...bytes]),
        all.map((bytes) => [...bytes]),
      );
      assert.deepEqual(await file.readRange(stored), read);
    }),
    { numRuns: 60 },
  );
});

test("readRange returns the data of the entries in the order asked", async () => {
  const file = await open(newLogPath());
  const stored = [];
  for (const data of ["one", "two", "three"]) stored.push(await file.append(bytesOf(data)));
  const [one, two, three] = stored;
  assert.ok(one && two && three);

  const read = await file.readRange([three, one, two, one]);
  assert.deepEqual(
    read.map((bytes) => decoder.decode(bytes)),
    ["three", "one", "two", "one"],
  );
  assert.deepEqual(await file.readRange([]), []);
});

test("readFrom returns everything from a position to the end, newlines included", async () => {
  const file = await open(logHolding("one\n"));
  await file.append(bytesOf("two"));

  for (let from = 0; from <= 8; from++) {
    assert.equal(decoder.decode(await file.readFrom(from)), "one\ntwo\n".slice(from));
  }
});

test("size is the file's, and grows with each append", async () => {
  const path = logHolding("one\n");
  const file = await open(path);
  assert.equal(file.size, 4);
  await file.append(bytesOf("two"));
  assert.equal(file.size, 8);
  assert.equal(statSync(path).size, 8);
});

test("a range that is not all within the file is OUT_OF_RANGE", async () => {
  const path = logHolding("one\n");
  const file = await open(path);
  assert.equal((await file.readAt(4, 0)).length, 0);
  for (const [offset, length] of [
    [0, 5],
    [4, 1],
    [5, 0],
    [1000, 1],
    [0, Number.MAX_SAFE_INTEGER],
  ] as const) {
    const { details } = await refusal(file.readAt(offset, length), "OUT_OF_RANGE");
    assert.deepEqual(details, { path, offset, length, end: 4 });
  }
  await refusal(file.readFrom(5), "OUT_OF_RANGE");
  await refusal(
    file.readRange([
      { bytePos: 0, length: 3 },
      { bytePos: 3, length: 2 },
    ]),
    "OUT_OF_RANGE",
  );
  for (const [bytePos, length] of [
    [-1, 1],
    [0, -1],
    [0.5, 1],
    [0, Number.NaN],
  ] as const) {
    await refusal(file.readAt(bytePos, length), "BAD_SETTING");
  }
});

test("close may be called again, waits for appends, and leaves nothing open", async () => {
  const path = newLogPath();
  const file = await open(path);
  const appended = file.append(bytesOf("1"));
  await Promise.all([file.close(), file.close()]);
  await file.close();

  assert.deepEqual(await appended, { bytePos: 0, length: 1 });
  assert.deepEqual(openDescriptorsBelow(dirname(path)), []);
  await refusal(file.append(bytesOf("2")), "LOG_CLOSED");
  await refusal(file.readAt(0, 1), "LOG_CLOSED");
  await refusal(file.readFrom(0), "LOG_CLOSED");
  await openWriter(path, { lockWaitMs: 0 });
});

test("a read that is under way when the file is closed never returns another file's bytes", async () => {
  // Method: Node's worker threads are busy, so that the read has not begun when close resolves, and
  // files opened then get the descriptor that the read was to use.
  const path = logHolding('"mine"\n');
  const other = logHolding('"other"\n');
  const file = await open(path);
  const busy = Array.from({ length: 8 }, () => derive("password", "salt", 50_000, 64, "sha512"));
  const reading = file.readAt(0, 6).then((bytes) => decoder.decode(bytes));
  await file.close();
  const descriptors = Array.from({ length: 8 }, () => openSync(other, "r"));
  onTestFinished(() => descriptors.forEach(closeSync));
  await Promise.all(busy);

  assert.equal(await reading, '"mine"');
});

test("a reopened file continues where it ended, after a torn tail was copied aside", async () => {
  const path = logHolding('one\n{"torn');
  const file = await open(path);
  assert.equal(file.size, 4);
  assert.deepEqual(await file.append(bytesOf("two")), { bytePos: 4, length: 3 });
  assert.equal(contentOf(path), "one\ntwo\n");
});

test("a file below a root takes an id, and another process's lock is respected", async () => {
  const path = newLogPath();
  const file = await open("log.jsonl", { root: dirname(path) });
  await file.append(bytesOf("1"));
  assert.equal(file.path, path);
  await refusal(LogFile.open(path), "LOG_LOCKED");
  await refusal(LogFile.open("../log.jsonl", { root: dirname(path) }), "BAD_ID");
});

async function open(path: string, options: LogOptions = {}, disk?: WatchedFiles): Promise<LogFile> {
  const file = await LogFile.open(path, options, disk?.host);
  onTestFinished(() => file.close().catch(() => {})); // A test that breaks it checks that itself.
  return file;
}
