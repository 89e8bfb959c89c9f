import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, emptyEntry } from "../model/entry.ts";
import { EntryUsage } from "./entry-rows.ts";
import { RowSet } from "./row-set.ts";

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
  ...{
    kind: "turn_end",
    at: AT,
    usage: { inputTokens, outputTokens, totalTokens: null, spend: null },
  },
});

test("turns that end in the same millisecond count once each", () => {
  assert.equal(rowsOf([turnEnd(10, 5), turnEnd(11, 5)]), 2);
  assert.equal(rowsOf([turnEnd(10, 5), turnEnd(10, 6)]), 2);
});

test("the same turn written twice counts once", () => {
  assert.equal(rowsOf([turnEnd(10, 5), turnEnd(10, 5)]), 1);
});
