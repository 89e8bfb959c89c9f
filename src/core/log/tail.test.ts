import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "vitest";
import { logHolding } from "../../../test/support/open-log.ts";
import { expectedEnd } from "../../../test/support/tail-oracle.ts";
import { LOG_LIMITS } from "../base/limits.ts";
import { nodeHost } from "../base/node-host.ts";
import { openLogPath, openToRead } from "./log-path.ts";
import { LogReader } from "./reader.ts";
import { findTail, type Tail } from "./tail.ts";

// "é", "日" and the emoji are two, three and four bytes, so that cuts fall inside characters.
const LOG = Buffer.from(
  '{"n":1}\n{"é":"日本 😀"}\n\n[{"a":{"b":[1,[2]]}},"]"]\n"text"\n12\nnull\n{"n":"é"}\n',
);

test("a log cut at any byte ends after its last whole line", async () => {
  for (let cut = 0; cut <= LOG.length; cut++) {
    const log = LOG.subarray(0, cut);
    const end = log.lastIndexOf("\n") + 1;
    const { addedLf } = expectedEnd(log);

    assert.deepEqual(
      await tailOf(log),
      { end, tornBytes: cut - end, lacksOnlyLf: addedLf },
      `cut at ${cut}`,
    );
  }
});

test("a reader reports the torn tail of a log cut at any byte, and changes no file", async () => {
  for (let cut = 0; cut <= LOG.length; cut++) {
    const log = LOG.subarray(0, cut);
    const path = logHolding(log);
    const before = statSync(path, { bigint: true });
    const reader = new LogReader(nodeHost, path, { onBadLine: "skip" });
    let end = 0;
    for await (const line of reader) end = line.end;
    await reader.last(3);

    const wholeEnd = log.lastIndexOf("\n") + 1;
    assert.equal(reader.report.tornBytes, cut - wholeEnd, `cut at ${cut}`);
    assert.equal(reader.report.unfinishedBytes, 0);
    assert.ok(end <= wholeEnd);
    assert.deepEqual(readFileSync(path), Buffer.from(log));
    const after = statSync(path, { bigint: true });
    assert.deepEqual([after.mtimeNs, after.ctimeNs], [before.mtimeNs, before.ctimeNs]);
    assert.deepEqual(readdirSync(dirname(path)), ["log.jsonl"]);
  }
});

test("a log padded with NULs ends before them, however many they are", async () => {
  // Method: lengths around the 64 KiB in which the end is searched, and around 256 KiB.
  const KIB = 1024;
  const lengths = new Set<number>();
  for (let length = 1; length <= 40; length++) lengths.add(length);
  for (const chunk of [64 * KIB, 128 * KIB, 256 * KIB]) {
    for (const at of [-LOG.length, -5, 0]) {
      for (const off of [-1, 0, 1]) lengths.add(chunk + at + off);
    }
  }
  for (const length of lengths) {
    const nuls = Buffer.alloc(length);
    const torn = { lacksOnlyLf: false };
    const end = LOG.length;

    assert.deepEqual(await tailOf(LOG, nuls), { ...torn, end, tornBytes: length });
    assert.deepEqual(await tailOf(nuls), { ...torn, end: 0, tornBytes: length });
    assert.deepEqual(await tailOf(LOG, '{"cut', nuls), { ...torn, end, tornBytes: length + 5 });
    assert.deepEqual(await tailOf(LOG, nuls, "\n"), { ...torn, end, tornBytes: length + 1 });
  }
});

test("whole lines after a hole of NULs are before the end, wherever the hole is", async () => {
  const KIB = 1024;
  for (const around of [0, 64 * KIB, 128 * KIB]) {
    for (let off = -12; off <= 12; off++) {
      const hole = Buffer.alloc(Math.max(1, around + off));
      const log = Buffer.concat([LOG, Buffer.from('{"a'), hole, Buffer.from('}\n{"n":4}\n')]);

      assert.deepEqual(await tailOf(log), { end: log.length, tornBytes: 0, lacksOnlyLf: false });
    }
  }
});

test("a line longer than the chunks in which the end is searched is found whole", async () => {
  const KIB = 1024;
  for (const chunk of [64 * KIB, 128 * KIB, 256 * KIB]) {
    for (const off of [-2, -1, 0, 1, 2]) {
      const long = `"${"x".repeat(chunk + off - 2)}"`;
      const end = LOG.length + long.length + 1;
      const whole = { end, tornBytes: 0, lacksOnlyLf: false };

      assert.deepEqual(await tailOf(LOG, long, "\n"), whole);
      assert.deepEqual(await tailOf(LOG, long, "\n\0\n"), { ...whole, tornBytes: 2 });
      assert.deepEqual(await tailOf(LOG, long), {
        ...whole,
        end: LOG.length,
        tornBytes: long.length,
      });
      assert.deepEqual(await tailOf(LOG, `[${long}]`), {
        end: LOG.length,
        tornBytes: long.length + 2,
        lacksOnlyLf: true,
      });
    }
  }
});

test("NULs further from the LF than the longest line are not looked for", async () => {
  const { lineBytesMax } = LOG_LIMITS;
  const filler = (bytes: number) => "x".repeat(bytes);
  const long = `\0${filler(lineBytesMax + 128 * 1024)}\n`;
  const end = LOG.length + long.length;
  assert.deepEqual(await tailOf(LOG, long), { end, tornBytes: 0, lacksOnlyLf: false });

  const torn = `\0${filler(lineBytesMax - 1)}\n`;
  const tornBytes = torn.length;
  const cut = { end: LOG.length, tornBytes, lacksOnlyLf: false };
  assert.deepEqual(await tailOf(LOG, torn), cut);
});

async function tailOf(...parts: (string | Uint8Array)[]): Promise<Tail> {
  const path = logHolding(Buffer.concat(parts.map((part) => Buffer.from(part))));
  const place = await openLogPath(nodeHost, path, { create: false });
  const file = openToRead(place);
  try {
    return await findTail(file);
  } finally {
    file.close();
    place.directory.close();
  }
}
