/** The examples of docs/formats/wire.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { wireMarkIn } from "../../core/model/wire-mark.ts";
import { decode } from "../../dialects/verbatim/decode.ts";
import { compaction } from "../../dialects/verbatim/line.ts";
import { RawReading } from "../proxy/recording.ts";
import { runStartMs } from "./raw.ts";

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

test("the calls of the examples can be replayed as the page says", () => {
  const reading = new RawReading(null);
  for (const line of docsPage("formats/wire").lines("jsonl wire-raw")) {
    const { entry } = decode(JSON.parse(line));
    if (entry) reading.add(entry);
  }
  assert.equal(reading.damaged, 0);
  const hello = '{"model":"m","messages":[{"role":"user","content":"Hello"}';
  assert.deepEqual(
    reading.calls.map(({ request, answer }) => [request.join(""), String(answer.body), answer.end]),
    [
      [`${hello}]}`, '{"type":"message","content":[]}', "whole"],
      [`${hello},{"role":"user","content":"More"}]}`, "", "unreachable"],
    ],
  );
  assert.equal(runStartMs(reading.calls[0]?.run ?? ""), Date.parse("2026-11-23T10:00:00.000Z"));
});
