/**
 * What opening rewrites because it may not be on disk (repair.ts, R2). The fault file system's
 * tests show that the pages really were lost, and are there afterwards.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "vitest";
import {
  bytesOf,
  contentOf,
  logHolding,
  newLogPath,
  openWriter,
} from "../../../test/support/open-log.ts";
import { errno, refusal } from "../../../test/support/refusal.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { WRITER_KINDS, type WriterKind } from "../../../test/support/writer-kinds.ts";
import { DOUBTFUL_BYTES } from "../base/limits.ts";

const LOG = "log.jsonl";

test.for(WRITER_KINDS)(
  "a cleanly closed log is trusted: nothing is rewritten (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const log = await openWriter(path, kind);
    await log.append(bytesOf('{"n":1}'));
    await log.close();

    const disk = new WatchedFiles();
    const again = await openWriter(path, kind, disk.host);
    assert.equal(again.recovery.rewrittenBytes, 0);
    assert.deepEqual(disk.made("writeAt", LOG), []);
  },
);

test.for(WRITER_KINDS)(
  "after a failed sync, the bytes it was to cover are rewritten in place, and synced (%s)",
  async ([, kind]) => {
    const { path, synced } = await logWithFailedSync(kind);
    const end = contentOf(path).length;
    const content = readFileSync(path);

    const disk = new WatchedFiles();
    const again = await openWriter(path, kind, disk.host);
    assert.equal(again.recovery.rewrittenBytes, end - synced);
    assert.equal(again.recovery.end, end);
    assert.deepEqual(stretch(disk), [synced, end]);
    const steps = disk.calls.filter(({ name }) => name === LOG).map(({ call }) => call);
    assert.ok(steps.lastIndexOf("sync") > steps.lastIndexOf("writeAt"), "it was synced after that");
    assert.deepEqual(readFileSync(path), content);
  },
);

test("a short log whose holder was killed is rewritten from its start", async () => {
  const path = logHolding('{"n":1}\n{"n":2}\n{"torn');
  writeFileSync(`${path}.lock`, '{"pid":4711,"started":"2026-01-01T00:00:00.000Z"}\n');
  const disk = new WatchedFiles();
  const { recovery } = await openWriter(path, {}, disk.host);

  assert.equal(recovery.rewrittenBytes, 16);
  assert.deepEqual(stretch(disk), [0, 16]);
});

test("of a long log with an unknown synced offset, one batch is rewritten", async () => {
  const path = newLogPath();
  const line = `"${"x".repeat(1021)}"\n`;
  const content = Buffer.from(line.repeat(18 * 1024));
  writeFileSync(path, content);
  const disk = new WatchedFiles();
  const { recovery } = await openWriter(path, {}, disk.host);

  assert.equal(recovery.rewrittenBytes, DOUBTFUL_BYTES);
  assert.deepEqual(stretch(disk), [content.length - DOUBTFUL_BYTES, content.length]);
  assert.ok(readFileSync(path).equals(content));
});

test("a lock file with garbage vouches for nothing", async () => {
  for (const hint of [
    "",
    "garbage",
    "{",
    "null",
    "[]",
    "17",
    '{"synced":null}',
    '{"synced":"8"}',
    '{"synced":-1}',
    '{"synced":1.5}',
    '{"synced":1e300}',
    '{"synced":17}',
    "\0".repeat(100),
    "x".repeat(10_000),
  ]) {
    const path = logHolding('{"n":1}\n{"n":2}\n');
    writeFileSync(`${path}.lock`, hint);
    assert.equal((await openWriter(path)).recovery.rewrittenBytes, 16, hint.slice(0, 20));
  }
});

test("a lock file is trusted up to the offset it names, and losing it costs only time", async () => {
  const path = logHolding('{"n":1}\n{"n":2}\n');
  writeFileSync(`${path}.lock`, '{"synced":8}\n');
  const log = await openWriter(path);
  assert.equal(log.recovery.rewrittenBytes, 8);
  await log.close();
  rmSync(`${path}.lock`);
  assert.equal((await openWriter(path)).recovery.rewrittenBytes, 16);
});

test.for(WRITER_KINDS)(
  "while a log is open, its lock file vouches for no appended byte (%s)",
  async ([, kind]) => {
    const path = newLogPath();
    const first = await openWriter(path, kind);
    await first.append(bytesOf('{"n":1}'));
    await first.close();
    const second = await openWriter(path, kind);
    await second.append(bytesOf('{"n":2}'));

    const { synced } = JSON.parse(contentOf(`${path}.lock`)) as { synced?: number };
    assert.ok(synced === undefined || synced <= 8);
  },
);

test.for(WRITER_KINDS)(
  "a log that cannot be rewritten is LOG_SUSPECT at every opening until it can (%s)",
  async ([, kind]) => {
    const { path, synced } = await logWithFailedSync(kind);
    const content = contentOf(path);
    const end = content.length;
    const troubles: ((disk: WatchedFiles) => void)[] = [
      (disk) => failing(disk, "sync", "EIO"),
      (disk) => failing(disk, "writeAt", "EIO"),
      (disk) => failing(disk, "writeAt", "ENOSPC"),
      (disk) => {
        disk.takes = ({ call, bytes }) => (call === "writeAt" ? bytes - 1 : bytes);
      },
    ];
    for (const trouble of troubles) {
      const disk = new WatchedFiles();
      trouble(disk);
      const { details } = await refusal(openWriter(path, kind, disk.host), "LOG_SUSPECT");
      assert.deepEqual(details, { path, from: synced, to: end });
      assert.equal(contentOf(path), content);
    }
    const again = await openWriter(path, kind);
    assert.equal(again.recovery.rewrittenBytes, end - synced);
  },
);

test("a log replaced while it is opened is LOG_SUSPECT, and the other file is not written to", async () => {
  const path = logHolding('{"n":1}\n');
  const disk = new WatchedFiles();
  disk.before = ({ call, mode, name }) => {
    if (call === "open" && name === LOG && mode === "update") {
      rmSync(path);
      writeFileSync(path, "other\n");
    }
    return undefined;
  };
  await refusal(openWriter(path, {}, disk.host), "LOG_SUSPECT");
  assert.equal(contentOf(path), "other\n");
});

test("the torn tail is not rewritten", async () => {
  const path = logHolding('{"n":1}\n{"torn');
  const disk = new WatchedFiles();
  await openWriter(path, {}, disk.host);
  assert.deepEqual(stretch(disk), [0, 8]);
  assert.ok(existsSync(`${path}.torn-0`));
});

/** A log with durable lines up to `synced`, and more that a failed sync left in doubt. */
async function logWithFailedSync(kind: WriterKind): Promise<{ path: string; synced: number }> {
  const path = newLogPath();
  const disk = new WatchedFiles();
  const log = await openWriter(path, kind, disk.host);
  await log.append(bytesOf('{"n":1}'));
  await log.flush();
  const synced = log.end;
  failing(disk, "sync", "EIO");
  const big = bytesOf(`"${"x".repeat(600_000)}"`);
  await Promise.allSettled([log.append(big), log.append(bytesOf('{"n":2}'))]);
  await refusal(log.close(), "LOG_WRITER_FAILED");
  return { path, synced };
}

/** The range that was rewritten in place, which must have no gap. */
function stretch(disk: WatchedFiles): [number, number] {
  const writes = disk.made("writeAt", LOG);
  const from = writes[0]?.at ?? 0;
  let to = from;
  for (const { at, bytes } of writes) {
    assert.equal(at, to);
    to += bytes;
  }
  return [from, to];
}

function failing(disk: WatchedFiles, call: string, code: string): void {
  disk.before = (made) => {
    if (made.call === call && made.name === LOG) throw errno(code);
    return undefined;
  };
}
