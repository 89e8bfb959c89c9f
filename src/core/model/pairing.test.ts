import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import type { Entry, Part } from "./entry.ts";
import { ANSWERED_CALLS_MAX, CallPairing, OPEN_CALLS_MAX } from "./pairing.ts";

type Call = Extract<Part, { type: "tool_call" }>;
type Said = Pick<Entry, "kind" | "role" | "parts">;

function call(callId: string | null, tool = "t", input: unknown = null): Call {
  return { type: "tool_call", callId, tool, input };
}

function said(...parts: Part[]): Said {
  return { kind: "message", role: "assistant", parts };
}

const USER: Said = { kind: "message", role: "user", parts: [{ type: "text", text: "stop" }] };
const TURN: Said = { kind: "turn_start", role: null, parts: [] };

function result(callId: string | null): Part {
  return { type: "tool_result", callId, output: null, error: null, durationMs: null };
}

function openIds(pairing: CallPairing<unknown>): (string | null)[] {
  return [...pairing.open()].map(({ callId }) => callId);
}

test("a call is open until its result, however late that is", () => {
  const pairing = new CallPairing<number>();
  assert.deepEqual(pairing.add(said(call("a"), call("b")), 1), []);
  assert.deepEqual(pairing.add(said({ type: "text", text: "" }, result("b")), 2), []);
  assert.deepEqual([...pairing.open()], [{ callId: "a", at: 1 }]);
  assert.deepEqual(pairing.add(said(result("a")), 3), []);
  assert.deepEqual(openIds(pairing), []);
});

test("a result that answers no open call is a duplicate or unknown", () => {
  const pairing = new CallPairing<number>();
  pairing.add(said(call("a"), result("a")), 1);
  assert.deepEqual(pairing.add(said(result("a"), result("b")), 2), [
    { callId: "a", fit: "duplicate" },
    { callId: "b", fit: "unknown" },
  ]);
});

test("a call repeated while it is open is one call; after its result it is a new one (CP1)", () => {
  const pairing = new CallPairing<number>();
  pairing.add(said(call("a")), 1);
  pairing.add(said(call("a")), 2);
  pairing.add(said(result("a")), 3);
  assert.deepEqual(openIds(pairing), []);
  pairing.add(said(call("a")), 4);
  assert.deepEqual([...pairing.open()], [{ callId: "a", at: 4 }]);
  assert.deepEqual(pairing.add(said(result("a")), 5), []);
});

test("calls and results without an id are paired in their order (CP2)", () => {
  const pairing = new CallPairing<number>();
  pairing.add(said(call(null)), 1);
  pairing.add(said(call(null)), 2);
  pairing.add(said(result(null)), 3);
  assert.deepEqual([...pairing.open()], [{ callId: null, at: 2 }]);
  pairing.add(said(result(null)), 4);
  assert.deepEqual(pairing.add(said(result(null)), 5), [{ callId: null, fit: "unknown" }]);
});

test("an id reused for another tool, another input or in a later turn is a new call (CP1)", () => {
  const again: readonly (readonly [Said | null, Call])[] = [
    [null, call("1", "status")],
    [null, call("1", "deploy", { env: "test" })],
    [USER, call("1", "deploy", { env: "prod" })],
    [TURN, call("1", "deploy", { env: "prod" })],
  ];
  for (const [between, second] of again) {
    const pairing = new CallPairing<number>();
    pairing.add(said(call("1", "deploy", { env: "prod" })), 1);
    if (between) pairing.add(between, 2);
    assert.equal(pairing.addCall(second, 3), true);
    assert.deepEqual(pairing.answer("1"), { fit: "answers", call: { callId: "1", at: 3 } });
    assert.deepEqual([...pairing.open()], [{ callId: "1", at: 1 }], "it has no result");
  }
});

test("a late result is matched by id; without an id it answers no call of an earlier turn", () => {
  for (const between of [USER, TURN]) {
    const pairing = new CallPairing<number>();
    pairing.add(said(call("a"), call(null, "deploy")), 1);
    pairing.add(between, 2);
    pairing.add(said(call(null, "status")), 3);
    assert.deepEqual(pairing.answer("a"), { fit: "answers", call: { callId: "a", at: 1 } });
    assert.deepEqual(pairing.answer(null), { fit: "answers", call: { callId: null, at: 3 } });
    assert.equal(pairing.addResult(null), "untold");
    assert.deepEqual([...pairing.open()], [{ callId: null, at: 1 }]);
  }
});

test("results with the user role do not begin a turn", () => {
  const pairing = new CallPairing<number>();
  pairing.add(said(call(null), call(null)), 1);
  pairing.add({ kind: "message", role: "user", parts: [result(null)] }, 2);
  assert.equal(pairing.addResult(null), "answers");
});

test("calls whose id was reused count towards the limit, too (CP3)", () => {
  const pairing = new CallPairing<number>();
  for (let n = 0; n <= OPEN_CALLS_MAX; n++) pairing.addCall(call("1", "t", n), n);
  assert.equal(pairing.forgotten, 1);
  assert.equal([...pairing.open()].length, OPEN_CALLS_MAX);
  assert.deepEqual(pairing.answer("1").call?.at, OPEN_CALLS_MAX);
});

