/**
 * Servers that sign, really killed. One after the other goes on with the same streams and is killed
 * with -9 at a random moment. The verdict says then that the journal is not carried out; and once it
 * is, that messages may be unsigned, never that somebody tampered or rolled back.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { unit } from "../crash/lines.ts";
import { seed } from "../crash/seed.ts";
import { type Child, startChild } from "../support/child.ts";
import { message, SignedStreams } from "../support/signed-streams.ts";

const KILLS = 6;

test("a server killed while it signs leaves streams that verify as far as it got", {
  timeout: 60_000,
}, async () => {
  const streams = new SignedStreams();
  const start = (round: number) =>
    startChild("test/signing/streams-child.ts", streams.directory, String(round));
  const acknowledged: string[] = [];
  let next = start(0);
  for (let round = 0; round < KILLS; round++) {
    const child = next;
    if (round + 1 < KILLS) next = start(round + 1); // It waits for its "go".
    const chance = unit(seed + round, 7);
    const acks = await killAfter(child, 3 + Math.floor(chance * 60), 8 * chance);
    for (let n = 0; n < acks; n++) acknowledged.push(`"${round}.${n};"`);
    const what = `seed ${seed}, round ${round}`;
    const left = await streams.verdicts();
    assert.ok("" in left ? left[""] === "unreadable NEEDS_RECOVERY" : true, JSON.stringify(left));

    const store = await streams.open({ signing: undefined }); // Carries the journal out, no more.
    await store.close();
    for (const [path, verdict] of Object.entries(await streams.verdicts())) {
      assert.match(verdict, /^(?:verified|incomplete|unsigned)/, `${what}: ${path}`);
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

/** Answers how many rounds of appends it said were acknowledged. */
async function killAfter(child: Child, acks: number, ms: number): Promise<number> {
  let count = 0;
  const take = async () => {
    const line = await child.line();
    assert.ok(!line?.startsWith("warning"), line ?? "");
    if (line?.startsWith("ack")) count++;
    return line;
  };
  child.say("go");
  while (count < acks) assert.notEqual(await take(), null, "it ended before it was killed");
  await new Promise((resolve) => setTimeout(resolve, ms));
  const killed = child.kill();
  while ((await take()) !== null);
  await killed;
  return count;
}
