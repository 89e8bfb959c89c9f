import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { openDescriptorsBelow } from "../../../test/support/open-descriptors.ts";
import { bytesOf, logHolding, newLogPath, openWriter } from "../../../test/support/open-log.ts";
import { collect, valuesOf } from "../../../test/support/read-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { runs } from "../../../test/support/seed.ts";
import { splitAfterLf } from "../../../test/support/tail-oracle.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { nodeHost } from "../base/node-host.ts";
import { toByteOffset } from "../base/offset.ts";
import { encodeLine } from "./json.ts";
import { LogReader, type ReadOptions } from "./reader.ts";

const KIB = 1024;

test("a log is read line by line: value, bytes, offsets and number", async () => {
  const reader = read(logHolding('{"n":1}\n"é"\n[]\n'));
  const lines = (await collect(reader)).map((line) => ({ ...line, bytes: text(line.bytes) }));

  assert.deepEqual(lines, [
    { value: { n: 1 }, bytes: '{"n":1}', start: 0, end: 8, number: 0 },
    { value: "é", bytes: '"é"', start: 8, end: 13, number: 1 },
    { value: [], bytes: "[]", start: 13, end: 16, number: 2 },
  ]);
  assert.deepEqual(reader.report, {
    lines: 3,
    badLines: 0,
    badLinesListed: [],
    tornBytes: 0,
    unfinishedBytes: 0,
  });
});

test("the bytes of a line are those in the file, however its JSON was written", async () => {
  const odd = ['{ "a" : 1 }', '{"b":2,"a":1,"b":3}', '"\\u00e9"', "1.0", "\t[ ]\r"];
  const lines = await collect(read(logHolding(`${odd.join("\n")}\n`)));
  assert.deepEqual(
    lines.map(({ bytes }) => text(bytes)),
    odd,
  );
});

test("only the byte 0x0A splits: CR, U+0085 and U+2028 do not", async () => {
  const lines = ["a\u2028b", "a\u2029b", "a\u0085b", "a\u000bb\u000cc"].map((value) => ({ value }));
  const plain = lines.map((line) => JSON.stringify(line)).join("\n");
  assert.deepEqual(await valuesOf(read(logHolding(`${plain}\n`))), lines);
  assert.deepEqual(await valuesOf(read(logHolding('{"a":1}\r\n\r{"a":2}\n'))), [
    { a: 1 },
    { a: 2 },
  ]);
});

test("any lines are read forward in order, and backward in reverse, whatever their lengths", async () => {
  // Method: lengths at random, and around the sizes of the chunks in which the file is read.
  const directory = tempDirectory();
  const around = [64 * KIB, 128 * KIB, 256 * KIB].flatMap((size) => [
    size - 2,
    size - 1,
    size,
    size + 1,
  ]);
  const value = fc.oneof(
    { weight: 4, arbitrary: fc.jsonValue() },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...around).map((size) => "x".repeat(size - 2)),
    },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }).map((size) => "é".repeat(size)) },
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 20 }), async (values) => {
      const path = join(directory, `${run++}.jsonl`);
      const log = Buffer.concat(values.map((value) => Buffer.from(`${text(encodeLine(value))}\n`)));
      writeFileSync(path, log);
      const forward = await collect(read(path));
      const backward = await collect(read(path).backward());

      assert.deepEqual(
        forward.map(({ value }) => value),
        values.map(plain),
      );
      assert.deepEqual(
        backward.toReversed(),
        forward.map((line) => ({ ...line, number: null })),
      );
      let start = 0;
      for (const [n, line] of forward.entries()) {
        assert.deepEqual([line.start, line.number], [start, n]);
        start += line.bytes.length + 1;
        assert.equal(line.end, start);
      }
      assert.equal(start, log.length);
    }),
    { numRuns: runs(100) },
  );
});

