/** A last line that lacks only its LF, for readers that accept it like opening to append does. */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { bytesOf, logHolding, openWriter } from "../../../test/support/open-log.ts";
import { collect, valuesOf } from "../../../test/support/read-log.ts";
import { expectedEnd } from "../../../test/support/tail-oracle.ts";
import { nodeHost } from "../base/node-host.ts";
import { LogReader, type ReadOptions } from "./reader.ts";

const LOG = Buffer.from('{"n":1}\n"text"\n\0\0\n{"é":["日本 😀",{}]}\n[1,[2]]\n12\n{"n":"é"}\n');

test("a log cut at any byte is read as opening to append would leave it, both ways", async () => {
  for (let cut = 0; cut <= LOG.length; cut++) {
    const log = LOG.subarray(0, cut);
    const { repaired, cut: torn } = expectedEnd(log);
    for (const way of ["forward", "backward"] as const) {
      const now = reader(logHolding(log));
      const later = reader(logHolding(repaired));

      assert.deepEqual(await collect(now[way]()), await collect(later[way]()), `cut at ${cut}`);
      assert.deepEqual(now.report, { ...later.report, tornBytes: torn.length }, `cut at ${cut}`);
    }
  }
});

test("reading such a line writes nothing", async () => {
  const path = logHolding('1\n{"n":2}');
  assert.deepEqual(await valuesOf(reader(path)), [1, { n: 2 }]);
  assert.equal(readFileSync(path, "utf8"), '1\n{"n":2}');
});

test("unless asked to, a reader counts such a line as torn", async () => {
  const lines = reader(logHolding('1\n{"n":2}'), { takesUnterminated: false });
  assert.deepEqual(await valuesOf(lines), [1]);
  assert.equal(lines.report.tornBytes, 7);
});

test("while a writer is at work on it such a line is unfinished, and not yielded", async () => {
  const path = logHolding("1\n");
  const log = await openWriter(path);
  appendFileSync(path, '{"n":2}');
  const lines = reader(path);
  assert.deepEqual(await valuesOf(lines), [1]);
  assert.equal(lines.report.unfinishedBytes, 7);
  await log.close();
});

test("reading continues after such a line, before and after it gets its LF", async () => {
  const path = logHolding('1\n{"n":2}');
  const [last] = await reader(path).last(1);
  assert.ok(last);
  assert.deepEqual(await valuesOf(reader(path).forward({ from: last.end })), []);

  const log = await openWriter(path);
  await log.append(bytesOf("3"));
  await log.close();
  assert.deepEqual(await valuesOf(reader(path).forward({ from: last.end })), [3]);
});

function reader(path: string, options: ReadOptions = {}): LogReader {
  return new LogReader(nodeHost, path, {
    onBadLine: "skip",
    takesUnterminated: true,
    ...options,
  });
}
