/**
 * Signing servers, really killed. One after the other continues the same streams and is killed with -9
 * at a random moment. The verdict then reports that the journal was not applied; and after it is, that
 * the last messages may be unsigned; never `unsigned`, `tampered` or `rollback`.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { unit } from "../crash/lines.ts";
import { startChild } from "../support/child.ts";
import { seed, times } from "../support/seed.ts";
import { message, SignedStreams } from "../support/signed-streams.ts";
import { diskDirectory } from "../support/temp-directory.ts";
import { killAfter } from "./kill-after.ts";

const KILLS = 3 * times;

test("a server killed while it signs leaves streams that verify up to their last checkpoint", async () => {
  const streams = new SignedStreams(diskDirectory());
  const start = (round: number) =>
    startChild("test/signing/streams-child.ts", streams.directory, String(round));
  const acknowledged: string[] = [];
  let next = start(0);
  for (let round = 0; round < KILLS; round++) {
    const child = next;
    if (round + 1 < KILLS) next = start(round + 1); // It waits for its "go".
    const chance = unit(seed + round, 7);
    const acks = await killAfter(child, 3 + Math.floor(chance * 60), 400 * chance);
    for (let n = 0; n < acks; n++) acknowledged.push(`"${round}.${n};"`);
    const what = `seed ${seed}, round ${round}`;
    const left = await streams.verdicts();
    assert.ok("" in left ? left[""] === "unreadable NEEDS_RECOVERY" : true, JSON.stringify(left));

    const store = await streams.open({ signing: undefined }); // Only applies the journal.
    await store.close();
    for (const [path, verdict] of Object.entries(await streams.verdicts())) {
      assert.match(verdict, /^(?:verified|incomplete)/, `${what}: ${path}`);
    }
    for (const file of ["0.jsonl", "1.bin"]) {
      const text = readFileSync(join(streams.directory, "logs", file), "utf8");
      for (const said of acknowledged)
        assert.ok(text.includes(said), `${what}: ${said} in ${file}`);
    }
  }
  const store = await streams.open();
  await store.append("/0", message("the end"));
  await store.append("/1", message("the end"));
  await store.close();
  for (const [path, report] of await streams.reports()) {
    assert.match(report.verdict, /^(?:verified|incomplete)$/, path);
    assert.equal(report.tail.bytes, 0, path);
    assert.ok(report.checkpoints.total > KILLS, `${path}: ${report.checkpoints.total}`);
    assert.equal(report.freshness, "match", path);
  }
  assert.deepEqual(streams.warnings, []);
});
