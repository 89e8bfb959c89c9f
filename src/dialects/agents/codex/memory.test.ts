/** What a row means after the rows before it. */

import assert from "node:assert/strict";
import { test } from "vitest";
import type { Native } from "../../../core/model/entry.ts";
import { decode } from "./decode.ts";
import { RolloutMemory } from "./memory.ts";

function read(rows: readonly Native[], memory = new RolloutMemory()) {
  return rows.map((row) => {
    const { entry } = decode(row);
    assert.ok(entry);
    return memory.read(entry);
  });
}

function item(role: string, text: string): Native {
  const content = [{ type: role === "user" ? "input_text" : "output_text", text }];
  return { type: "response_item", payload: { type: "message", role, content } };
}

function event(type: string, message: string): Native {
  return { type: "event_msg", payload: { type, message } };
}

function counts(input: number, output: number, last = { input, output }): Native {
  const usage = (counted: { input: number; output: number }) => ({
    input_tokens: counted.input,
    output_tokens: counted.output,
    total_tokens: counted.input + counted.output,
  });
  const info = { total_token_usage: usage({ input, output }), last_token_usage: usage(last) };
  return { type: "event_msg", payload: { type: "token_count", info } };
}

function kinds(rows: readonly Native[]): string {
  return read(rows)
    .map(({ kind }) => kind)
    .join(" ");
}

test("what an item and an event both say is shown once, whichever comes first", () => {
  const events = [event("user_message", "hi"), event("agent_message", "yes")] as const;
  const items = [item("user", "hi"), item("assistant", "yes")] as const;
  assert.equal(kinds([items[0], events[0], items[1], events[1]]), "message other message other");
  assert.equal(kinds([events[0], items[0], events[1], items[1]]), "message other message other");
  assert.equal(kinds([...events, ...items]), "message message other other");
});

test("a rollout that has only events shows them all", () => {
  const rows = [
    event("user_message", "a"),
    event("agent_message", "b"),
    event("user_message", "a"),
  ];
  assert.equal(kinds(rows), "message message message");
});

test("a prompt that is typed twice is shown twice", () => {
  const twice = [event("user_message", "a"), item("user", "a")];
  assert.equal(kinds([...twice, ...twice]), "message other other message");
});

test("tokens are what was added to the total, and a repeated total adds nothing", () => {
  const rows = [counts(10, 1), counts(10, 1), counts(25, 3, { input: 15, output: 2 })];
  assert.deepEqual(
    read(rows).map(({ usage }) => [usage?.inputTokens, usage?.outputTokens, usage?.totalTokens]),
    [
      [10, 1, 11],
      [undefined, undefined, undefined],
      [15, 2, 17],
    ],
  );
});

test("a total that began again counts the last call", () => {
  const last = { input: 5, output: 1 };
  const [, again] = read([counts(100, 9), counts(30, 2, last)]);
  assert.deepEqual([again?.usage?.inputTokens, again?.usage?.outputTokens], [5, 1]);
});

test("answers and counts have the model of their turn", () => {
  const context = { type: "turn_context", payload: { model: "gpt-5" } };
  const [, prompt, answer, counted] = read([
    context,
    item("user", "hi"),
    item("assistant", "yes"),
    counts(1, 1),
  ]);
  assert.deepEqual([prompt?.model, answer?.model, counted?.model], [null, "gpt-5", "gpt-5"]);
});

test("reading continues from the stored state of the memory", () => {
  const memory = new RolloutMemory();
  read([event("user_message", "hi"), counts(10, 1)], memory);
  const again = new RolloutMemory(JSON.parse(JSON.stringify(memory.state())));
  const [repeated, counted] = read([item("user", "hi"), counts(12, 2)], again);
  assert.equal(repeated?.kind, "other");
  assert.equal(counted?.usage?.inputTokens, 2);
});

const thought = (text: string): Native => ({
  type: "event_msg",
  payload: { type: "agent_reasoning", text },
});
const reasoning = (text: string | null, encrypted_content?: string): Native => ({
  type: "response_item",
  payload: {
    type: "reasoning",
    summary: text === null ? [] : [{ type: "summary_text", text }],
    ...(encrypted_content && { encrypted_content }),
  },
});
/** What was thought and said, row by row. */
const saidIn = (rows: readonly Native[]) =>
  read(rows).map(({ parts }) =>
    parts.map((part) => (part.type === "text" || part.type === "reasoning" ? part.text : "")),
  );

test("a thought that is an event and an item is read once, whichever comes first", () => {
  const answer = item("assistant", "yes");
  assert.deepEqual(saidIn([thought("hm"), reasoning("hm"), answer]), [[], ["hm"], ["yes"]]);
  assert.deepEqual(saidIn([reasoning("hm"), thought("hm"), answer]), [["hm"], [], ["yes"]]);
  assert.deepEqual(saidIn([thought("a"), thought("b"), reasoning("a\n\nb")]).at(-1), ["a\n\nb"]);
});

test("a thought that is only an event is read with its encrypted item, or the next answer", () => {
  const [, entry] = read([thought("hm"), reasoning(null, "gAAA")]);
  assert.deepEqual(entry?.parts, [{ type: "reasoning", text: "hm", withheld: "gAAA" }]);
  const rows = [thought("hm"), event("agent_message", "yes"), item("assistant", "yes")];
  assert.deepEqual(saidIn(rows), [[], ["hm", "yes"], []]);
  const aborted = { type: "event_msg", payload: { type: "turn_aborted", reason: "interrupted" } };
  assert.deepEqual(saidIn([thought("hm"), aborted]), [[], ["hm"]]);
  // Codex 0.40 writes both events before both items.
  const late = [...rows.slice(0, 2), reasoning("hm", "gAAA"), item("assistant", "yes")];
  assert.deepEqual(saidIn(late), [[], ["hm", "yes"], [""], []]);
  assert.equal(kinds([...rows.slice(0, 2), reasoning("hm")]), "other message other");
});

test("no thought of many, and no long one, is lost before an answer", () => {
  const many = Array.from({ length: 40 }, (_, n) => `Part ${n}.`);
  const said = saidIn([...many.map(thought), item("assistant", "yes")]).flat();
  assert.equal(said.join("\n\n"), [...many, "yes"].join("\n\n"));
  const long = "x".repeat(65_537);
  assert.deepEqual(saidIn([thought("hm"), thought(long), item("assistant", "yes")]), [
    [],
    [`hm\n\n${long}`],
    ["yes"],
  ]);
  const parts = many.slice(0, 12);
  const whole = [
    ...parts.map(thought),
    event("agent_message", "yes"),
    reasoning(parts.join("\n\n")),
  ];
  assert.equal(saidIn(whole).flat().join("\n\n"), [...parts, "yes"].join("\n\n"));
});

test("a thought waits across a stop of reading", () => {
  const memory = new RolloutMemory();
  read([thought("hm")], memory);
  const later = new RolloutMemory(JSON.parse(JSON.stringify(memory.state())));
  const [entry] = read([item("assistant", "yes")], later);
  assert.equal(entry?.parts.length, 2);
});
