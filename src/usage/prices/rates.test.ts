import assert from "node:assert/strict";
import { test } from "vitest";
import { Columns } from "../columns.ts";
import { FLAGS } from "../usage-row.ts";
import { lookUp } from "./price-table.ts";
import { priceOf, type Rates } from "./rates.ts";

function rowOf(counts: Partial<Record<"input" | "output" | "cacheRead", number>>, flags = 0) {
  const rows = new Columns();
  rows.add();
  for (const [name, count] of Object.entries(counts)) rows[name as "input"][0] = count;
  rows.cacheWrite5m[0] = 1_000;
  rows.cacheWrite1h[0] = 100;
  rows.flags[0] = flags;
  return rows;
}

test("cache writes for five minutes and for an hour have their own prices", () => {
  const [{ rates } = { rates: {} as Rates }] = lookUp("claude-opus-4-5")?.prices ?? [];
  const rows = rowOf({ input: 10, output: 20, cacheRead: 30 });
  const expected = 10 * 5 + 20 * 25 + 30 * 0.5 + 1_000 * 6.25 + 100 * 10;
  assert.equal(priceOf(rows, 0, rates), expected / 1e6);
});

test("above a tier, all tokens of the response have its price", () => {
  const [{ rates } = { rates: {} as Rates }] = lookUp("claude-sonnet-4-5")?.prices ?? [];
  const under = rowOf({ input: 198_900, output: 10 });
  const over = rowOf({ input: 198_901, output: 10 });
  assert.equal(priceOf(under, 0, rates), (198_900 * 3 + 150 + 3_750 + 600) / 1e6);
  assert.equal(priceOf(over, 0, rates), (198_901 * 6 + 225 + 7_500 + 1_200) / 1e6);
});

test("a batch costs a half, the fast mode a multiple", () => {
  const [{ rates } = { rates: {} as Rates }] = lookUp("claude-opus-4-6")?.prices ?? [];
  const plain = priceOf(rowOf({ input: 10 }), 0, rates);
  assert.equal(priceOf(rowOf({ input: 10 }, FLAGS.batch), 0, rates), plain / 2);
  assert.equal(priceOf(rowOf({ input: 10 }, FLAGS.fast), 0, rates), plain * 6);
});
