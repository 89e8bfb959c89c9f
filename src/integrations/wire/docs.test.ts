/** The examples of docs/formats/wire.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { wireMarkIn } from "../../core/model/wire-mark.ts";
import { decode } from "../../dialects/verbatim/decode.ts";
import { compaction } from "../../dialects/verbatim/line.ts";

const natives = docsPage("formats/wire")
  .lines("jsonl wire-line")
  .map((line) => JSON.parse(line) as Record<string, unknown>);

test("the example lines are decoded as the page says", () => {
  const entries = natives.map((native) => decode(native).entry);
  assert.deepEqual(
    entries.map((entry) => Object.keys(wireMarkIn(entry?.metadata) ?? {})[0]),
    ["system", "tools", "mark", "status", "status", "summary", "status"],
  );
  assert.deepEqual(
    entries.map((entry) => entry?.saidBy ?? null),
    [null, null, null, null, null, "summary", null],
  );
  assert.deepEqual(natives.map(compaction.isSummary).indexOf(true), 5);
});
