/**
 * `npm run bench -- viewer`: the viewer in Chromium. The size of its first load; opening a session of
 * 100,000 entries, with `--against DIR` in turns with another built checkout; scrolling 10,000 tool
 * calls against the least list; and the server's answers while it counts usage for the first time.
 */

import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { runBench, say } from "./measure/frame.ts";
import { type Bound, compared, type Result } from "./measure/result.ts";
import { makeCorpus } from "./usage/corpus.ts";
import { type Answered, answerWhileCounting } from "./viewer/answering.ts";
import { writeSession } from "./viewer/corpus.ts";
import { type Opened, open } from "./viewer/opening.ts";
import { type Pages, type Scrolled, scroll } from "./viewer/scrolling.ts";
import { serve } from "./viewer/served.ts";

const HERE = fileURLToPath(new URL("..", import.meta.url));
const FIRST_LOAD_KB = 150;
/** Calls with their results, answers and prompts make 100,000 entries. */
const LONG_CALLS = 46_520;
const SCROLLED_CALLS = 10_000;
const FULL = { opens: 7, scrolls: 7, slices: 10, counts: 3 };
const QUICK = { opens: 2, scrolls: 2, slices: 2, counts: 1 };
/** About 300 MB. */
const COUNTED = { sessions: 600, subagents: 960, rollouts: 150, answers: 24 };

await runBench("viewer", async ({ directory, isQuick, against }) => {
  const plan = isQuick ? QUICK : FULL;
  const home = join(directory, "home");
  const long = writeSession(home, 1, LONG_CALLS);
  const calls = writeSession(home, 2, SCROLLED_CALLS);
  const scene = { directory, home };
  return [
    ...(await opening(scene, long.name, plan.opens, against)),
    ...(await scrolling(scene, calls.name, plan)),
    ...(await answering(directory, plan.counts)),
  ];
});

interface Place {
  readonly directory: string;
  readonly home: string;
}

async function opening(
  { directory, home }: Place,
  name: string,
  times: number,
  against: string | undefined,
): Promise<Result[]> {
  say(`opening a session of 100,000 entries, ${times} times`);
  const openOnce = async (checkout: string, kept: string) => {
    const served = await serve(checkout, home, join(directory, kept));
    try {
      return await open(served, name);
    } finally {
      await served.stop();
    }
  };
  const [ours, others]: [Opened[], Opened[]] = [[], []];
  for (let time = 0; time < times; time++) {
    ours.push(await openOnce(HERE, "ours"));
    if (against !== undefined) others.push(await openOnce(resolve(against), "other"));
  }
  const each = (all: readonly Opened[], field: keyof Opened) => all.map((one) => one[field]);
  const shown = (what: string, field: keyof Opened, unit: string): Result => {
    const values = each(ours, field);
    if (against !== undefined) {
      const other = each(others, field);
      return compared(`${what}, against the other`, values, other, unit, { atMost: 1.2 });
    }
    const plain = { measure: what, ours: null, reference: null, values, bound: null };
    return { ...plain, unit: unit === "ms" ? "ms" : "MB" };
  };
  const load = { measure: "first load, compressed", values: each(ours, "fileKb") };
  return [
    { ...load, ours: null, reference: null, unit: "kB", bound: { atMost: FIRST_LOAD_KB } },
    shown("100,000 entries until the first rows are drawn", "rowsMs", "ms"),
    shown("the JavaScript heap then", "heapMb", "MB"),
    shown("the renderer's own memory then", "rendererMb", "MB"),
  ];
}

async function scrolling(
  { directory, home }: Place,
  name: string,
  { scrolls, slices }: { readonly scrolls: number; readonly slices: number },
): Promise<Result[]> {
  say(`scrolling 10,000 tool calls, ${scrolls} times`);
  const served = await serve(HERE, home, join(directory, "ours"));
  const all: Pages[] = [];
  while (all.length < scrolls) all.push(await scroll(served, name, slices));
  await served.stop();
  const each = (page: keyof Pages, field: keyof Scrolled) => all.map((one) => one[page][field]);
  const compare = (page: keyof Pages, to: keyof Pages, field: keyof Scrolled, bound: Bound) => {
    const what = field === "dropped" ? "dropped frames" : "processor time";
    const unit = field === "dropped" ? "" : "ms";
    const measure = `${what} while scrolling: ${page} against ${to} page`;
    return compared(measure, each(page, field), each(to, field), unit, bound);
  };
  return [
    compare("viewer", "least", "dropped", { atMost: 1.3 }),
    compare("viewer", "least", "processorMs", null),
    compare("viewer", "still", "processorMs", null),
  ];
}

async function answering(directory: string, times: number): Promise<Result[]> {
  const home = join(directory, "counted");
  const { bytes } = makeCorpus(home, COUNTED);
  say(`counting ${Math.round(bytes / 1e6)} MB for the first time, ${times} times`);
  const all: Answered[] = [];
  while (all.length < times) {
    const kept = join(directory, "counting");
    rmSync(kept, { recursive: true, force: true });
    const served = await serve(HERE, home, kept);
    all.push(await answerWhileCounting(served));
    await served.stop();
  }
  const shown = (measure: string, field: keyof Answered): Result => {
    const values = all.map((one) => one[field]);
    return { measure, ours: null, reference: null, values, unit: "ms", bound: null };
  };
  return [
    shown("first count of usage", "countMs"),
    shown("an answer meanwhile, median", "medianMs"),
    shown("the same, p99", "p99Ms"),
    { ...shown("the same, slowest", "slowestMs"), bound: { atMost: 100 } },
    shown("the slowest of 200 answers afterwards", "restSlowestMs"),
  ];
}
