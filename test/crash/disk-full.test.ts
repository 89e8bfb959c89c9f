/**
 * A disk that is really full. Acknowledged lines are kept, a line that does not fit leaves no part
 * behind, and the log continues when there is space again.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { LogReader } from "../../src/core/log/reader.ts";
import { bytesOf, contentOf, openWriter } from "../support/open-log.ts";
import { valuesOf } from "../support/read-log.ts";
import { refusal } from "../support/refusal.ts";
import { WRITER_KINDS } from "../support/writer-kinds.ts";
import { diskTest, mountFault, SmallDisk } from "./small-disk.ts";

diskTest.for(WRITER_KINDS)(
  "on a full disk appends are refused whole, and continue when there is space (%s)",
  async ([, kind]) => {
    const disk = SmallDisk.mount();
    const path = join(disk.path, "log.jsonl");
    const log = await openWriter(path, kind);
    const acknowledged: string[] = [];
    // Lines of every length up to a few pages: some end at a page boundary, some are cut by the end
    // of the disk.
    for (let cycle = 0; cycle < 3; cycle++) {
      disk.fill(40_000);
      let refused = 0;
      for (let n = 0; refused < 40; n++) {
        const line = JSON.stringify({ cycle, n, pad: "x".repeat((n * 677) % 9000) });
        const before = readFileSync(path);
        try {
          await log.append(bytesOf(line));
          acknowledged.push(line);
        } catch (error) {
          const { details } = await refusal(Promise.reject(error), "NO_SPACE");
          assert.deepEqual(details, { path, end: before.length, bytes: line.length + 1 });
          assert.ok(readFileSync(path).equals(before), "part of a refused line was left");
          refused++;
        }
      }
      assert.ok(disk.freeBytes < 9000);
      disk.empty();
      const line = JSON.stringify({ cycle, after: true });
      await log.append(bytesOf(line));
      acknowledged.push(line);
    }
    await log.close();

    assert.equal(contentOf(path), acknowledged.map((line) => `${line}\n`).join(""));
    const values = await valuesOf(new LogReader(nodeHost, path));
    assert.deepEqual(
      values,
      acknowledged.map((line) => JSON.parse(line) as unknown),
    );
  },
);

diskTest.for(WRITER_KINDS)(
  "a batch that does not fit on the disk is refused as a whole, for every caller in it (%s)",
  async ([, kind]) => {
    const disk = SmallDisk.mount();
    const path = join(disk.path, "log.jsonl");
    const log = await openWriter(path, kind);
    await log.append(bytesOf("1"));
    disk.fill(4096);
    await refusal(log.appendLines(bytesOf(`${"x".repeat(99)}\n`.repeat(1000))), "NO_SPACE");
    assert.equal(contentOf(path), "1\n");

    await log.append(bytesOf("2"));
    assert.equal(contentOf(path), "1\n2\n");
  },
);

diskTest("a torn tail that cannot be copied to a full disk is not cut", async () => {
  const disk = SmallDisk.mount();
  const path = join(disk.path, "log.jsonl");
  const content = `{"n":1}\n{"torn":"${"x".repeat(20_000)}`;
  writeFileSync(path, content);
  disk.fill(8192);
  for (const [, kind] of WRITER_KINDS) {
    await refusal(openWriter(path, kind), "NO_SPACE");
    assert.equal(contentOf(path), content);
    assert.equal(existsSync(`${path}.torn-0`), false);
  }
  const reader = new LogReader(nodeHost, path);
  assert.deepEqual(await valuesOf(reader), [{ n: 1 }]);
  assert.equal(reader.report.tornBytes, content.length - 8);

  disk.empty();
  const log = await openWriter(path);
  assert.equal(log.recovery.cutBytes, content.length - 8);
  assert.equal(contentOf(path) + contentOf(`${path}.torn-0`), content);
});

diskTest(
  "a log without a torn tail opens on a full disk, and accepts a line if its page has space",
  async () => {
    const disk = SmallDisk.mount();
    const path = join(disk.path, "log.jsonl");
    writeFileSync(path, "1\n");
    disk.fill();
    assert.equal(disk.freeBytes, 0);
    const log = await openWriter(path);
    await log.append(bytesOf("2"));
    await refusal(log.append(bytesOf("x".repeat(5000))), "NO_SPACE");
    await log.close();

    assert.equal(contentOf(path), "1\n2\n");
    assert.deepEqual(readdirSync(disk.path).sort(), ["filler", "log.jsonl", "log.jsonl.lock"]);
    // The lock file could not be updated, so its content is not trusted.
    assert.equal((await openWriter(path)).end, 4);
  },
);

if (mountFault !== null) {
  test("no disk can be mounted here: the fault file system covers a full one", () => {
    assert.throws(() => SmallDisk.mount(), /no disk can be mounted/);
  });
}
