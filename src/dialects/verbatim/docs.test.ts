/** The examples of docs/formats/verbatim.md, checked against the code. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { KINDS } from "../../core/model/entry-check.ts";
import { SPILL_BYTES_MAX, SPILLS_MAX } from "../shared/spill.ts";
import { LINE_BYTES_MAX, verbatim } from "./dialect.ts";

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

test("the example of a spilled line names the example file, and is restored from it", () => {
  const page = docsPage("formats/verbatim");
  const spilled = JSON.parse(page.block("jsonl verbatim-spilled")) as Record<string, unknown>;
  const file = Buffer.from(page.block("json verbatim-spill-file").trimEnd());
  const { spilling } = verbatim.writing;
  const [reference] = spilling?.referencesOf(spilled, "s1.jsonl") ?? [];
  assert.equal(reference?.name, `s1.jsonl.${reference?.path}`);
  assert.equal(spilling?.logNameIn(reference?.name ?? ""), "s1.jsonl");
  assert.equal(reference?.bytes, file.length);
  assert.equal(reference?.sha256, createHash("sha256").update(file).digest("hex"));
  assert.deepEqual(verbatim.reading.decode(spilled).entry?.parts, [
    { type: "image", mediaType: "image/png", path: reference?.path },
  ]);
  const restored = spilling?.restore(spilled, [file]) ?? {};
  const [part] = verbatim.reading.decode(restored).entry?.parts ?? [];
  assert.deepEqual(part, { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" });
  for (const stated of [
    `over ${LINE_BYTES_MAX / 1024 / 1024} MiB`,
    `more than ${SPILLS_MAX} strings`,
    `over ${SPILL_BYTES_MAX / 1024 / 1024} MiB`,
  ]) {
    assert.ok(page.text.includes(stated), stated);
  }
});

test("a file's name is of one log only, whatever the ids of sessions are", () => {
  const { spilling } = verbatim.writing;
  const path = "0123456789abcdef0123456789abcdef.0.spill";
  for (const id of ["a", "a.jsonl", "a.jsonl.b", `a.jsonl.${path}`, "é".repeat(100)]) {
    const logName = `${id}.jsonl`;
    const name = spilling?.fileName(path, logName) ?? "";
    assert.equal(spilling?.logNameIn(name), logName);
    assert.ok(Buffer.byteLength(`${name}.tmp`) <= 255);
  }
  for (const name of ["a.jsonl", `a.${path}`, path, "a.jsonl.b.spill", "a.jsonl..0.spill"]) {
    assert.equal(spilling?.logNameIn(name), null, name);
  }
});

test("a caller's own `spill` is refused", () => {
  const known = { ...facts, nowMs: 0, newId: () => "l1" };
  for (const line of [
    { type: "entry", entry: { kind: "start" }, spill: [] },
    { kind: "start", spill: [] },
  ]) {
    assert.throws(() => verbatim.writing.complete(line, known), /spill.*reserved/);
  }
});
