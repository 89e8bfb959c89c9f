/**
 * Head pins of several concurrent processes, and of processes that are killed with -9 at a random
 * moment, often while they compact the file. The newest durable pin of a session is never lost, and no
 * line is broken.
 */

import assert from "node:assert/strict";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { COMPACT_LOOK_BYTES, pinLine } from "../../src/trust/heads/head-file.ts";
import { Heads } from "../../src/trust/heads/heads.ts";
import type { PinBook } from "../../src/trust/proof/pins.ts";
import { type Child, startChild } from "../support/child.ts";
import { pinOf } from "../support/pins.ts";
import { seed, times } from "../support/seed.ts";
import { diskDirectory } from "../support/temp-directory.ts";
import type { PinOrder } from "./heads-child.ts";
import { unit } from "./lines.ts";

const ROUNDS = 5 * times;
/** Sessions without new pins: a compaction must keep their old ones. */
const AT_REST = 20;

const PROGRAM = "test/crash/heads-child.ts";

/** A file that is almost long enough to be compacted. */
function nearlyFull(stateDirectory: string, linesToGo: number): void {
  const lines: string[] = [];
  let bytes = 0;
  for (let n = 0; bytes < COMPACT_LOOK_BYTES; n++) {
    const line = pinLine(pinOf(`rest${n % AT_REST}`, n, { log: 100 + (n % AT_REST) }));
    lines.push(line);
    bytes += line.length;
  }
  writeFileSync(join(stateDirectory, "heads.jsonl"), lines.slice(0, -linesToGo).join(""));
}

async function bookOf(stateDirectory: string): Promise<PinBook> {
  const heads = new Heads({ host: nodeHost, stateDirectory, onWarning: assert.fail });
  const { found, problem } = await heads.read();
  assert.equal(problem, null);
  return found;
}

/** The pins of the sessions without new pins. */
function atRest(book: PinBook): string[] {
  return book
    .current()
    .filter(({ pin }) => pin.id.startsWith("rest"))
    .map(({ pin }) => `${pin.id} ${pin.seq}`)
    .sort();
}

function seqOf(book: PinBook, { id }: PinOrder): number {
  return book.lookup({ place: "rye:/project", id, log: null })?.pin.seq ?? -1;
}

test("concurrent processes lose no pin, even while one of them compacts the file", async () => {
  const stateDirectory = diskDirectory();
  nearlyFull(stateDirectory, 40);
  const before = atRest(await bookOf(stateDirectory));
  const orders = ["a", "b", "c"].map((id, n): PinOrder => {
    return { stateDirectory, id, log: n, from: 0, to: 60 };
  });
  const children = orders.map((order) => startChild(PROGRAM, JSON.stringify(order)));
  for (const child of children) child.say("go");
  for (const child of children) assert.equal(await child.exitCode(), 0);

  const book = await bookOf(stateDirectory);
  assert.deepEqual(atRest(book), before);
  assert.equal(before.length, AT_REST);
  for (const order of orders) assert.equal(seqOf(book, order), 59);
  assert.ok(statSync(join(stateDirectory, "heads.jsonl")).size < COMPACT_LOOK_BYTES / 2);
});

test(
  "a process killed at any moment, compacting or not, loses no durable pin",
  async () => {
    const stateDirectory = diskDirectory();
    let [compacted, interrupted, pinned] = [0, 0, 0];
    let next = prepare(stateDirectory, 0);
    for (let round = 0; round < ROUNDS; round++) {
      const { order, child, linesToGo } = next;
      if (round + 1 < ROUNDS) next = prepare(stateDirectory, round + 1);
      nearlyFull(stateDirectory, linesToGo);
      const path = join(stateDirectory, "heads.jsonl");
      const full = statSync(path).size;
      const temporary = `${path}.tmp`;
      // The other processes find what a killed compaction left.
      if (round % 2 === 0) rmSync(temporary, { force: true });
      const wasLeft = existsSync(temporary);
      const before = atRest(await bookOf(stateDirectory));
      // Every second time it is killed during a compaction, if that can be seen.
      const moment = async () => {
        const isOver = () => existsSync(temporary) || statSync(path).size < full;
        while (round % 2 === 0 && !isOver()) await setImmediate();
        const turns = unit(seed + round, 2) * (round % 2 === 0 ? 400 : 1200);
        for (let turn = 0; turn < turns; turn++) await setImmediate();
      };
      const said = await runUntilKilled(child, linesToGo, moment);

      const message = `seed ${seed}, round ${round}: said ${said}`;
      const book = await bookOf(stateDirectory);
      assert.deepEqual(atRest(book), before, message);
      assert.ok(seqOf(book, order) >= said, message);
      pinned += said + 1;
      if (statSync(path).size < full) compacted++;
      if (!wasLeft && existsSync(temporary)) interrupted++;
    }
    console.log(
      `kill -9 of pinning processes, seed ${seed}: ${ROUNDS} deaths, ${pinned} pins, ` +
        `${compacted} compactions done, ${interrupted} interrupted`,
    );
  },
  120_000 * times,
);

/** Starts a process before its round, so that its start costs no time. */
function prepare(
  stateDirectory: string,
  round: number,
): { order: PinOrder; child: Child; linesToGo: number } {
  const order = { stateDirectory, id: `doomed${round}`, log: round, from: 0, to: 1000 };
  const linesToGo = 1 + Math.floor(unit(seed + round, 1) * 4);
  return { order, child: startChild(PROGRAM, JSON.stringify(order)), linesToGo };
}

/**
 * Kills it when the file is about to be compacted; returns the last pin that it reported as
 * durable.
 */
async function runUntilKilled(
  child: Child,
  linesToGo: number,
  moment: () => Promise<void>,
): Promise<number> {
  let said = -1;
  const take = (line: string | null) => {
    assert.notEqual(line, null, "it ended before it was killed");
    assert.equal(line, `pinned ${++said}`);
  };
  child.say("go");
  for (let n = 1; n < linesToGo; n++) take(await child.line());
  await moment();
  const killed = child.kill();
  for (let line = await child.line(); line !== null; line = await child.line()) take(line);
  await killed;
  return said;
}
