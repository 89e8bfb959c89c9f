import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { Columns } from "../columns.ts";
import { FLAGS } from "../usage-row.ts";
import { PriceBook, TABLE } from "./price-book.ts";
import { lookUp } from "./price-table.ts";
import { costOf, type Rates } from "./rates.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");

function bookIn(directory: string, nowMs = NOW): PriceBook {
  return new PriceBook({ directory, ownPath: join(directory, "prices.json"), nowMs });
}

test("the table is the one that package.json names", () => {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    dependencies: Record<string, string>;
  };
  assert.equal(TABLE, `genai-prices ${dependencies["@pydantic/genai-prices"]}`);
});

test("models have prices under the names that gateways and clouds give them", () => {
  const input = (model: string) => lookUp(model)?.prices[0]?.rates.input;
  assert.equal(input("claude-opus-4-5-20251101"), 5);
  assert.equal(input("anthropic/claude-opus-4.5"), 5);
  assert.equal(input("us.anthropic.claude-opus-4-5-20251101-v1:0"), 5);
  assert.equal(input("gpt-5"), 1.25);
  assert.equal(lookUp("no-such-model"), null);
});

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
  assert.equal(costOf(rows, 0, rates), expected / 1e6);
});

test("above a tier, all tokens of the response have its price", () => {
  const [{ rates } = { rates: {} as Rates }] = lookUp("claude-sonnet-4-5")?.prices ?? [];
  const under = rowOf({ input: 198_900, output: 10 });
  const over = rowOf({ input: 198_901, output: 10 });
  assert.equal(costOf(under, 0, rates), (198_900 * 3 + 150 + 3_750 + 600) / 1e6);
  assert.equal(costOf(over, 0, rates), (198_901 * 6 + 225 + 7_500 + 1_200) / 1e6);
});

test("a batch costs a half, the fast mode a multiple", () => {
  const [{ rates } = { rates: {} as Rates }] = lookUp("claude-opus-4-6")?.prices ?? [];
  const plain = costOf(rowOf({ input: 10 }), 0, rates);
  assert.equal(costOf(rowOf({ input: 10 }, FLAGS.batch), 0, rates), plain / 2);
  assert.equal(costOf(rowOf({ input: 10 }, FLAGS.fast), 0, rates), plain * 6);
});

test("prices of a model may depend on when it was used", async () => {
  const book = bookIn(tempDirectory());
  await book.learn(["claude-opus-4-6"]);
  const at = (day: string) => book.ratesFor("claude-opus-4-6", Date.parse(day))?.input;
  assert.deepEqual(at("2026-02-20"), { base: 5, tiers: [{ over: 200_000, price: 10 }] });
  assert.equal(at("2026-03-20"), 5);
});

test("a decision is written once, and read by the next process", async () => {
  const directory = tempDirectory();
  await bookIn(directory).learn(["gpt-5", "no-such-model"]);
  const journal = readFileSync(join(directory, "prices.jsonl"), "utf8");
  assert.equal(journal.trim().split("\n").length, 2);
  const next = bookIn(directory);
  await next.learn(["gpt-5", "no-such-model"]);
  assert.equal(readFileSync(join(directory, "prices.jsonl"), "utf8"), journal);
  assert.equal(next.ratesFor("gpt-5", NOW)?.output, 10);
  assert.equal(next.ratesFor("no-such-model", NOW), null);
});

test("own prices that change hold for what is used from then on", async () => {
  const directory = tempDirectory();
  const own = (output: number) =>
    writeFileSync(join(directory, "prices.json"), `{"m": {"input": 1, "output": ${output}}}`);
  own(2);
  await bookIn(directory).learn(["m"]);
  own(3);
  const book = bookIn(directory, NOW + 1_000);
  await book.learn(["m"]);
  assert.deepEqual(
    [NOW, NOW + 1_000].map((at) => book.ratesFor("m", at)?.output),
    [2, 3],
  );
});

test("own prices that cannot be understood are refused, with their path", () => {
  for (const text of ["{", "[]", '{"m": 1}', '{"m": {"input": "1", "output": 2}}']) {
    const directory = tempDirectory();
    writeFileSync(join(directory, "prices.json"), text);
    assert.throws(() => bookIn(directory), /prices\.json is refused: .*; correct or remove it/);
  }
});