test("a line that crosses a chunk's end at any of its bytes is read whole, both ways", async () => {
  const line = '{"text":"é日😀"}';
  const bytes = Buffer.byteLength(line);
  for (const chunk of [64 * KIB, 256 * KIB]) {
    for (let into = -1; into <= bytes + 2; into++) {
      // Forward, chunks are counted from the start; backward, from the last line's LF.
      const before = `"${"x".repeat(chunk - into - 3)}"`;
      const after = `"${"x".repeat(64 * KIB - into - 3)}"`;
      const path = logHolding(`${before}\n${line}\n${after}\n`);
      const forward = await collect(read(path));
      const backward = await collect(read(path).backward());

      for (const lines of [forward, backward]) {
        assert.deepEqual(
          lines.map((line) => line.bytes.length).toSorted(byNumber),
          sorted(before, line, after),
        );
        assert.equal(text(lines[1]?.bytes ?? Buffer.of()), line);
      }
    }
  }
});

test("last returns the last lines in order, at most as many as there are", async () => {
  for (const count of [0, 1, 2, 5]) {
    const path = logHolding(Array.from({ length: count }, (_, n) => `${n}\n`).join(""));
    const all = Array.from({ length: count }, (_, n) => n);
    for (let wanted = 0; wanted <= count + 2; wanted++) {
      const lines = await read(path).last(wanted);
      assert.deepEqual(
        lines.map(({ value }) => value),
        wanted === 0 ? [] : all.slice(-wanted),
      );
    }
  }
  await refusal(read(logHolding("")).last(-1), "BAD_SETTING");
  await refusal(read(logHolding("")).last(1.5), "BAD_SETTING");
});

test("the last lines of a long log are found without reading the rest of it", async () => {
  const path = newLogPath();
  writeFileSync(path, `${"x".repeat(1023)}\n`.repeat(4 * KIB));
  appendFileSync(path, "1\n2\n3\n");
  const disk = new WatchedFiles();
  const lines = await new LogReader(disk.host, path).last(3);

  assert.deepEqual(
    lines.map(({ value }) => value),
    [1, 2, 3],
  );
  const read = disk.made("read", "log.jsonl").reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(read <= 256 * KIB, `read ${read} bytes`);
});

test("a range of two line boundaries yields the lines between them, both ways", async () => {
  // Method: every pair of byte offsets of a small log, boundaries or not.
  const log = Buffer.from('1\n"é"\n\n[2]\n');
  const boundaries = [0];
  for (const line of splitAfterLf(log)) boundaries.push((boundaries.at(-1) ?? 0) + line.length);
  const path = logHolding(log);
  for (let from = 0; from <= log.length; from++) {
    for (let to = 0; to <= log.length + 2; to++) {
      const range = { from: toByteOffset(from), to: toByteOffset(to) };
      const isRange = boundaries.includes(from) && boundaries.includes(Math.min(to, log.length));
      for (const way of ["forward", "backward"] as const) {
        const lines = collect(read(path, { onBadLine: "skip" })[way](range));
        if (!isRange) {
          const { details } = await refusal(lines, "OUT_OF_RANGE");
          assert.ok(details.offset === from || details.offset === to);
          continue;
        }
        const starts = (await lines).map(({ start }) => start).toSorted(byNumber);
        const expected = boundaries.filter((at) => at >= from && at < to && at < log.length);
        // The empty line at 7 is bad, and skipped.
        assert.deepEqual(
          starts,
          expected.filter((at) => at !== 7),
          `${way} ${from} to ${to}`,
        );
      }
    }
  }
});

test("a range that starts after the end is refused as a log that was rewound", async () => {
  const path = logHolding('1\n{"torn');
  const { details } = await refusal(
    collect(read(path).forward({ from: toByteOffset(3) })),
    "LOG_REWOUND",
  );
  assert.deepEqual(details, { path, from: 3, to: 2 });
});

test("lines of a pass that starts in the middle have no number", async () => {
  const lines = await collect(read(logHolding("1\n2\n")).forward({ from: toByteOffset(2) }));
  assert.deepEqual(
    lines.map(({ number, start }) => ({ number, start })),
    [{ number: null, start: 2 }],
  );
});

