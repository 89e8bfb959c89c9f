import assert from "node:assert/strict";
import { test } from "vitest";
import { costText } from "./settings.ts";

test("a cost is the least there can be if a price or an input is not known", () => {
  const priced = { cost: 1.2, unpriced: 0, unknownInputs: 0 };
  assert.equal(costText(priced), "$1.20");
  assert.equal(costText({ ...priced, unpriced: 7 }), "$1.20 + ?");
  assert.equal(costText({ ...priced, unknownInputs: 1 }), "$1.20 + ?");
  assert.equal(costText({ ...priced, cost: null }), "unknown");
});
