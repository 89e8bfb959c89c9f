/**
 * `npm run bench -- insights`: the page "Insights" of a server over about 1 GB of Claude Code and
 * Codex, against the answer of `usage`, by turns: while sessions are looked at again, as when a page
 * is opened, and first after a restart of the server. The server's processor time says the same on a
 * busy machine.
 */

import assert from "node:assert/strict";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runBench, say } from "./measure/frame.ts";
import { compared, type Result } from "./measure/result.ts";
import { FULL, makeCorpus, QUICK } from "./usage/corpus.ts";
import { get, type Served, serve } from "./viewer/served.ts";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const [OPENINGS, RESTARTS] = [9, 5];
/** Until the server looks for changed sessions again. */
const REST_MS = 4_000;
const AGAIN_MS = 50;
/** The corpus, what is kept of it, and as much again. */
const FREE_BYTES = 5e9;

const PATHS = { insights: "/v1/usage/insights?limit=20", usage: "/v1/usage" } as const;
type Page = keyof typeof PATHS;
type Times = Record<Page, Opening[]>;

interface Opening {
  readonly ms: number;
  /** Of the server, in all threads. */
  readonly processorMs: number;
  readonly answer: Answer;
}

interface Answer {
  readonly isComplete: boolean;
  readonly total: unknown;
}

await runBench("insights", async ({ directory, isQuick }) => {
  const home = join(directory, "home");
  const { bavail, bsize } = statfsSync(directory);
  assert.ok(bavail * bsize > FREE_BYTES, "less than 5 GB are free there: choose another --dir");
  say("making the corpus");
  const { bytes, files } = makeCorpus(home, isQuick ? QUICK : FULL);
  const size = `${Math.round(bytes / 1e6)} MB in ${files.length} files`;
  const start = () => serve(HERE, home, join(directory, "kept"));

  say(`first count of ${size}`);
  const served = await start();
  const [usage, first] = [await opening(served, "usage"), await opening(served, "insights")];
  assert.deepEqual(first.answer.total, usage.answer.total);
  say("opened again");
  const opened = await byTurns(OPENINGS, async (page) => {
    await sleep(REST_MS);
    return await opening(served, page);
  });
  await served.stop();

  say("after a restart");
  const restarted = await byTurns(RESTARTS, async (page) => {
    const again = await start();
    const answered = await opening(again, page);
    await again.stop();
    return answered;
  });
  return [
    plain(`first count and index of ${size}`, [usage.ms + first.ms]),
    ...results("opened again", opened, 1_000),
    ...results("after a restart", restarted, 1_000),
  ];
});

async function byTurns(times: number, open: (page: Page) => Promise<Opening>): Promise<Times> {
  const all: Times = { insights: [], usage: [] };
  for (let n = 0; n < times; n++) {
    for (const page of ["insights", "usage"] as const) all[page].push(await open(page));
  }
  return all;
}

/** Until the answer is complete. */
async function opening(served: Served, page: Page): Promise<Opening> {
  const [start, before] = [performance.now(), served.processorMs()];
  for (;;) {
    const answer = (await get(served, PATHS[page])) as Answer;
    if (answer.isComplete) {
      return { ms: performance.now() - start, processorMs: served.processorMs() - before, answer };
    }
    await sleep(AGAIN_MS);
  }
}

function results(when: string, { insights, usage }: Times, atMost: number): Result[] {
  const ms = (all: readonly Opening[]) => all.map((one) => one.ms);
  return [
    plain(`insights, ${when}`, ms(insights), atMost),
    plain(
      "its processor time",
      insights.map(({ processorMs }) => processorMs),
    ),
    compared(`insights, ${when}, against usage`, ms(insights), ms(usage), "ms", null),
  ];
}

function plain(measure: string, values: readonly number[], atMost?: number): Result {
  const bound = atMost === undefined ? null : { atMost };
  return { measure, ours: null, reference: null, values, unit: "ms", bound };
}
