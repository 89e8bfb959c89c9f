/** What counts of a request, and where two differ. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { comparable, firstDifference, shownValues } from "./compared-request.ts";

const same = (one: object, other: object) =>
  firstDifference(comparable(JSON.stringify(one)), comparable(JSON.stringify(other)));

test("the order of keys, ids of a run and reminders of programs do not count", () => {
  const messages = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];
  const reminded = (day: string) => {
    const text = `<system-reminder>\nToday is ${day}</system-reminder>`;
    return [{ role: "user", content: [{ type: "text", text }] }, ...messages];
  };
  assert.equal(same({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }), null);
  for (const key of ["metadata", "client_metadata", "prompt_cache_key", "user"]) {
    assert.equal(same({ messages, [key]: "1" }, { messages, [key]: { id: 2 } }), null, key);
  }
  assert.equal(same({ messages: reminded("Monday") }, { messages: reminded("Friday") }), null);
  const named = (uuid: string) => ({ input: [{ id: `at_${uuid}`, text: "Hi" }] });
  const ids = ["01a1f5a3-093d-78f0-809c-5ccfb46db7e3", "01a1f5ac-2828-72b3-a8cc-fa3a78f18cea"];
  assert.equal(same(named(ids[0] ?? ""), named(ids[1] ?? "")), null);
  const timed = (create_time: number) => ({
    input: [{ text: "Hi", internal_chat_message_metadata_passthrough: { create_time } }],
  });
  assert.equal(same(timed(1), timed(2)), null);
  const billed = (sum: string) => [{ type: "text", text: `x-anthropic-billing-header: ${sum}` }];
  assert.equal(same({ system: billed("1") }, { system: billed("2") }), null);
});

test("the first difference has its JSON path and both values", () => {
  const body = (text: string) => ({ messages: [{ role: "user", content: [{ text }] }] });
  assert.deepEqual(same(body("Hi"), body("Ho")), {
    path: "$.messages[0].content[0].text",
    recorded: "Hi",
    sent: "Ho",
  });
  assert.deepEqual(same({ messages: [1] }, { messages: [1, 2] })?.path, "$.messages[1]");
  assert.deepEqual(same({ user: 1 }, { stream: true })?.path, "$.stream");
});

test("values are shown from a little before their difference, and without keys", async () => {
  const key = `sk-ant-api03-${"aB3".repeat(31)}AA`;
  const long = "x".repeat(10_000);
  const [recorded, sent] = await shownValues({
    path: "$",
    recorded: `${long} cold, key ${key}`,
    sent: `${long} colour ${key} ${long}`,
  });
  assert.match(recorded, /^…x+ cold, key \*+"$/);
  assert.match(sent, /^…x+ colour \*+ ?x*…$/);
  assert.ok(recorded.length < 250 && sent.length < 250);
  const missing = await shownValues({ path: "$.a", recorded: 1, sent: undefined });
  assert.deepEqual(missing, ["1", "nothing"]);
});
