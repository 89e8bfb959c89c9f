/** What the server's log has of a fault. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { VerbatimError } from "../../core/base/errors.ts";
import { faultText } from "./serve.ts";

test("a refusal is one line with its code, and only a fault of the program has a stack", () => {
  const details = { path: "db", reason: "gone", outcome: "unchanged" } as const;
  const refusal = new VerbatimError("STORE_UNAVAILABLE", "db: gone; nothing was changed", details);
  assert.equal(faultText(refusal), "db: gone; nothing was changed (STORE_UNAVAILABLE)");
  assert.match(faultText(new TypeError("x is not a function")), /^TypeError: .*\n +at /);
  assert.equal(faultText("after 3 s"), "after 3 s");
});
