import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, emptyEntry } from "../core/model/entry.ts";
import { EntryUsage } from "./entry-rows.ts";
import { RowSet } from "./row-set.ts";
import { FLAGS } from "./usage-row.ts";

const AT = "2026-11-10T10:00:00.000Z";

function rowsOf(entries: readonly Entry[]): number {
  const set = new RowSet();
  const usage = new EntryUsage(set);
  entries.forEach((entry, index) => void usage.add(entry, index));
  usage.end();
  return set.endFile("s1");
}

const turnEnd = (inputTokens: number, outputTokens: number): Entry => ({
  ...emptyEntry({}),
  kind: "turn_end",
  at: AT,
  usage: { inputTokens, outputTokens, totalTokens: null, spend: null },
});

test("turns that end in the same millisecond count once each", () => {
  assert.equal(rowsOf([turnEnd(10, 5), turnEnd(11, 5)]), 2);
  assert.equal(rowsOf([turnEnd(10, 5), turnEnd(10, 6)]), 2);
});

test("the same turn written twice counts once", () => {
  assert.equal(rowsOf([turnEnd(10, 5), turnEnd(10, 5)]), 1);
});

const used = (kind: Entry["kind"], inputTokens: number | null, outputTokens: number): Entry => ({
  ...emptyEntry({}),
  kind,
  at: AT,
  role: "assistant",
  usage: { inputTokens, outputTokens, totalTokens: null, spend: null },
});

test("the end of a session counts what its messages lack, and nothing that they have", () => {
  const set = new RowSet();
  const usage = new EntryUsage(set);
  const entries = [used("message", null, 5), used("end", 90, 7), used("message", null, 1)];
  entries.forEach((entry, index) => void usage.add(entry, index));
  usage.end();
  const rows = [...Array(set.endFile("s1")).keys()].map((row) => [
    set.rows.input[row],
    set.rows.output[row],
    set.rows.has(row, FLAGS.unknownInput),
  ]);
  assert.deepEqual(rows, [
    [90, 7, false],
    [0, 1, true],
  ]);
});
