/** What opening to append does to the end of a log. `tail.test.ts` tests where that end is. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { contentOf, logHolding, openWriter } from "../../../test/support/open-log.ts";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { expectedEnd } from "../../../test/support/tail-oracle.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { nodeHost } from "../base/node-host.ts";
import { LogReader } from "./reader.ts";
import type { Recovery } from "./repair.ts";
import { LogWriter } from "./writer.ts";

const LOG = Buffer.from(
  '{"n":1}\n{"é":"日本 😀"}\n\n[{"a":{"b":[1,[2]]}},"]"]\n"text"\n12\nnull\n{"n":"é"}\n',
);

test("a log cut at any byte is repaired on opening: the torn bytes are copied aside, then cut", async () => {
  for (let cut = 0; cut <= LOG.length; cut++) {
    const log = LOG.subarray(0, cut);
    await isRepairedAsExpected(log, logHolding(log), `cut at ${cut}`);
  }
});

test("a log padded with NULs is cut before them, however many they are", async () => {
  const KIB = 1024;
  const lengths = [1, 2, 3, 7, 511, 4096];
  for (const chunk of [64 * KIB, 256 * KIB]) {
    for (const off of [-LOG.length, -1, 0, 1]) lengths.push(chunk + off);
  }
  for (const length of lengths) {
    const nuls = Buffer.alloc(length);
    for (const end of [nuls, Buffer.concat([nuls, Buffer.from("\n")])]) {
      const log = Buffer.concat([LOG, end]);
      await isRepairedAsExpected(log, logHolding(log), `${length} NULs`);
    }
  }
});

test("each repair keeps its torn bytes in a file of their own, all of them 0600", async () => {
  const path = logHolding('{"n":1}\n{"torn":0');
  for (let n = 0; n < 12; n++) {
    const { recovery } = await reopened(path);
    const kept = `${path}.torn-${n}`;

    assert.equal(recovery.cutKeptAt, kept);
    assert.equal(recovery.cutBytes, contentOf(kept).length);
    assert.equal(contentOf(kept), `{"torn":${n}`);
    assert.equal(statSync(kept).mode & 0o7777, 0o600);
    writeFileSync(path, `{"torn":${n + 1}`, { flag: "a" });
  }
});

test("a whole object or array that lacks only its LF gets it; a number, literal or string is cut", async () => {
  for (const [last, isKept] of [
    ["{}", true],
    ["[]", true],
    ['{"a":[1,{"b":"\\u0000 日"}]}', true],
    [' { "a" : 1 } \r', true],
    ["[[[]]]", true],
    ["1", false],
    ["-0.5e3", false],
    ["null", false],
    ["true", false],
    ["false", false],
    ['"text"', false],
    ["{", false],
    ["[}", false],
    ["{}{}", false],
    ["{}\0", false],
    ["\ufeff{}", false],
    ["", false],
    [" ", false],
  ] as const) {
    const path = logHolding(`{"n":1}\n${last}`);
    const { recovery } = await reopened(path);

    assert.equal(recovery.addedLf, isKept, last);
    assert.equal(contentOf(path), isKept ? `{"n":1}\n${last}\n` : '{"n":1}\n');
    assert.equal(existsSync(`${path}.torn-0`), !isKept && last !== "");
  }
});

test("a whole object whose text is not UTF-8 is cut, because no writer writes that", async () => {
  const broken = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff), Buffer.from('"}')]);
  const path = logHolding(broken);

  assert.equal((await reopened(path)).recovery.cutBytes, broken.length);
  assert.deepEqual(readFileSync(`${path}.torn-0`), broken);
});

test("a hole of NULs between surviving lines stays, and nothing after it is cut", async () => {
  for (const hole of ["\0", "\0\0\0\n\0", '{"a":"\0\0', "\0".repeat(300_000)]) {
    for (const torn of ["", '{"torn', "\0\0", "\0\n"]) {
      const whole = `{"n":1}\n${hole}\n{"n":2}\n`;
      const path = logHolding(whole + torn);
      await reopened(path);
      assert.equal(contentOf(path), whole);

      const reader = new LogReader(nodeHost, path, { onBadLine: "skip" });
      const values = [];
      for await (const line of reader) values.push(line.value);
      const holes = hole.split("\n").length;
      assert.deepEqual(values, [{ n: 1 }, { n: 2 }]);
      assert.deepEqual(
        reader.report.badLinesListed.map(({ line, reason }) => ({ line, reason })),
        Array.from({ length: holes }, (_, n) => ({ line: 2 + n, reason: "holds NUL" })),
      );
    }
  }
});

test("a line of NULs before a whole object that lacks its LF stays, because the object does", async () => {
  const path = logHolding('{"n":1}\n\0\0\0\n{"n":2}');
  const { recovery } = await reopened(path);

  assert.equal(contentOf(path), '{"n":1}\n\0\0\0\n{"n":2}\n');
  assert.deepEqual(recovery.cutKeptAt, null);
  assert.equal(recovery.end, contentOf(path).length);
});

test("lines that are not JSON but end in LF are never cut", async () => {
  const ugly = Buffer.concat([Buffer.from("oops\n\n\r\n{\n"), Buffer.of(0xff, 0xfe, 0x0a)]);
  const path = logHolding(ugly);
  await reopened(path);

  assert.deepEqual(readFileSync(path), ugly);
  assert.equal(existsSync(`${path}.torn-0`), false);
});

test("any mix of lines, NULs and cuts is repaired as a model predicts, and a second repair changes nothing", async () => {
  const directory = tempDirectory();
  const line = fc.oneof(
    fc.json().map((json) => `${json}\n`),
    fc.constantFrom("\n", "not json\n", '{"a":"é😀"}\n', "[1,2]\n", "{}", "[]", "1", '"a"'),
  );
  const nuls = fc.oneof(
    fc.integer({ min: 1, max: 20 }),
    fc.constantFrom(65_535, 65_536, 65_537, 262_144),
  );
  const piece = fc.oneof(
    { weight: 4, arbitrary: line },
    { weight: 1, arbitrary: nuls.map((count) => "\0".repeat(count)) },
  );
  let run = 0;

  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 12 }),
      fc.nat({ max: 30 }),
      async (pieces, cut) => {
        const all = Buffer.from(pieces.join(""));
        const log = all.subarray(0, Math.max(0, all.length - cut));
        const path = `${directory}/${run++}.jsonl`;
        writeFileSync(path, log);
        await isRepairedAsExpected(log, path);
      },
    ),
    { numRuns: 250 },
  );
});

test("the copy of the torn tail is durable before it is cut", async () => {
  const path = logHolding('{"n":1}\n{"torn');
  const disk = new WatchedFiles();
  await reopened(path, disk);
  const directory = dirname(path).split("/").at(-1);
  const steps = disk.calls
    .map(({ call, name }) => `${call} ${name === directory ? "directory" : name}`)
    .filter((step) => !/read|\.lock|\.erase$/.test(step));

  const cut = steps.indexOf("truncate log.jsonl");
  assert.deepEqual(steps.slice(0, cut), [
    "open log.jsonl",
    "open log.jsonl.torn-0",
    "write log.jsonl.torn-0",
    "sync log.jsonl.torn-0",
    "syncDirectory directory",
    "close log.jsonl.torn-0",
  ]);
});

test("a torn tail that cannot be copied aside is not cut, and the partial copy is removed", async () => {
  const content = '{"n":1}\n{"torn';
  for (const interfere of [
    (disk: WatchedFiles) => {
      disk.before = ({ call, name }) => fail(call === "open" && name.endsWith("torn-0"), "ENOSPC");
    },
    (disk: WatchedFiles) => {
      disk.before = ({ call, name }) => fail(call === "write" && name.endsWith("torn-0"), "EDQUOT");
    },
    (disk: WatchedFiles) => {
      disk.takes = ({ name, bytes }) => (name.endsWith("torn-0") ? bytes - 1 : bytes);
    },
    (disk: WatchedFiles) => {
      disk.before = ({ call, name }) => fail(call === "sync" && name.endsWith("torn-0"), "ENOSPC");
    },
  ]) {
    const path = logHolding(content);
    const disk = new WatchedFiles();
    interfere(disk);
    const { details } = await refusal(LogWriter.open(disk.host, path), "NO_SPACE");

    assert.deepEqual(details, { path, end: 8, bytes: 6 });
    assert.equal(contentOf(path), content);
    assert.deepEqual(readdirSync(dirname(path)).sort(), ["log.jsonl", "log.jsonl.lock"]);

    assert.equal((await reopened(path)).recovery.cutKeptAt, `${path}.torn-0`);
  }
});

test("a disk that fails while the tail is repaired leaves the tail, and the error says what failed", async () => {
  for (const failing of ["sync log.jsonl.torn-0", "truncate log.jsonl", "syncDirectory"]) {
    const path = logHolding('{"n":1}\n{"torn');
    const disk = new WatchedFiles();
    disk.before = ({ call, name }) => fail(`${call} ${name}`.startsWith(failing), "EIO");
    const { details } = await refusal(LogWriter.open(disk.host, path), "IO_ERROR");

    assert.equal(details.errno, "EIO");
    assert.equal(contentOf(path), '{"n":1}\n{"torn');
  }
});

/** Opens, closes, opens again: the first repair is as expected, the second changes nothing. */
async function isRepairedAsExpected(log: Buffer, path: string, message?: string): Promise<void> {
  const { repaired, cut, addedLf } = expectedEnd(log);
  const { recovery } = await reopened(path);

  assert.deepEqual(readFileSync(path), Buffer.from(repaired), message);
  assert.equal(recovery.end, repaired.length, message);
  assert.equal(recovery.cutBytes, cut.length, message);
  assert.equal(recovery.addedLf, addedLf, message);
  assert.equal(recovery.cutKeptAt, cut.length > 0 ? `${path}.torn-0` : null, message);
  assert.equal(existsSync(`${path}.torn-0`), cut.length > 0, message);
  if (cut.length > 0) assert.deepEqual(readFileSync(`${path}.torn-0`), Buffer.from(cut), message);

  const again = await reopened(path);
  assert.deepEqual(readFileSync(path), Buffer.from(repaired), message);
  assert.equal(existsSync(`${path}.torn-1`), false, message);
  assert.deepEqual(again.recovery, {
    end: repaired.length,
    cutBytes: 0,
    cutKeptAt: null,
    addedLf: false,
    rewrittenBytes: 0,
  });
}

async function reopened(path: string, disk?: WatchedFiles): Promise<{ recovery: Recovery }> {
  const log = await openWriter(path, {}, disk?.host);
  await log.close();
  return log;
}

function fail(isTime: boolean, code: string): undefined {
  if (isTime) throw errno(code);
}
