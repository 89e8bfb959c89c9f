/**
 * Answering: how long the server takes to answer a small request while it counts usage for the
 * first time, against the same request to the same server at rest.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { get, type Served } from "./served.ts";

const PAUSE_MS = 10;
const REST_REQUESTS = 200;
const COUNTED_MS = 250;

export interface Answered {
  readonly countMs: number;
  /** Of the requests sent while it counts. */
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
  /** The slowest one at rest: what the machine's load alone does. */
  readonly restSlowestMs: number;
}

export async function answerWhileCounting(served: Served): Promise<Answered> {
  const start = performance.now();
  let isCounting = true;
  const counting = countAll(served).then(() => {
    isCounting = false;
  });
  const during: number[] = [];
  while (isCounting) during.push(await requestMs(served));
  await counting;
  const countMs = performance.now() - start;
  const rest: number[] = [];
  while (rest.length < REST_REQUESTS) rest.push(await requestMs(served));
  const sorted = during.toSorted((a, b) => a - b);
  const part = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return {
    countMs,
    medianMs: part(0.5),
    p99Ms: part(0.99),
    slowestMs: part(1),
    restSlowestMs: Math.max(...rest),
  };
}

async function countAll(served: Served): Promise<void> {
  for (;;) {
    const { isComplete } = (await get(served, "/v1/usage")) as { isComplete: boolean };
    if (isComplete) return;
    await sleep(COUNTED_MS);
  }
}

async function requestMs(served: Served): Promise<number> {
  await sleep(PAUSE_MS);
  const start = performance.now();
  await get(served, "/v1/sessions?limit=1");
  return performance.now() - start;
}