test("beyond the limit of open calls, the oldest are only counted (CP3)", () => {
  const pairing = new CallPairing<number>();
  for (let n = 0; n < OPEN_CALLS_MAX; n++) pairing.addCall(call(`c${n}`), n);
  assert.equal(pairing.forgotten, 0);
  assert.equal(pairing.addResult("stray"), "unknown");
  pairing.addCall(call("one more"), -1);
  assert.equal(pairing.forgotten, 1);
  assert.equal(openIds(pairing).length, OPEN_CALLS_MAX);
  // The oldest may still get its result, which then looks like a stray one.
  assert.equal(pairing.addResult("c0"), "untold");
  assert.equal(pairing.addResult("c1"), "answers");
});

test("calls without an id count towards the limit too", () => {
  const pairing = new CallPairing<number>();
  for (let n = 0; n <= OPEN_CALLS_MAX; n++) pairing.addCall(call(null), n);
  assert.equal(pairing.forgotten, 1);
  assert.equal([...pairing.open()][0]?.at, 1);
});

test("the latest answered calls are remembered, up to the limit (CP3)", () => {
  const pairing = new CallPairing<null>();
  for (let n = 0; n < ANSWERED_CALLS_MAX; n++) {
    pairing.addCall(call(`c${n}`), null);
    pairing.addResult(`c${n}`);
  }
  assert.equal(pairing.addResult("c0"), "duplicate");
  pairing.addCall(call("more"), null);
  pairing.addResult("more");
  assert.equal(pairing.addResult("c0"), "unknown");
  assert.equal(pairing.addResult("c1"), "duplicate");
});

test("very long ids are distinguished", () => {
  const pairing = new CallPairing<null>();
  const long = "x".repeat(5000);
  pairing.addCall(call(`${long}1`), null);
  pairing.addCall(call(`${long}2`), null);
  assert.equal(pairing.addResult(`${long}2`), "answers");
  assert.equal(pairing.addResult(`${long}2`), "duplicate");
  assert.equal(openIds(pairing).length, 1);
});

test("in any order, open calls and misfits are those found by a plain search", () => {
  // Method: a model that remembers everything and searches all of it.
  const step = fc.record({ isCall: fc.boolean(), id: fc.constantFrom("a", "b", "c", "__proto__") });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const pairing = new CallPairing<number>();
      steps.forEach(({ isCall, id }, at) => {
        const before = steps.slice(0, at).filter((each) => each.id === id);
        const isOpen = before.at(-1) !== undefined && lastOpened(before);
        if (isCall) {
          pairing.addCall(call(id), at);
          return;
        }
        const wasCalled = before.some((each) => each.isCall);
        const expected = isOpen ? "answers" : wasCalled ? "duplicate" : "unknown";
        assert.equal(pairing.addResult(id), expected);
      });
      const ids = [...new Set(steps.map(({ id }) => id))];
      const open = ids.filter((id) => lastOpened(steps.filter((each) => each.id === id)));
      assert.deepEqual(openIds(pairing).sort(), open.sort());
    }),
  );
});

/** Whether the last of one id's steps is a call. */
function lastOpened(steps: readonly { readonly isCall: boolean }[]): boolean {
  return steps.at(-1)?.isCall ?? false;
}

test("answer returns the answered call, and addCall whether the call is new", () => {
  const pairing = new CallPairing<number>();
  assert.deepEqual([pairing.addCall(call("a"), 1), pairing.addCall(call("a"), 2)], [true, false]);
  assert.deepEqual([pairing.addCall(call(null), 3), pairing.addCall(call(null), 4)], [true, true]);
  assert.deepEqual(pairing.answer("a"), { fit: "answers", call: { callId: "a", at: 1 } });
  assert.deepEqual(pairing.answer(null), { fit: "answers", call: { callId: null, at: 3 } });
  assert.deepEqual(pairing.answer("a"), { fit: "duplicate", call: null });
  assert.deepEqual(pairing.answer("b"), { fit: "unknown", call: null });
});

test("calls of one message that share an id are several calls, answered in order (CP1)", () => {
  const pairing = new CallPairing<string>();
  const message = { entry: 1, messageId: "m1" };
  assert.ok(pairing.addCall(call("a", "t", 1), "first", message));
  assert.ok(pairing.addCall(call("a", "t", 1), "second", message));
  const grown = { entry: 2, messageId: "m1" };
  assert.ok(!pairing.addCall(call("a", "t", 1), "said again", grown));
  assert.ok(pairing.addCall(call("a", "t", 2), "third", grown));
  const answered = ["a", "a", "a", "a"].map((id) => pairing.answer(id));
  assert.deepEqual(
    answered.map(({ fit, call }) => call?.at ?? fit),
    ["first", "second", "third", "duplicate"],
  );
  assert.deepEqual(openIds(pairing), []);
});

test("a call of another message takes over the id from all earlier calls that had it", () => {
  const pairing = new CallPairing<number>();
  pairing.add(said(call("a", "t", 1), call("a", "t", 2)), 1);
  pairing.add(said(call("a", "t", 3)), 2);
  pairing.add(said(result("a")), 3);
  assert.deepEqual(
    [...pairing.open()],
    [
      { callId: "a", at: 1 },
      { callId: "a", at: 1 },
    ],
  );
});