test("a pass reads up to the end as it was when the pass began", async () => {
  const path = logHolding("1\n2\n");
  const values: unknown[] = [];
  for await (const { value } of read(path)) {
    values.push(value);
    appendFileSync(path, "3\n");
  }
  assert.deepEqual(values, [1, 2]);
});

test("bytes after the end are unfinished while a writer holds the log, and torn when none does", async () => {
  for (const torn of ['{"half', "\0\0\0\0", "12"]) {
    const path = newLogPath();
    const log = await openWriter(path);
    await log.append(bytesOf("1"));
    appendFileSync(path, torn);
    for (const pass of ["forward", "backward"] as const) {
      const reader = read(path);
      assert.deepEqual(await valuesOf(reader[pass]()), [1]);
      assert.deepEqual(endOf(reader), { tornBytes: 0, unfinishedBytes: torn.length });
    }
    await log.close();
    const reader = read(path);
    assert.deepEqual(await valuesOf(reader), [1]);
    assert.deepEqual(endOf(reader), { tornBytes: torn.length, unfinishedBytes: 0 });
  }
});

test("a line that is finished while a reader looks is not called torn", async () => {
  // The writer has ended, its lock is free, and the whole line is there: nothing is torn.
  const path = logHolding('1\n{"n"');
  const disk = new WatchedFiles();
  disk.before = ({ call, name }) => {
    if (call === "open" && name === "log.jsonl.lock") appendFileSync(path, ":2}\n");
    return undefined;
  };
  const reader = new LogReader(disk.host, path);
  assert.deepEqual(await valuesOf(reader), [1, { n: 2 }]);
  assert.deepEqual(endOf(reader), { tornBytes: 0, unfinishedBytes: 0 });
});

test("an aborted reader throws the signal's reason", async () => {
  const path = logHolding(`"${"x".repeat(400 * KIB)}"\n`.repeat(10));
  const reason = new Error("enough");
  for (const way of ["forward", "backward"] as const) {
    const aborted = read(path, { signal: AbortSignal.abort(reason) })[way]();
    await assert.rejects(collect(aborted), reason);

    const stop = new AbortController();
    let lines = 0;
    await assert.rejects(async () => {
      for await (const _ of read(path, { signal: stop.signal })[way]()) {
        if (++lines === 2) stop.abort(reason);
      }
    }, reason);
    assert.ok(lines < 10);
  }
});

test("no pass leaves a descriptor open, however it ends", async () => {
  const path = logHolding("1\nbad\n2\n{torn");
  const reader = read(path, { onBadLine: "skip" });
  await collect(reader);
  await collect(reader.backward());
  await reader.last(1);
  for await (const _ of reader) break;
  for await (const _ of reader.backward()) break;
  for (const way of ["forward", "backward"] as const) {
    await refusal(collect(read(path)[way]()), "BAD_LINE");
    await refusal(collect(read(path)[way]({ from: toByteOffset(1) })), "OUT_OF_RANGE");
    await refusal(collect(read(`${path}.missing`)[way]()), "LOG_NOT_FOUND");
  }
  const lines = reader.forward();
  await lines.next();
  await lines.return(undefined);

  assert.deepEqual(openDescriptorsBelow(dirname(path)), []);
});

test("an empty log has no lines", async () => {
  const reader = read(logHolding(""));
  assert.deepEqual(await collect(reader), []);
  assert.deepEqual(await reader.last(3), []);
  assert.equal(reader.report.lines, 0);
});

function read(path: string, options?: ReadOptions): LogReader {
  return new LogReader(nodeHost, path, options);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function byNumber(a: number, b: number): number {
  return a - b;
}

function sorted(...lines: string[]): number[] {
  return lines.map((line) => Buffer.byteLength(line)).toSorted(byNumber);
}

function endOf({ report }: LogReader) {
  return { tornBytes: report.tornBytes, unfinishedBytes: report.unfinishedBytes };
}
