/** The examples of docs/formats/rye.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { decode } from "./decode.ts";
import { completeNative, type RyeEvent, readEnvelope } from "./envelope.ts";
import { express } from "./express.ts";
import { LIVE_OPTIONS, renderEvent } from "./markdown.ts";
import { INDENTED_CHARS_MAX } from "./python.ts";
import { Telemetry } from "./telemetry.ts";
import { formatThreadMeta, metaAfter, type StoredThreadMeta } from "./thread-meta.ts";
import { EVENT_TYPES } from "./vocabulary.ts";

const page = docsPage("formats/rye");
const lines = page.lines("jsonl rye-line");
const events = lines.map((line): RyeEvent => {
  const { event, fault } = readEnvelope(JSON.parse(line));
  assert.equal(fault, null, line);
  return event;
});
const flat = events.filter(({ envelope }) => envelope === "flat");

test("every example line decodes, and there is one for each of the twelve events (S2-2)", () => {
  for (const line of lines) assert.equal(decode(JSON.parse(line)).fault, null, line);
  assert.deepEqual(flat.map(({ type }) => type).sort(), [...EVENT_TYPES].sort());
});

test("the flat envelope's example lines are what the writer makes from their data (S2-1)", () => {
  for (const [n, { native, ts, threadId, type, data }] of flat.entries()) {
    const facts = { envelope: "flat", defaultDirective: null } as const;
    const nowMs = Date.parse(ts ?? "");
    const made = completeNative({ type, ...data }, { ...facts, threadId: threadId ?? "", nowMs });
    assert.equal(JSON.stringify(made), lines[n]);
    assert.deepEqual(made, native);
  }
});

test("the example of a provider's message is what the writer makes, and reads back equal", () => {
  const lines = page.lines("jsonl rye-message");
  const entries = lines.map((line) => decode(JSON.parse(line)).entry ?? assert.fail(line));
  const last = entries.at(-1) ?? assert.fail("no lines");
  const { at, native: _, ...said } = { ...last, parts: entries.flatMap(({ parts }) => parts) };
  const facts = { envelope: "flat", threadId: "hello_world-1739012630" } as const;
  const nowMs = Date.parse(at ?? "");
  const made = express(said).map((native) =>
    completeNative(native, { ...facts, defaultDirective: "hello_world", nowMs }),
  );
  assert.deepEqual(
    made.map((line) => JSON.stringify(line)),
    lines,
  );
  assert.deepEqual([last.messageId, last.isPartial], ["msg_01", true]);
});

test("the example Markdown is rendered from its events (S2-7)", () => {
  const shown = ["thread_start", "tool_call_start", "tool_call_result"];
  const printed = flat
    .filter(({ type }) => shown.includes(type))
    .map((event) => renderEvent(event, LIVE_OPTIONS));
  assert.deepEqual(page.blocks("markdown rye-markdown"), [printed.join("")]);
});

test("the example thread.json results from its start and completion (S2-8)", () => {
  let meta: StoredThreadMeta | null = null;
  for (const event of flat) {
    if (event.type !== "thread_error") meta = metaAfter("hello_world-1739012630", meta, event);
  }
  assert.ok(meta);
  assert.deepEqual(page.blocks("json rye-meta"), [`${formatThreadMeta(meta)}\n`]);

  const telemetry = new Telemetry(Date.parse("2026-02-10T00:00:00Z"));
  telemetry.add(meta);
  assert.deepEqual(
    page.blocks("json rye-stats").map((block): unknown => JSON.parse(block)),
    [telemetry.stats()],
  );
});

test("the page names the limit in the code", () => {
  assert.ok(page.text.includes(`${INDENTED_CHARS_MAX.toLocaleString("en-US")} characters`));
});
