/**
 * Real threads, written by the original: every line is accounted for.
 *
 * They are not part of the package; without them, these tests are skipped.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "vitest";
import { sharedFiles } from "../../../test/support/shared-files.ts";
import { Turns } from "../../model/turns.ts";
import type { Native } from "../dialect.ts";
import { rye } from "./dialect.ts";
import { type RyeEvent, readEnvelope } from "./envelope.ts";
import { LIVE_OPTIONS, renderEvent } from "./markdown.ts";
import { reconstructMeta } from "./rebuild-meta.ts";
import { Telemetry } from "./telemetry.ts";
import { formatThreadMeta, isThreadMeta } from "./thread-meta.ts";

const { path: SAMPLES, isThere: hasSamples } = sharedFiles(
  "samples/rye",
  "real rye threads",
  "the tests that read them are",
);
const THREADS = 36;

interface Sample {
  readonly id: string;
  readonly lines: readonly unknown[];
  readonly metaText: string;
  readonly meta: unknown;
}

function samples(): Sample[] {
  const names = readdirSync(SAMPLES, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith("transcript.jsonl"))
    .map((name) => {
      const directory = dirname(join(SAMPLES, name));
      const text = readFileSync(join(SAMPLES, name), "utf8");
      assert.ok(text.endsWith("\n"));
      const metaText = readFileSync(join(directory, "thread.json"), "utf8");
      return {
        id: relative(SAMPLES, directory),
        lines: text
          .slice(0, -1)
          .split("\n")
          .map((line): unknown => JSON.parse(line)),
        metaText,
        meta: JSON.parse(metaText) as unknown,
      };
    });
}

function eventsOf({ lines }: Sample): RyeEvent[] {
  return lines.map((line) => {
    const { event, fault } = readEnvelope(line);
    assert.equal(fault, null);
    return event;
  });
}

test.skipIf(!hasSamples)(
  "every line of every real thread is decoded, or kept as kind other",
  () => {
    const threads = samples();
    assert.equal(threads.length, THREADS);
    const counts = new Map<string, number>();
    for (const { lines } of threads) {
      for (const line of lines) {
        const { entry, fault } = rye.decode(line);
        const sort = entry ? (entry.kind === "other" ? "silent" : "understood") : fault;
        counts.set(sort, (counts.get(sort) ?? 0) + 1);
        assert.ok(entry?.at);
      }
    }
    assert.deepEqual(Object.fromEntries(counts), { understood: 501, silent: 6158 });
  },
);

test.skipIf(!hasSamples)(
  "every real thread's id is its path, and is in each of its lines (S2-5)",
  () => {
    for (const sample of samples()) {
      assert.equal(rye.idAt(rye.logPath(sample.id)), sample.id);
      for (const event of eventsOf(sample)) assert.equal(event.threadId, sample.id);
    }
  },
);

test.skipIf(!hasSamples)("every real thread renders with all of its messages (S2-11)", () => {
  for (const sample of samples()) {
    const events = eventsOf(sample);
    const markdown = events.map((event) => renderEvent(event, LIVE_OPTIONS)).join("");
    for (const { type, data } of events) {
      if (type.startsWith("cognition_")) assert.ok(markdown.includes(String(data.text)));
    }
    const last = events.filter(({ meaning }) => meaning !== null).at(-1);
    if (last?.meaning === "thread_complete")
      assert.match(markdown, /\*\*Completed\*\* · \d+ turns/);
    if (last?.meaning === "thread_error") assert.match(markdown, /\*\*Error:\*\* {2}— \S/);
  }
});

test.skipIf(!hasSamples)(
  "every real thread.json is usable, and agrees with one rebuilt from its log (S2-10)",
  () => {
    for (const sample of samples()) {
      const { meta, id } = sample;
      assert.ok(isThreadMeta(meta));
      const rebuilt = reconstructMeta(id, eventsOf(sample));
      assert.equal(rebuilt?.status, meta.status, id);
      if (meta.cost !== undefined) assert.deepEqual(rebuilt?.cost, meta.cost, id);
      // The original writes whole floats as 1.0, which JavaScript reads as 1.
      const expected = sample.metaText.replace(/(?<=": -?\d+)\.0(?=,?\n)/g, "");
      assert.equal(formatThreadMeta(meta), expected, id);
    }
  },
);

test.skipIf(!hasSamples)("every real thread has as many turns as it states", () => {
  let told = 0;
  for (const { id, lines, meta } of samples()) {
    const turns = new Turns();
    for (const line of lines) turns.note(rye.signing.turnMark(line as Native, id));
    const { cost } = meta as { readonly cost?: { readonly turns?: number } };
    if (cost?.turns === undefined) continue;
    assert.equal(turns.count, cost.turns, id);
    told++;
  }
  assert.equal(told, 34);
});

test.skipIf(!hasSamples)("the totals over the real threads are correct (S2-12)", () => {
  const telemetry = new Telemetry(Date.parse("2026-02-19T00:00:00Z"));
  for (const { meta } of samples()) telemetry.add(meta);
  const stats = telemetry.stats();
  const { total, completed, error, running, skipped } = stats;
  assert.deepEqual(
    { total, completed, error, running, skipped },
    {
      total: THREADS,
      completed: 28,
      error: 6,
      running: 2,
      skipped: 0,
    },
  );
  // The real files have no `tokens`; the sum of input and output is used.
  assert.ok(stats.total_tokens > 0);
  assert.ok(stats.total_spend > 0);
});
