/** The examples of docs/formats/verbatim.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { KINDS } from "../../core/model/entry-check.ts";
import { verbatim } from "./dialect.ts";

const lines = docsPage("formats/verbatim").lines("jsonl verbatim-line");
const labelled = docsPage("formats/verbatim").lines("jsonl verbatim-labels");
const natives = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
const facts = { id: "s", agent: null, cwd: "/", version: "0", model: null };

test("the page has a line of each kind of entry", () => {
  const kinds = natives.map(({ entry }) => (entry as { kind: string }).kind);
  assert.deepEqual([...new Set(kinds)].sort(), [...KINDS].sort());
});

test("the example lines are what the writer makes from an entry alone, and from a whole line", () => {
  for (const [n, { id, at, entry }] of natives.entries()) {
    const known = { ...facts, nowMs: Date.parse(String(at)), newId: () => String(id) };
    for (const given of [entry, { type: "entry", entry }] as Record<string, unknown>[]) {
      assert.equal(JSON.stringify(verbatim.writing.complete(given, known)), lines[n]);
    }
  }
});

test("an entry with its own time is written with that time", () => {
  const at = "2026-11-16T10:00:00.000Z";
  const known = { ...facts, nowMs: 0, newId: () => "l1" };
  for (const given of [
    { kind: "start", at },
    { type: "entry", entry: { kind: "start", at } },
  ]) {
    assert.deepEqual(verbatim.writing.complete(given, known), {
      type: "entry",
      id: "l1",
      at,
      entry: { kind: "start" },
    });
  }
});

test("the example lines are read back as they were written", () => {
  for (const native of natives) {
    const { entry, fault } = verbatim.reading.decode(native);
    assert.equal(fault, null);
    const { native: _, ...read } = entry;
    for (const [field, value] of Object.entries(native.entry as object)) {
      assert.deepEqual(read[field as keyof typeof read], value, field);
    }
    assert.equal(read.at, native.at);
  }
});

test("a session that another one started begins with a line that names it, and its agent", () => {
  const [line = "", ...more] = docsPage("formats/verbatim").lines("jsonl verbatim-child");
  assert.deepEqual(more, []);
  const { id, at, parent, agent } = JSON.parse(line) as Record<string, string>;
  assert.ok(id && at && parent && agent);
  const known = { ...facts, agent, nowMs: Date.parse(at), newId: () => id };
  const native = verbatim.writing.complete(verbatim.writing.start?.line({ parent }) ?? {}, known);
  assert.equal(JSON.stringify(native), line);
  assert.deepEqual(verbatim.reading.about?.(native, "s"), { parent });
  assert.equal(verbatim.reading.agentSaidIn?.(native), agent);
});

test("a file by its path is only in a line that was converted", () => {
  const known = { ...facts, nowMs: 0, newId: () => "l1" };
  const parts = [{ type: "file", mediaType: null, path: "/p/plan.pdf" }];
  const entry = { kind: "message", role: "user", parts };
  assert.throws(
    () => verbatim.writing.complete(entry, known),
    /parts\.0\.path: the file can change/,
  );
  const native = verbatim.writing.complete({ type: "entry", entry }, known);
  assert.deepEqual(verbatim.reading.decode(native).entry?.parts, parts);
});

test("an agent or a parent that is no text is refused", () => {
  const known = { ...facts, nowMs: 0, newId: () => "l1" };
  for (const field of ["agent", "parent"]) {
    const line = { type: "entry", [field]: 1, entry: { kind: "start" } };
    assert.throws(
      () => verbatim.writing.complete(line, known),
      new RegExp(`${field}.*expected string`),
    );
  }
});

test("the page's example of labels is written and read as the page says", () => {
  const [start = "", said = ""] = labelled;
  const { id, at, type: _, entry: __, ...labels } = JSON.parse(start) as Record<string, unknown>;
  const known = { ...facts, nowMs: Date.parse(String(at)), newId: () => String(id) };
  const native = verbatim.writing.complete(verbatim.writing.start?.line(labels) ?? {}, known);
  assert.equal(JSON.stringify(native), start);
  const { title: chosenTitle, ...others } = labels;
  assert.deepEqual(verbatim.reading.about?.(native, "s"), { chosenTitle, ...others });
  const { entry } = verbatim.reading.decode(JSON.parse(said));
  assert.deepEqual(entry?.metadata, { traceId: "7f6c6a1e" });
});
