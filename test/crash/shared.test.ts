/**
 * Several processes append to one log at the same time, in shared mode. Every line is intact, none is
 * lost or doubled, and each process's lines are in the order of its appends.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "vitest";
import type { Durability } from "../../src/core/log/log-options.ts";
import { type Child, startChild } from "../support/child.ts";
import { newLogPath, openWriter } from "../support/open-log.ts";
import { seed } from "../support/seed.ts";
import { splitAfterLf } from "../support/tail-oracle.ts";
import { diskDirectory } from "../support/temp-directory.ts";
import { lineOf, type Sizes, unit, writerOf } from "./lines.ts";
import type { WriterOrder } from "./writer-child.ts";

const LINES = 400;

/** Sizes range from 1 byte to 1 MiB; if each line is synced, fewer are large. */
const CASES: readonly (readonly [number, Durability, Sizes, number])[] = [
  [2, "disk", "mixed", 16],
  [4, "disk", "mixed", 16],
  [2, "os", "wide", 1],
  [4, "os", "mixed", 4],
];
const DURABILITIES: readonly Durability[] = ["disk", "os"];
const PROGRAM = "test/crash/writer-child.ts";

for (const [writers, durability, sizes, atOnce] of CASES) {
  const name = `${writers} processes appending at once lose no line and break none (${durability})`;
  test(name, async () => {
    console.log(`shared, ${writers} writers, ${durability}: seed ${seed}`);
    const path = newLogPath(diskDirectory());
    const children = Array.from({ length: writers }, (_, n) =>
      start({ path, writer: n + 1, durability, sizes, atOnce }),
    );
    for (const child of children) child.say("go");
    await Promise.all(children.map(finish));

    const counts = countLines(path, sizes);
    assert.deepEqual([...counts.values()], Array(writers).fill(LINES));
    const log = await openWriter(path);
    assert.equal(log.recovery.cutBytes, 0);
    assert.deepEqual(readdirSync(dirname(path)).sort(), ["log.jsonl", "log.jsonl.lock"]);
  });
}

test.for(DURABILITIES)(
  "writers killed among others lose no acknowledged line, of theirs or of the others (%s)",
  async (durability) => {
    console.log(`shared, some killed, ${durability}: seed ${seed}`);
    const path = newLogPath(diskDirectory());
    const sizes = "mixed";
    const survivor = start({ path, writer: 1, durability, sizes, atOnce: 4 });
    const doomed = [2, 3, 4, 5, 6, 7, 8, 9].map((writer) => ({
      writer,
      child: start({ path, writer, durability, sizes, atOnce: 4 }),
    }));
    for (const child of [survivor, ...doomed.map(({ child }) => child)]) child.say("go");
    const finished = finish(survivor);
    const acknowledged = await Promise.all(
      doomed.map(async ({ writer, child }) => ({
        writer,
        acks: await killSomeTime(child, Math.floor(unit(seed, writer) * 60)),
      })),
    );
    await finished;
    await (await openWriter(path)).close();

    const counts = countLines(path, sizes);
    assert.equal(counts.get(1), LINES);
    for (const { writer, acks } of acknowledged) {
      const kept = counts.get(writer) ?? 0;
      assert.ok(kept >= acks, `seed ${seed}: writer ${writer} kept ${kept} of ${acks}`);
    }
  },
);

function start(order: Omit<WriterOrder, "mode" | "lines" | "seed">): Child {
  const whole: WriterOrder = { ...order, mode: "shared", lines: LINES, seed };
  return startChild(PROGRAM, JSON.stringify(whole));
}

async function finish(child: Child): Promise<void> {
  for (let line = await child.line(); line !== "done"; line = await child.line()) {
    assert.notEqual(line, null, "a writer ended before its last line");
  }
  child.say("end");
  assert.equal(await child.exitCode(), 0);
}

/** Kills a writer when it has reported `acksMin` acknowledgements; returns their final number. */
async function killSomeTime(child: Child, acksMin: number): Promise<number> {
  let acks = 0;
  const count = (line: string | null) => {
    if (line?.startsWith("ack")) acks++;
  };
  while (acks < acksMin) {
    const line = await child.line();
    assert.notEqual(line, null, "a writer ended before it was killed");
    count(line);
  }
  const killed = child.kill();
  for (let line = await child.line(); line !== null; line = await child.line()) count(line);
  await killed;
  return acks;
}

/** How many lines each writer has in the log, all of them its own appends, in order. */
function countLines(path: string, sizes: Sizes): Map<number, number> {
  const counts = new Map<number, number>();
  for (const [at, whole] of splitAfterLf(readFileSync(path)).entries()) {
    const line = whole.subarray(0, -1);
    const writer = writerOf(line);
    const n = counts.get(writer) ?? 0;
    counts.set(writer, n + 1);
    assert.ok(
      lineOf({ writer, n, seed, sizes }).equals(line),
      `seed ${seed}: line ${at + 1} is not line ${n} of writer ${writer}`,
    );
  }
  return counts;
}
