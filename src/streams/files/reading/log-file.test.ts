/** A stream's log file: the document's, without a lock or an acknowledgement of its own. */

import assert from "node:assert/strict";
import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { Gate, isPending } from "../../../../test/support/gate.ts";
import { openDescriptorsBelow } from "../../../../test/support/open-descriptors.ts";
import { bytesOf } from "../../../../test/support/open-log.ts";
import { errno, refusal, thrownRefusal } from "../../../../test/support/refusal.ts";
import { tempDirectory } from "../../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../../test/support/watched-files.ts";
import type { Directory } from "../../../core/base/files.ts";
import { StreamLogFile } from "./log-file.ts";

test("S3-1 append returns the position of the bytes, which are stored verbatim", async () => {
  const { directory } = await logs();
  const log = open(directory);
  assert.deepEqual(log.append(bytesOf('{"n":1}\n')), { bytePos: 0, length: 8 });
  assert.deepEqual(log.append(bytesOf('"é"\n')), { bytePos: 8, length: 5 });
  assert.deepEqual(log.append(Uint8Array.of(0, 13, 10, 255)), { bytePos: 13, length: 4 });
  assert.equal(log.size, 17);
  assert.deepEqual([...readFileSync(log.path)], [...bytesOf('{"n":1}\n"é"\n'), 0, 13, 10, 255]);
});

test("S3-1 readAt, readRange and readFrom return what was appended, in the order asked", async () => {
  const { directory } = await logs();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 8 }), async (all) => {
      const log = StreamLogFile.open(directory, "any");
      const start = log.size;
      const stored = all.map((bytes) => log.append(bytes));
      assert.deepEqual((await log.readRange(stored)).map(numbers), all.map(numbers));
      assert.deepEqual(
        (await log.readRange(stored.toReversed())).map(numbers),
        all.toReversed().map(numbers),
      );
      assert.deepEqual(numbers(await log.readFrom(start)), all.flatMap(numbers));
      for (const [n, { bytePos, length }] of stored.entries()) {
        assert.deepEqual(numbers(await log.readAt(bytePos, length)), numbers(all[n] ?? []));
      }
      await log.close();
    }),
    { numRuns: 100 },
  );
});

test("S3-1 a reopened file continues where it ended", async () => {
  const { directory } = await logs();
  const first = open(directory);
  first.append(bytesOf("one\n"));
  await first.close();

  const again = open(directory);
  assert.equal(again.size, 4);
  assert.deepEqual(again.append(bytesOf("two\n")), { bytePos: 4, length: 4 });
  assert.equal((await again.readFrom(0)).toString(), "one\ntwo\n");
});

test("S3-1 close may be called again, and waits for reads under way", async () => {
  const { directory, disk, path } = await logs();
  const log = open(directory);
  log.append(bytesOf("one\n"));
  const gate = new Gate();
  disk.before = ({ call }) => (call === "read" ? gate.pass() : undefined);
  const reading = log.readAt(0, 4);
  const closing = log.close();
  assert.ok(await isPending(closing));
  thrownRefusal(() => log.append(bytesOf("x")), "LOG_CLOSED");
  await refusal(log.readAt(0, 1), "LOG_CLOSED");
  gate.open();
  assert.equal((await reading).toString(), "one\n");
  await Promise.all([closing, log.close()]);
  assert.deepEqual(openDescriptorsBelow(join(path, "log")), []);
});

test("S3-2 the file is opened to read and append, created if missing, for its owner only", async () => {
  const { directory, disk } = await logs();
  const log = open(directory);
  // "append" of the seam is O_RDWR | O_CREAT | O_APPEND: core/base/node-files.ts.
  assert.deepEqual(
    disk.made("open", "log").map(({ mode }) => mode),
    ["append"],
  );
  assert.equal(statSync(log.path).mode & 0o7777, 0o600);
  // O_APPEND: another handle's bytes are not overwritten.
  writeFileSync(log.path, "abc", { flag: "a" });
  log.append(bytesOf("d"));
  assert.equal(readFileSync(log.path, "utf8"), "abcd");
});

test("a file opened to read is not created", async () => {
  const { directory } = await logs();
  const { details } = thrownRefusal(
    () => StreamLogFile.open(directory, "none", "read"),
    "IO_ERROR",
  );
  assert.equal(details.errno, "ENOENT");
});

test("each append is one write", async () => {
  const { directory, disk } = await logs();
  const log = open(directory);
  log.append(bytesOf("12\n345\n"));
  assert.deepEqual(
    disk.made("write", "log").map(({ bytes }) => bytes),
    [7],
  );
});

test("an append that was cut short or refused leaves the file unchanged", async () => {
  const { directory, disk } = await logs();
  const log = open(directory);
  log.append(bytesOf("one\n"));
  for (let taken = 0; taken < 4; taken++) {
    disk.takes = () => taken;
    const { details } = thrownRefusal(() => log.append(bytesOf("two\n")), "IO_ERROR");
    assert.equal(details.errno, "ENOSPC");
    assert.equal(readFileSync(log.path, "utf8"), "one\n");
  }
  disk.takes = ({ bytes }) => bytes;
  disk.before = ({ call }) => {
    if (call === "write") throw errno("EIO");
    return undefined;
  };
  thrownRefusal(() => log.append(bytesOf("two\n")), "IO_ERROR");
  disk.before = () => undefined;
  assert.deepEqual(log.append(bytesOf("two\n")), { bytePos: 4, length: 4 });
});

test("a range that is not all within the file is out of range, also after the file was truncated", async () => {
  const { directory } = await logs();
  const log = open(directory);
  log.append(bytesOf("one\n"));
  assert.equal((await log.readAt(4, 0)).length, 0);
  for (const [offset, length] of [
    [0, 5],
    [4, 1],
    [5, 0],
    [0, Number.MAX_SAFE_INTEGER],
  ] as const) {
    const { details } = await refusal(log.readAt(offset, length), "OUT_OF_RANGE");
    assert.deepEqual(details, { path: log.path, offset, length, end: 4 });
  }
  truncateSync(log.path, 3);
  await refusal(log.readAt(0, 4), "OUT_OF_RANGE");
  for (const bytePos of [-1, 0.5, Number.NaN]) {
    await assert.rejects(log.readAt(bytePos, 1), TypeError);
  }
});

test("a sync that fails is reported with the file's name", async () => {
  const { directory, disk } = await logs();
  const log = open(directory);
  log.append(bytesOf("one\n"));
  await log.sync();
  disk.before = ({ call }) => {
    if (call === "sync") throw errno("EIO");
    return undefined;
  };
  const { details } = await refusal(log.sync(), "IO_ERROR");
  assert.deepEqual(details, { path: log.path, operation: "syncing", errno: "EIO" });
});

async function logs(): Promise<{ directory: Directory; disk: WatchedFiles; path: string }> {
  const path = tempDirectory();
  const disk = new WatchedFiles();
  const directory = await disk.openDirectory(path, { create: false });
  onTestFinished(() => directory.close());
  return { directory, disk, path };
}

function open(directory: Directory): StreamLogFile {
  const log = StreamLogFile.open(directory, "log");
  onTestFinished(() => log.close());
  return log;
}

function numbers(bytes: Iterable<number>): number[] {
  return [...bytes];
}
