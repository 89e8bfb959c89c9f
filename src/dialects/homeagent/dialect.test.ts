import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { homeagent } from "./dialect.ts";
import { judgeEntry } from "./schema.ts";

const { lines } = docsPage("formats/homeagent");

test("the example lines on the format page are valid, with one for each role (S0-4)", () => {
  const examples = lines("jsonl homeagent-line");
  const roles = new Set<unknown>();
  for (const line of examples) {
    const value = JSON.parse(line) as unknown;
    const { entry, fault } = homeagent.reading.decode(value);
    assert.equal(fault, null, line);
    assert.equal(judgeEntry(value), null, line);
    assert.equal(JSON.stringify(value), line, "compact, as we would write it");
    roles.add(entry?.role);
  }
  assert.deepEqual([...roles].sort(), ["assistant", "system", "tool", "user"]);
});

test("the example with a list of parts is what we would write for it", () => {
  const [line = assert.fail("no example")] = lines("jsonl homeagent-line").filter((example) =>
    example.includes('"parts"'),
  );
  const native = JSON.parse(line);
  const { entry } = homeagent.reading.decode(native);
  assert.ok(entry);
  assert.deepEqual(
    entry.parts.map(({ type }) => type),
    ["reasoning", "text", "tool_call", "text", "other"],
  );
  const facts = { id: "a/s", nowMs: 0, agent: null, cwd: "/p", version: "0", model: null };
  assert.deepEqual(homeagent.writing.express(entry, { ...facts, newId: () => native.turnId }), [
    native,
  ]);
});

test("the bad lines on the format page are refused for the reason it gives", () => {
  const bad = lines("jsonl homeagent-bad-line");
  const reasons = lines("text homeagent-reason");
  assert.ok(bad.length > 0);
  assert.deepEqual(
    bad.map((line) => homeagent.reading.decode(JSON.parse(line)).fault),
    reasons,
  );
});
