/** Each limit of a writer, at the limit and one past it. */

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "vitest";
import { Gate, isPending } from "../../../test/support/gate.ts";
import { bytesOf, contentOf, newLogPath, openWriter } from "../../../test/support/open-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { DOUBTFUL_BYTES, LOG_LIMITS } from "../base/limits.ts";
import { nodeHost } from "../base/node-host.ts";
import type { Durability } from "./log-options.ts";
import { LogReader } from "./reader.ts";

const DURABILITIES: readonly Durability[] = ["disk", "os"];
const MIB = 1024 * 1024;

test("a line of 16 MiB is accepted and read back, and one a byte longer is refused", async () => {
  const path = newLogPath();
  const log = await openWriter(path);
  const longest = Buffer.alloc(16 * MIB + 1, "x");
  longest[0] = longest[16 * MIB - 1] = 0x22;

  const { details } = await refusal(log.append(longest), "LINE_TOO_LONG");
  assert.deepEqual(details, { path, bytes: 16 * MIB + 1, bytesMax: 16 * MIB });
  assert.equal(statSync(path).size, 0);

  assert.equal(await log.append(longest.subarray(0, -1)), 16 * MIB + 1);
  await log.append(bytesOf("1"));
  const [first, second] = await new LogReader(nodeHost, path).last(2);
  assert.ok(longest.subarray(0, -1).equals(first?.bytes ?? Buffer.alloc(0)));
  assert.equal(second?.value, 1);
});

test.for(DURABILITIES)(
  "a line as long as its limit is accepted, and one a byte longer is refused (%s)",
  async (durability) => {
    for (const lineBytesMax of [0, 1, 10, 4095, 4096, 4097]) {
      const path = newLogPath();
      const log = await openWriter(path, { durability, limits: { lineBytesMax } });
      const longest = "x".repeat(lineBytesMax);

      assert.equal(await log.append(bytesOf(longest)), lineBytesMax + 1);
      await refusal(log.append(bytesOf(`${longest}x`)), "LINE_TOO_LONG");
      await log.appendLines(bytesOf(`\n${longest}\n`));
      const { details } = await refusal(
        log.appendLines(bytesOf(`${longest}\n${longest}x\n`)),
        "LINE_TOO_LONG",
      );
      assert.deepEqual(details, { path, bytes: lineBytesMax + 1, bytesMax: lineBytesMax });
      assert.equal(contentOf(path), `${longest}\n\n${longest}\n`);
    }
  },
);

test.for(DURABILITIES)(
  "as many lines as fit a batch are accepted at once, and a byte more is refused (%s)",
  async (durability) => {
    const path = newLogPath();
    const limits = { lineBytesMax: 99, batchBytesMax: 100 };
    const log = await openWriter(path, { durability, limits });
    const lines = `${"x".repeat(49)}\n`.repeat(2);
    assert.equal(await log.appendLines(bytesOf(lines)), 100);
    const { details } = await refusal(log.appendLines(bytesOf(`${lines}\n`)), "BATCH_TOO_LARGE");

    assert.deepEqual(details, { path, bytes: 101, bytesMax: 100 });
    assert.equal(contentOf(path), lines);
  },
);

test("appends that wait are written in batches within the limit", async () => {
  const path = newLogPath();
  const disk = new WatchedFiles();
  const limits = { lineBytesMax: 99, batchBytesMax: 100 };
  const log = await openWriter(path, { limits }, disk.host);
  const lines = Array.from({ length: 40 }, (_, n) => "x".repeat((n * 13) % 60));
  await Promise.all(lines.map((line) => log.append(bytesOf(line))));

  const writes = disk.made("write", "log.jsonl").map(({ bytes }) => bytes);
  assert.ok(
    writes.every((bytes) => bytes <= 100),
    `wrote ${writes}`,
  );
  assert.ok(writes.length < lines.length, "they were gathered");
  assert.equal(contentOf(path), lines.map((line) => `${line}\n`).join(""));
});

test("no write carries more than a batch: a line that would is refused, here or on opening", async () => {
  // Recovery relies on it: at most a batch is ever unsynced (limits.ts, DOUBTFUL_BYTES).
  for (const durability of DURABILITIES) {
    const disk = new WatchedFiles();
    const options = { durability, limits: { batchBytesMax: 100 } };
    await assert.rejects(async () => {
      const log = await openWriter(newLogPath(), options, disk.host);
      await log.append(bytesOf("x".repeat(99)));
      await log.append(bytesOf("x".repeat(100)));
    });
    assert.ok(disk.made("write", "log.jsonl").every(({ bytes }) => bytes <= 100));
  }
});

test("a batch limit larger than recovery can rewrite is refused when the log is opened", async () => {
  assert.ok(LOG_LIMITS.batchBytesMax <= DOUBTFUL_BYTES);
  assert.ok(LOG_LIMITS.lineBytesMax < LOG_LIMITS.batchBytesMax);
  await openWriter(newLogPath(), { limits: { batchBytesMax: DOUBTFUL_BYTES } });
  const limits = { batchBytesMax: DOUBTFUL_BYTES + 1 };
  await refusal(openWriter(newLogPath(), { limits }), "BAD_SETTING");
});

test("a full queue refuses with QUEUE_FULL, and accepts appends again once it has drained", async () => {
  const path = newLogPath();
  const disk = new WatchedFiles();
  const log = await openWriter(path, { limits: { queueBytesMax: 100 } }, disk.host);
  const gate = new Gate();
  disk.before = ({ call }) => (call === "sync" ? gate.pass() : undefined);

  // One batch of 40 bytes in flight, 60 waiting: exactly full.
  const first = log.append(bytesOf("a".repeat(39)));
  await gate.reached;
  const second = log.appendLines(bytesOf(`${"b".repeat(59)}\n`));
  for (const append of [() => log.append(bytesOf("")), () => log.appendLines(bytesOf("\n"))]) {
    const { details } = await refusal(append(), "QUEUE_FULL");
    assert.deepEqual(details, { path, queuedBytes: 100, bytesMax: 100 });
  }
  assert.ok(await isPending(first));

  gate.open();
  await Promise.all([first, second]);
  await log.append(bytesOf("c".repeat(99)));
  await refusal(log.append(bytesOf("d".repeat(100))), "QUEUE_FULL");
  const letters = contentOf(path)
    .split("\n")
    .map((line) => line[0]);
  assert.deepEqual(letters, ["a", "b", "c", undefined]);
});
