import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { PriceBook, TABLE } from "./price-book.ts";
import { lookUp } from "./price-table.ts";

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
