/**
 * Threads, written as the original writes them: every line is accounted for.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, test } from "vitest";
import { RYE_THREADS } from "../../../test/support/rye-threads.ts";
import type { Native } from "../../core/model/entry.ts";
import { Turns } from "../../core/model/turns.ts";
import { rye } from "./dialect.ts";
import { type RyeEvent, readEnvelope } from "./envelope.ts";
import { LIVE_OPTIONS, renderEvent } from "./markdown.ts";
import { reconstructMeta } from "./rebuild-meta.ts";
import { Telemetry } from "./telemetry.ts";
import { formatThreadMeta, isThreadMeta } from "./thread-meta.ts";

/** How many there are of what, in our own threads and in the public ones. */
const FACTS = {
  own: {
    threads: 5,
    lines: { understood: 30, silent: 29 },
    turns: 4,
    statuses: { total: 5, completed: 3, error: 1, running: 1, skipped: 0 },
  },
  public: {
    threads: 36,
    lines: { understood: 501, silent: 6158 },
    turns: 34,
    statuses: { total: 36, completed: 28, error: 6, running: 2, skipped: 0 },
  },
};

interface Sample {
  readonly id: string;
  readonly lines: readonly unknown[];
  readonly metaText: string;
  readonly meta: unknown;
}

function samplesIn(directory: string): Sample[] {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith("transcript.jsonl"))
    .map((name) => {
      const thread = dirname(join(directory, name));
      const text = readFileSync(join(directory, name), "utf8");
      assert.ok(text.endsWith("\n"));
      const metaText = readFileSync(join(thread, "thread.json"), "utf8");
      return {
        id: relative(directory, thread),
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

describe.each(RYE_THREADS)("%s threads", (name, directory) => {
  const threads = samplesIn(directory);
  const facts = FACTS[name];

  test("every line of every thread is decoded, or kept as kind other", () => {
    assert.equal(threads.length, facts.threads);
    const counts = new Map<string, number>();
    for (const { lines } of threads) {
      for (const line of lines) {
        const { entry, fault } = rye.reading.decode(line);
        const sort = entry ? (entry.kind === "other" ? "silent" : "understood") : fault;
        counts.set(sort, (counts.get(sort) ?? 0) + 1);
        assert.ok(entry?.at);
      }
    }
    assert.deepEqual(Object.fromEntries(counts), facts.lines);
  });

  test("every thread's id is its path, and is in each of its lines (S2-5)", () => {
    for (const sample of threads) {
      assert.equal(rye.naming.idAt(rye.naming.logPath(sample.id)), sample.id);
      for (const event of eventsOf(sample)) assert.equal(event.threadId, sample.id);
    }
  });

  test("every thread renders with all of its messages (S2-11)", () => {
    for (const sample of threads) {
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

  test("every thread.json is usable, and agrees with one rebuilt from its log (S2-10)", () => {
    for (const sample of threads) {
      const { meta, id } = sample;
      assert.ok(isThreadMeta(meta));
      const rebuilt = reconstructMeta(id, eventsOf(sample));
      assert.equal(rebuilt?.status, meta.status, id);
      if (meta.cost !== undefined) assert.deepEqual(rebuilt?.cost, meta.cost, id);
      // The original writes whole floats as 1.0, which JavaScript reads as 1.
      const expected = sample.metaText.replace(/(?<=": -?\d+)\.0(?=,?\n)/g, "");
      assert.equal(formatThreadMeta(meta), expected, id);
    }
  });

  test("every thread has as many turns as it states", () => {
    let told = 0;
    for (const { id, lines, meta } of threads) {
      const turns = new Turns();
      for (const line of lines) turns.note(rye.turns.turnMark(line as Native, id));
      const { cost } = meta as { readonly cost?: { readonly turns?: number } };
      if (cost?.turns === undefined) continue;
      assert.equal(turns.count, cost.turns, id);
      told++;
    }
    assert.equal(told, facts.turns);
  });

  test("the totals over the threads are correct (S2-12)", () => {
    const telemetry = new Telemetry(Date.parse("2026-02-19T00:00:00Z"));
    for (const { meta } of threads) telemetry.add(meta);
    const stats = telemetry.stats();
    const { total, completed, error, running, skipped } = stats;
    assert.deepEqual({ total, completed, error, running, skipped }, facts.statuses);
    // The public files have no `tokens`; the sum of input and output is used.
    assert.ok(stats.total_tokens > 0);
    assert.ok(stats.total_spend > 0);
  });
});
