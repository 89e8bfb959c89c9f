/** Bad lines: classified, counted, never skipped silently. */

import assert from "node:assert/strict";
import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { test } from "vitest";
import { logHolding, newLogPath } from "../../../test/support/open-log.ts";
import { collect, valuesOf } from "../../../test/support/read-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { BAD_LINES_LISTED_MAX } from "../base/limits.ts";
import { nodeHost } from "../base/node-host.ts";
import { toByteOffset } from "../base/offset.ts";
import { type BadLine, LogReader, type ReadOptions } from "./reader.ts";

/** A bad line of every kind, with good ones between them. */
const PARTS: readonly (readonly [string | Buffer, BadLine["reason"] | null])[] = [
  ["1", null],
  ["oops", "not JSON"],
  ["2", null],
  [Buffer.of(0x22, 0xff, 0x22), "not UTF-8"],
  ["", "blank"],
  ['{"a":"\0\0', "holds NUL"],
  [`"${"x".repeat(50)}"`, "too long"],
  ["\ufeff3", "not JSON"],
  ['"\ufffd"', null],
  ["4", null],
];
const LOG = Buffer.concat(PARTS.flatMap(([part]) => [Buffer.from(part), Buffer.from("\n")]));
const GOOD = [1, 2, "\ufffd", 4];
const LIMITS = { lineBytesMax: 40 };

const BAD: BadLine[] = [];
let start = 0;
for (const [n, [part, reason]] of PARTS.entries()) {
  if (reason) BAD.push({ line: n + 1, offset: toByteOffset(start), reason });
  start += Buffer.byteLength(part) + 1;
}

test("with onBadLine skip, a reader yields the other lines and reports each bad one with its reason", async () => {
  const reader = read(LOG, { onBadLine: "skip" });
  assert.deepEqual(await valuesOf(reader), GOOD);
  assert.deepEqual(reader.report.badLinesListed, BAD);
  assert.equal(reader.report.badLines, BAD.length);
  assert.equal(reader.report.lines, GOOD.length);
});

test("good lines keep their numbers, the bad ones counted", async () => {
  const lines = await collect(read(LOG, { onBadLine: "skip" }));
  assert.deepEqual(
    lines.map(({ number }) => number),
    [0, 2, 8, 9],
  );
});

test("backward the same lines are bad, and have no number", async () => {
  const reader = read(LOG, { onBadLine: "skip" });
  assert.deepEqual(await valuesOf(reader.backward()), GOOD.toReversed());
  assert.deepEqual(
    reader.report.badLinesListed,
    BAD.toReversed().map((bad) => ({ ...bad, line: null })),
  );
});

test("a function is called with each bad line as it comes", async () => {
  const seen: unknown[] = [];
  const reader = read(LOG, { onBadLine: (bad) => seen.push(bad) });
  for await (const line of reader) seen.push(line.value);

  const inOrder = PARTS.map(([, reason], n) =>
    reason
      ? BAD.find(({ line }) => line === n + 1)
      : GOOD[PARTS.slice(0, n).filter(([, r]) => !r).length],
  );
  assert.deepEqual(seen, inOrder);
  assert.equal(reader.report.badLines, BAD.length);
});

test("an exception from that function ends the pass", async () => {
  const stop = new Error("stop");
  const onBadLine = () => {
    throw stop;
  };
  await assert.rejects(collect(read(LOG, { onBadLine })), stop);
});

test("by default a reader throws at the first bad line, after yielding those before it", async () => {
  for (const options of [{}, { onBadLine: "throw" }] as const) {
    for (const [n, [part, reason]] of PARTS.entries()) {
      if (!reason) continue;
      const log = Buffer.concat([
        Buffer.from("1\n".repeat(n)),
        Buffer.from(part),
        Buffer.from("\n2\n"),
      ]);
      const path = logHolding(log);
      const lines = new LogReader(nodeHost, path, { ...LIMITS, ...options }).forward();
      for (let good = 0; good < n; good++) assert.equal((await lines.next()).value?.value, 1);

      const { details } = await refusal(lines.next(), "BAD_LINE");
      assert.deepEqual(details, { path, line: n + 1, offset: 2 * n, reason });
    }
  }
});

