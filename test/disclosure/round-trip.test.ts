/** Disclosed copies of real sessions of every dialect: what they show, prove, and never hold. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { disclose, judgeBytes, keysOf, SECRET, SHORT, verdictOf } from "../support/disclosing.ts";
import { ALL_SHAPES, answered, SigningUser, said, turnOf } from "../support/signing-user.ts";

const ENTRIES = [
  ...turnOf("good morning"),
  ...turnOf(SECRET),
  said(SHORT),
  answered(`nothing to hide: ${"y".repeat(100)}`),
  ...turnOf("good evening"),
];

test.each(Object.entries(ALL_SHAPES))(
  "a copy is verified in part, and holds nothing that is withheld (%s)",
  async (_name, shape) => {
    const user = new SigningUser();
    const { target, path } = await user.write(shape, ENTRIES);
    const { bytes, lines, full, withheld } = await disclose(user, target);
    const text = bytes.toString();
    assert.ok(readFileSync(path, "utf8").includes("48213"));
    assert.ok(!text.includes("is 48213") && !text.includes("code 90417"));
    assert.ok(text.includes("good evening") && text.includes("nothing to hide"));
    for (const chunk of [undefined, 1000, 17]) {
      const judged = judgeBytes(keysOf(user), bytes, chunk);
      assert.equal(verdictOf(judged), "verified");
      assert.deepEqual([judged.counts.lines, judged.counts.full], [lines, full]);
      assert.deepEqual([judged.counts.withheld, judged.counts.strings], [1, 2]);
      assert.deepEqual(withheld, [{ rule: "match", reason: "a test", lines: 1, strings: 2 }]);
    }
  },
);
