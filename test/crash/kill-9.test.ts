/**
 * Real processes, really killed. A writer appends and prints what was acknowledged; it is killed with
 * -9 at a random moment, the next one opens the log after it, and so on. After each kill every
 * acknowledged line is in the log once, in order, byte for byte.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Durability } from "../../src/core/log/log-options.ts";
import { LogReader } from "../../src/core/log/reader.ts";
import { type Child, startChild } from "../support/child.ts";
import { openWriter } from "../support/open-log.ts";
import { seed, times } from "../support/seed.ts";
import { splitAfterLf } from "../support/tail-oracle.ts";
import { diskDirectory } from "../support/temp-directory.ts";
import { lineOf, unit } from "./lines.ts";
import type { WriterOrder } from "./writer-child.ts";

const ROUNDS_PER_DURABILITY = 8 * times;
/** A log goes through several kills, so that each recovery starts from what the last one left. */
const ROUNDS_PER_LOG = 4;

const PROGRAM = "test/crash/writer-child.ts";

interface Round {
  readonly order: WriterOrder & { writer: number; seed: number };
  readonly child: Child;
  /** Killed at this line of its output, counted from 0: "opening", "opened", "ack 0" … */
  readonly killedOn: number;
}

const DURABILITIES: readonly Durability[] = ["disk", "os"];

test.for(DURABILITIES)(
  "a writer killed at any moment loses nothing it acknowledged (%s)",
  async (durability) => {
    const directory = diskDirectory();
    let [acknowledged, unacknowledged, torn] = [0, 0, 0];
    let next = prepare(0, directory, durability);
    let expected: Buffer[] = [];
    for (let n = 0; n < ROUNDS_PER_DURABILITY; n++) {
      const round = next;
      if (n + 1 < ROUNDS_PER_DURABILITY) next = prepare(n + 1, directory, durability);
      if (n % ROUNDS_PER_LOG === 0) expected = [];
      const acks = await runUntilKilled(round);

      const { path } = round.order;
      const found = existsSync(path) ? splitAfterLf(readFileSync(path)) : [];
      if (found.at(-1)?.at(-1) !== 0x0a && found.pop()) torn++;
      const kept = found.length - expected.length;
      const message = `seed ${seed}, ${durability}, round ${n}: ${acks} acknowledged, ${kept} kept`;
      assert.ok(kept >= acks, message);
      for (let k = 0; k < kept; k++) {
        expected.push(Buffer.concat([lineOf({ sizes: "mixed", ...round.order, n: k }), LF]));
      }
      for (const [k, line] of found.entries()) {
        assert.ok(expected[k]?.equals(line), `${message}; line ${k + 1} differs`);
      }
      acknowledged += acks;
      unacknowledged += kept - acks;
      if (n % ROUNDS_PER_LOG === ROUNDS_PER_LOG - 1) await isWholeInTheEnd(path, expected);
    }
    console.log(
      `kill -9, ${durability}, seed ${seed}: ${ROUNDS_PER_DURABILITY} deaths, ` +
        `${acknowledged} lines acknowledged, ${unacknowledged} more kept, ${torn} torn tails`,
    );
  },
);

const LF = Buffer.from("\n");

/** Starts a writer before its round: it waits for its "go", so that its start costs no time. */
function prepare(n: number, directory: string, durability: Durability): Round {
  const roundSeed = seed + 1000 * n + (durability === "disk" ? 1 : 2);
  const order = {
    path: join(directory, `${Math.floor(n / ROUNDS_PER_LOG)}.jsonl`),
    durability,
    mode: unit(roundSeed, 1) < 0.3 ? ("shared" as const) : ("exclusive" as const),
    writer: (n % ROUNDS_PER_LOG) + 1,
    lines: 100_000,
    atOnce: 1 + Math.floor(unit(roundSeed, 2) * 8),
    seed: roundSeed,
    sizes: "mixed" as const,
  };
  const child = startChild(PROGRAM, JSON.stringify(order));
  return { order, child, killedOn: Math.floor(unit(roundSeed, 3) ** 2 * 60) };
}

/** Lets the writer work, kills it, and returns how many lines it reported as acknowledged. */
async function runUntilKilled({ child, killedOn }: Round): Promise<number> {
  let acks = 0;
  child.say("go");
  for (let seen = 0; seen <= killedOn; seen++) acks += isNextAck(await child.line(), acks);
  const killed = child.kill();
  for (let line = await child.line(); line !== null; line = await child.line()) {
    acks += isNextAck(line, acks);
  }
  await killed;
  return acks;
}

/**
 * Lines are acknowledged in the order in which they were appended, whichever caller awaits them.
 */
function isNextAck(line: string | null, n: number): 0 | 1 {
  assert.notEqual(line, null, "the writer ended before it was killed");
  if (!line?.startsWith("ack")) return 0;
  assert.equal(line, `ack ${n}`);
  return 1;
}

/** Opened once more, the log ends after its last whole line, and a reader agrees. */
async function isWholeInTheEnd(path: string, expected: readonly Buffer[]): Promise<void> {
  const log = await openWriter(path);
  assert.equal(
    log.end,
    expected.reduce((sum, line) => sum + line.length, 0),
  );
  await log.close();
  assert.equal(statSync(path).size, log.end);
  const reader = new LogReader(nodeHost, path);
  for await (const _ of reader);
  assert.equal(reader.report.lines, expected.length);
}
