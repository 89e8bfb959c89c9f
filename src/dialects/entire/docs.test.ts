/** The examples of docs/formats/entire.md, checked against the code. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Entry, Native } from "../../core/model/entry.ts";
import { SPILL_BYTES_MAX, SPILLS_MAX } from "../shared/spill.ts";
import { complete } from "./complete.ts";
import { ACTION_CHARS_MAX, ACTIONS_MAX, ContextFold } from "./context.ts";
import { decode } from "./decode.ts";
import { chain } from "./dialect.ts";
import { EtfExport, HELD_CHARS_MAX, HELD_LINES_MAX } from "./etf.ts";
import { ROW_BYTES_MAX, spilling } from "./spill.ts";

const { text, block, lines: linesOf } = docsPage("formats/entire");
const lines = linesOf("jsonl entire-row");
const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
const id = String(rows[0]?.sessionId);
const entries = rows.map((row): Entry => {
  const { entry, fault } = decode(row);
  assert.equal(fault, null);
  return entry;
});

test("the example rows are what the writer makes of the caller's input", () => {
  let previous: string | null = null;
  for (const [n, row] of rows.entries()) {
    const { sessionId, uuid, parentUuid, timestamp, cwd, version, ...given } = row;
    const made: Native = complete(given, {
      id: String(sessionId),
      nowMs: Date.parse(String(timestamp)),
      agent: null,
      newId: () => String(uuid),
      cwd: String(cwd),
      version: String(version),
      model: null,
    });
    assert.equal(JSON.stringify(chain.link(made, previous)), lines[n]);
    assert.equal(parentUuid, previous);
    previous = chain.idOf(row);
  }
});

test("the example rows are decoded as the page says", () => {
  assert.deepEqual(
    entries.map(({ kind, role, isPartial }) => [kind, role, isPartial]),
    [
      ["message", "user", undefined],
      ["message", "assistant", undefined],
      ["message", "tool", undefined],
      ["message", "system", undefined],
      ["message", "assistant", true],
    ],
  );
});

test("the example context.md is made from the example rows", () => {
  const fold = new ContextFold();
  for (const entry of entries) fold.add(entry);
  assert.equal(fold.text(id), block("markdown entire-context"));
});

test("the example ETF is made from the example rows", () => {
  const etf = new EtfExport({ agent: "verbatim", cliVersion: "0.0.44" });
  const written = [...entries.flatMap((entry) => [...etf.add(entry)]), ...etf.end()];
  assert.equal(written.join(""), block("jsonl entire-etf"));
});

test("the example of a spilled row names the example file, and is restored from it", () => {
  const spilled = JSON.parse(block("jsonl entire-spilled")) as Record<string, unknown>;
  const file = Buffer.from(block("json entire-spill-file").trimEnd());
  const sha256 = createHash("sha256").update(file).digest("hex");
  const [reference] = spilling.referencesOf(spilled, "full.jsonl");
  assert.deepEqual([reference?.bytes, reference?.sha256], [file.length, sha256]);
  const restored = spilling.restore(spilled, [file]);
  const [result] = decode(restored).entry?.parts ?? [];
  assert.ok(result?.type === "tool_result");
  assert.equal(result.output, "a long \ud800 one");
});

test("the page names the limits in the code", () => {
  const limits = [
    `${ROW_BYTES_MAX.toLocaleString("en-US")} bytes`,
    `more than ${SPILLS_MAX} strings`,
    `${SPILL_BYTES_MAX / 1024 / 1024} MiB`,
    `${ACTIONS_MAX.toLocaleString("en-US")} actions`,
    `${ACTION_CHARS_MAX} characters`,
    `${HELD_LINES_MAX.toLocaleString("en-US")} lines or ${HELD_CHARS_MAX / 1024 / 1024} Mi`,
  ];
  for (const limit of limits) assert.ok(text.includes(limit), limit);
});
