import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import type { Part } from "./entry.ts";
import { ANSWERED_CALLS_MAX, CallPairing, OPEN_CALLS_MAX } from "./pairing.ts";

function call(callId: string | null): Part {
  return { type: "tool_call", callId, tool: "t", input: null };
}

function result(callId: string | null): Part {
  return { type: "tool_result", callId, output: null, error: null, durationMs: null };
}

function openIds(pairing: CallPairing<unknown>): (string | null)[] {
  return [...pairing.open()].map(({ callId }) => callId);
}

test("a call is open until its result comes, wherever that stands after it", () => {
  const pairing = new CallPairing<number>();
  assert.deepEqual(pairing.add([call("a"), call("b")], 1), []);
  assert.deepEqual(pairing.add([{ type: "text", text: "" }, result("b")], 2), []);
  assert.deepEqual([...pairing.open()], [{ callId: "a", at: 1 }]);
  assert.deepEqual(pairing.add([result("a")], 3), []);
  assert.deepEqual(openIds(pairing), []);
});

test("a result that answers nothing is a second one, or one of no call", () => {
  const pairing = new CallPairing<number>();
  pairing.add([call("a"), result("a")], 1);
  assert.deepEqual(pairing.add([result("a"), result("b")], 2), [
    { callId: "a", fit: "duplicate" },
    { callId: "b", fit: "unknown" },
  ]);
});

test("a call said twice while it is open is one call; after its result it is a new one (CP1)", () => {
  const pairing = new CallPairing<number>();
  pairing.add([call("a")], 1);
  pairing.add([call("a")], 2);
  pairing.add([result("a")], 3);
  assert.deepEqual(openIds(pairing), []);
  pairing.add([call("a")], 4);
  assert.deepEqual([...pairing.open()], [{ callId: "a", at: 4 }]);
  assert.deepEqual(pairing.add([result("a")], 5), []);
});

test("calls and results without an id are paired in their order (CP2)", () => {
  const pairing = new CallPairing<number>();
  pairing.add([call(null)], 1);
  pairing.add([call(null)], 2);
  pairing.add([result(null)], 3);
  assert.deepEqual([...pairing.open()], [{ callId: null, at: 2 }]);
  pairing.add([result(null)], 4);
  assert.deepEqual(pairing.add([result(null)], 5), [{ callId: null, fit: "unknown" }]);
});

test("of calls that are open at once the oldest beyond the limit are counted, not followed (CP3)", () => {
  const pairing = new CallPairing<number>();
  for (let n = 0; n < OPEN_CALLS_MAX; n++) pairing.addCall(`c${n}`, n);
  assert.equal(pairing.forgotten, 0);
  assert.equal(pairing.addResult("stray"), "unknown");
  pairing.addCall("one more", -1);
  assert.equal(pairing.forgotten, 1);
  assert.equal(openIds(pairing).length, OPEN_CALLS_MAX);
  // The oldest may get its result yet: nobody can tell it from a stray one any longer.
  assert.equal(pairing.addResult("c0"), "untold");
  assert.equal(pairing.addResult("c1"), "answers");
});

test("calls without an id count towards the limit too", () => {
  const pairing = new CallPairing<number>();
  for (let n = 0; n <= OPEN_CALLS_MAX; n++) pairing.addCall(null, n);
  assert.equal(pairing.forgotten, 1);
  assert.equal([...pairing.open()][0]?.at, 1);
});

test("of answered calls the latest are remembered, one past the limit is not (CP3)", () => {
  const pairing = new CallPairing<null>();
  for (let n = 0; n < ANSWERED_CALLS_MAX; n++) {
    pairing.addCall(`c${n}`, null);
    pairing.addResult(`c${n}`);
  }
  assert.equal(pairing.addResult("c0"), "duplicate");
  pairing.addCall("more", null);
  pairing.addResult("more");
  assert.equal(pairing.addResult("c0"), "unknown");
  assert.equal(pairing.addResult("c1"), "duplicate");
});

test("ids longer than anybody's are told apart all the same", () => {
  const pairing = new CallPairing<null>();
  const long = "x".repeat(5000);
  pairing.addCall(`${long}1`, null);
  pairing.addCall(`${long}2`, null);
  assert.equal(pairing.addResult(`${long}2`), "answers");
  assert.equal(pairing.addResult(`${long}2`), "duplicate");
  assert.equal(openIds(pairing).length, 1);
});

test("whatever the order, open calls and misfits are those that a plain search finds", () => {
  // Method: a second opinion that remembers everything and looks through all of it.
  const step = fc.record({ isCall: fc.boolean(), id: fc.constantFrom("a", "b", "c", "__proto__") });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const pairing = new CallPairing<number>();
      steps.forEach(({ isCall, id }, at) => {
        const before = steps.slice(0, at).filter((each) => each.id === id);
        const isOpen = before.at(-1) !== undefined && lastOpened(before);
        if (isCall) {
          pairing.addCall(id, at);
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

/** Whether a call stands after the last result of one id's steps. */
function lastOpened(steps: readonly { readonly isCall: boolean }[]): boolean {
  return steps.at(-1)?.isCall ?? false;
}

test("a result is told with the call that it answers, and a call with whether it is a new one", () => {
  const pairing = new CallPairing<number>();
  assert.deepEqual([pairing.addCall("a", 1), pairing.addCall("a", 2)], [true, false]);
  assert.deepEqual([pairing.addCall(null, 3), pairing.addCall(null, 4)], [true, true]);
  assert.deepEqual(pairing.answer("a"), { fit: "answers", call: { callId: "a", at: 1 } });
  assert.deepEqual(pairing.answer(null), { fit: "answers", call: { callId: null, at: 3 } });
  assert.deepEqual(pairing.answer("a"), { fit: "duplicate", call: null });
  assert.deepEqual(pairing.answer("b"), { fit: "unknown", call: null });
});