test("a bad line in a pass that starts in the middle has an offset and no number", async () => {
  const path = logHolding("1\noops\n");
  const reader = new LogReader(nodeHost, path);
  const lines = reader.forward({ from: toByteOffset(2) });
  const { details } = await refusal(lines.next(), "BAD_LINE");
  assert.deepEqual(details, { path, line: null, offset: 2, reason: "not JSON" });
});

test("last counts good lines only, and reports the bad ones it passed", async () => {
  const reader = read(Buffer.from("1\n2\nbad\n3\nbad\n"), { onBadLine: "skip" });
  assert.deepEqual(
    (await reader.last(2)).map(({ value }) => value),
    [2, 3],
  );
  assert.equal(reader.report.badLines, 2);
});

test("the first hundred bad lines are listed, and all of them counted", async () => {
  for (const count of [BAD_LINES_LISTED_MAX, BAD_LINES_LISTED_MAX + 1]) {
    const reader = read(Buffer.from("bad\n".repeat(count)), { onBadLine: "skip" });
    await collect(reader);
    assert.equal(reader.report.badLines, count);
    assert.equal(reader.report.badLinesListed.length, BAD_LINES_LISTED_MAX);
    assert.equal(reader.report.badLinesListed.at(-1)?.line, BAD_LINES_LISTED_MAX);
  }
});

test("a line as long as the limit is read, and one a byte longer is too long, both ways", async () => {
  // Around the chunks in which a file is read, forward and backward, and well within one.
  for (const lineBytesMax of [10, 65_535, 65_536, 65_537, 262_143, 262_144, 262_145, 400_000]) {
    const longest = `"${"x".repeat(lineBytesMax - 2)}"`;
    const log = Buffer.from(`1\n${longest}\n2\n${longest.slice(0, -1)}x"\n3\n`);
    for (const way of ["forward", "backward"] as const) {
      const reader = read(log, { onBadLine: "skip", lineBytesMax });
      const lengths = (await collect(reader[way]())).map(({ bytes }) => bytes.length);
      const expected = [1, lineBytesMax, 1, 1];
      assert.deepEqual(lengths, way === "forward" ? expected : expected.toReversed());
      const offset = 2 + longest.length + 1 + 2;
      const line = way === "forward" ? 4 : null;
      assert.deepEqual(reader.report.badLinesListed, [{ line, offset, reason: "too long" }]);
    }
  }
});

test("an endless line is skipped without being held in memory", async () => {
  // Method: a sparse file of 256 MiB; memory is checked at each read. V8 may let 64 MiB of buffers
  // wait to be collected.
  const [path, endlessBytes] = [newLogPath(), 256 * 1024 * 1024];
  writeFileSync(path, "1\n");
  truncateSync(path, endlessBytes);
  appendFileSync(path, "\n2\n");
  for (const way of ["forward", "backward"] as const) {
    const disk = new WatchedFiles();
    let most = 0;
    disk.before = () => {
      most = Math.max(most, process.memoryUsage().arrayBuffers);
      return undefined;
    };
    const reader = new LogReader(disk.host, path, { onBadLine: "skip" });
    const values = await valuesOf(reader[way]());

    assert.deepEqual(values, way === "forward" ? [1, 2] : [2, 1]);
    assert.equal(reader.report.badLinesListed[0]?.reason, "too long");
    assert.ok(most < endlessBytes / 2, `${most} bytes held`);
  }
});

function read(log: Buffer, options: ReadOptions): LogReader {
  return new LogReader(nodeHost, logHolding(log), { ...LIMITS, ...options });
}
