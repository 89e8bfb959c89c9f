import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { dialectNamed } from "../dialects/all.ts";
import { findChanged } from "./changed-logs.ts";
import { UsageLedger } from "./ledger/ledger.ts";
import { openUsage } from "./open-usage.ts";
import { atOnce, Slices } from "./slices.ts";
import { StoredSums } from "./sums/stored-sums.ts";

function* work(steps: number): Generator<void, number> {
  for (let step = 0; step < steps; step++) yield;
  return steps;
}

/** How many other tasks of this thread ran until the work ended. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work;
  isOver = true;
  return turns;
}

test("work in slices lets other tasks run each time its slice is over", async () => {
  assert.ok((await turnsDuring(new Slices(0).run(work(20)))) >= 19);
  assert.equal(await turnsDuring(new Slices(Number.POSITIVE_INFINITY).run(work(20))), 0);
  assert.equal(await new Slices(0).run(work(3)), 3);
  assert.equal(atOnce(work(3)), 3);
});

function stopsOf<Result>(work: Generator<void, Result>): { stops: number; result: Result } {
  for (let stops = 0; ; stops++) {
    const { done, value } = work.next();
    if (done) return { stops, result: value };
  }
}

const row = (session: string, id: number) =>
  `${JSON.stringify({
    type: "assistant",
    sessionId: session,
    timestamp: "2026-11-10T10:00:00.000Z",
    message: { id: `${session} ${id}`, model: "m", usage: { input_tokens: 1 } },
  })}\n`;

test("finding changed logs and summing all rows can stop after a few of them", async () => {
  const home = tempDirectory();
  const root = join(home, ".claude");
  mkdirSync(join(root, "projects/p"), { recursive: true });
  const [logs, rows] = [200, 200];
  for (let log = 0; log < logs; log++) {
    const lines = Array.from({ length: rows }, (_, id) => row(`s${log}`, id));
    writeFileSync(join(root, `projects/p/s${log}.jsonl`), lines.join(""));
  }
  const directory = join(home, "usage");
  const dialect = dialectNamed("claude-code");
  const look = {
    ledger: UsageLedger.open(directory),
    dialect,
    root,
    lookedAt: 0,
    isSearch: true,
    searchedAt: 0,
    onUnreadable: () => assert.fail(),
  };
  const found = stopsOf(findChanged(look));
  assert.equal(found.result.length, logs);
  assert.ok(found.stops >= 3, `${found.stops} stops`);

  const { usage, sums } = await openUsage(nodeHost, {
    cwd: home,
    nowMs: Date.now(),
    directory,
    ownPath: join(home, "x"),
    isPatient: true,
    stores: [{ dialect: "claude-code", root }],
    onFailure: (id) => assert.fail(id),
  });
  assert.equal(usage.counting().length, logs * rows);
  const made = stopsOf(StoredSums.made(usage, Date.now()));
  assert.deepEqual(made.result.cells, sums.cells);
  // 40,000 rows, twice.
  assert.ok(made.stops >= 6, `${made.stops} stops`);
});
