import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { type Aside, type Entry, emptyEntry } from "../../model/entry.ts";
import type { TurnMark } from "../../model/turns.ts";
import { SummaryFold } from "../summary.ts";
import { FIELDS, MESSAGES_REMEMBERED } from "../usage-fold.ts";
import { IndexFold } from "./index-fold.ts";
import { SOURCES } from "./usage-facts.ts";

const amount = fc.option(fc.nat(1_000));
const usage = fc.record({
  inputTokens: amount,
  outputTokens: amount,
  totalTokens: amount,
  spend: fc.option(fc.constantFrom(0.01, 0.0003, 1)),
});

/** What a fold counted, added up like the report does. */
function totals(facts: ReturnType<IndexFold["take"]>["usage"], turnFields: number) {
  const isCounted = (source: number, bit: number) =>
    source === SOURCES.end || source === ((turnFields >> bit) & 1);
  const sums = FIELDS.map((_, at) => {
    const counted = facts.filter(({ source, sums }) => isCounted(source, at) && sums[at] !== null);
    return counted.length === 0
      ? null
      : counted.reduce((sum, fact) => sum + (fact.sums[at] ?? 0), 0);
  });
  return [...sums, facts.reduce((sum, { turns }) => sum + turns, 0)];
}

test("a session's usage equals its summary's, however it is recorded", () => {
  // Method: sessions that record on messages, at ends of turns, or both; with or without an end.
  const session = (kinds: readonly Entry["kind"][]) =>
    fc.array(
      fc.record({
        kind: fc.constantFrom(...kinds),
        role: fc.constantFrom("user" as const, "assistant" as const),
        messageId: fc.constantFrom("", "a", "b", "c"),
        usage: fc.option(usage),
        aside: fc.constantFrom(null, null, "other_agent" as const, "program" as const),
        mark: fc.constantFrom<TurnMark[]>("opens", "step", "works", "finishes", "ends", null),
      }),
      { maxLength: 12 },
    );
  const end = fc.record({
    kind: fc.constant("end" as const),
    usage: fc.option(usage),
    aside: fc.constant(null),
    mark: fc.constant("ends" as const),
  });
  const any = fc.tuple(
    fc.oneof(
      session(["message"]),
      session(["turn_end"]),
      session(["message", "turn_end", "other"]),
    ),
    fc.option(end),
  );
  fc.assert(
    fc.property(any, ([entries, last]) => {
      const fold = new IndexFold();
      const summary = new SummaryFold();
      let isCalled = false;
      for (const { aside, mark, ...each } of last === null ? entries : [...entries, last]) {
        const entry = { ...emptyEntry({}), ...each };
        fold.add(entry, 0, aside, mark);
        summary.add(entry, aside, mark);
        if (mark !== null && mark !== "opens") isCalled = mark === "step";
      }
      // A call without output yet counts for a day and a model once it has some (UF3).
      if (isCalled) fold.add(emptyEntry({}), 0, null, "works");
      const { inputTokens, outputTokens, totalTokens, spend, turns } = summary.summary({
        agent: null,
      });
      const billionths = spend === null ? null : Math.round(spend * 1e9);
      assert.deepEqual(totals(fold.take().usage, fold.state().usage.turnFields), [
        ...[inputTokens, outputTokens, totalTokens, billionths, turns],
      ]);
    }),
  );
});

test("messages are remembered as long as in a summary", () => {
  const fold = new IndexFold();
  const summary = new SummaryFold();
  const counts = { inputTokens: 10, outputTokens: 5, totalTokens: null, spend: null };
  // Again: two that are remembered, and after a new one two that were dropped by then.
  const ids = [...Array.from({ length: MESSAGES_REMEMBERED }, (_, n) => n), 0, 1, -1, 2, 3];
  for (const id of ids) {
    const message = { kind: "message", role: "assistant", messageId: `m${id}` } as const;
    const entry = { ...emptyEntry({}), ...message, usage: counts };
    fold.add(entry, 0, null, "works");
    fold.add(emptyEntry({}), 0, null, "opens");
    summary.add(entry, null, "works");
    summary.add(emptyEntry({}), null, "opens");
  }
  const { inputTokens, outputTokens, totalTokens, turns } = summary.summary({ agent: null });
  assert.equal(turns, ids.length);
  assert.deepEqual(totals(fold.take().usage, fold.state().usage.turnFields), [
    ...[inputTokens, outputTokens, totalTokens, null, turns],
  ]);
});

test("tokens count for the model that used them: a subagent's for its own, and a program is not a model", () => {
  const fold = new IndexFold();
  const counts = { inputTokens: 1, outputTokens: 1, totalTokens: 2, spend: null };
  const add = (model: string | null, aside: Aside | null) => {
    const entry = { ...emptyEntry({}), kind: "message", role: "assistant" } as const;
    fold.add({ ...entry, model, usage: counts }, 0, aside, "works");
  };
  add("large", null);
  add("small", "other_agent");
  add("<synthetic>", "program");
  add(null, null);
  assert.deepEqual(fold.state().models, ["large", "small"]);
  assert.deepEqual(
    fold.take().usage.map(({ model, turns, sums }) => [model, turns, sums[2]]),
    [
      ["large", 1, 6],
      ["small", 0, 2],
    ],
  );
});

test("a fold saved as JSON at any entry continues as if it had not been", () => {
  const entry = fc.record({
    kind: fc.constantFrom("message" as const, "turn_end" as const, "end" as const),
    role: fc.constantFrom("user" as const, "assistant" as const),
    at: fc.constantFrom("2026-11-14T23:59:59.000Z", "2026-11-15T00:00:00.000Z", null),
    model: fc.constantFrom("m1", "m2", null),
    messageId: fc.constantFrom("", "a", "b"),
    usage: fc.option(usage),
    parts: fc.array(
      fc.oneof(
        fc.record({
          type: fc.constant("tool_call" as const),
          callId: fc.constantFrom("1", "2", null),
          tool: fc.constantFrom("bash", "read"),
          input: fc.constant({ command: "ls" }),
        }),
        fc.record({
          type: fc.constant("tool_result" as const),
          callId: fc.constantFrom("1", "2", null),
          output: fc.constant("out"),
          error: fc.constantFrom("no", null),
          durationMs: fc.option(fc.nat(100)),
        }),
      ),
      { maxLength: 3 },
    ),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 10 }), fc.nat(10), (entries, cut) => {
      const whole = new IndexFold();
      let inPieces = new IndexFold();
      const names: unknown[] = [];
      for (const [at, each] of entries.entries()) {
        whole.add({ ...emptyEntry({}), ...each }, at);
        inPieces.add({ ...emptyEntry({}), ...each }, at);
        if (at !== cut) continue;
        names.push(...inPieces.take().entries);
        inPieces = new IndexFold(JSON.parse(JSON.stringify(inPieces.state())));
      }
      assert.deepEqual(inPieces.state(), whole.state());
      names.push(...inPieces.take().entries);
      assert.deepEqual(names, whole.take().entries);
    }),
  );
});
