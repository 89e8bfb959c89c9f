import assert from "node:assert/strict";
import { test } from "vitest";
import { costText, missingText, shortCost } from "./settings.ts";

const PRICED = { cost: 1.2, unpriced: 0, unknownInputs: 0 };

test("a cost says in words what has no price or was not recorded", () => {
  assert.equal(costText(PRICED), "$1.20");
  assert.equal(costText({ ...PRICED, unpriced: 700 }), "$1.20 and 700 tokens without a price");
  const unrecorded = { ...PRICED, unpriced: 7000, unknownInputs: 1 };
  const words = "7.0k tokens without a price and 1 response without a recorded input";
  assert.equal(costText(unrecorded), `$1.20 and ${words}`);
  assert.equal(costText({ ...PRICED, cost: null }), "unknown");
  assert.equal(missingText(PRICED), "");
  assert.equal(missingText({ ...PRICED, unpriced: 9 }, 2), "2 models without a price");
});

test("in a narrow place, a cost is the least there can be", () => {
  assert.equal(shortCost(PRICED), "$1.20");
  assert.equal(shortCost({ ...PRICED, unpriced: 7 }), "$1.20 + ?");
  assert.equal(shortCost({ ...PRICED, unknownInputs: 1 }), "$1.20 + ?");
  assert.equal(shortCost({ ...PRICED, cost: null, unpriced: 7 }), "unknown");
});
