import assert from "node:assert/strict";
import { test } from "vitest";
import { MESSAGE_CALLS_MAX, RepeatDetector } from "./message-repeats.ts";

/** Adds calls in a line of a message and answers the new ones; returns how many were repeats. */
function sayAgain(again: RepeatDetector, callIds: readonly string[], messageId?: string): number {
  again.beginEntry(messageId === undefined ? {} : { messageId });
  let repeated = 0;
  for (const callId of callIds) {
    if (again.takeCall(callId)) repeated++;
    if (!again.takeResult(callId)) again.answered(callId);
  }
  return repeated;
}

test("only a line of the same message repeats a call, as often as it was answered there", () => {
  const again = new RepeatDetector();
  assert.equal(sayAgain(again, ["c"], "m1"), 0);
  assert.equal(sayAgain(again, ["c", "c"], "m1"), 1);
  assert.equal(sayAgain(again, ["c", "c", "c"], "m1"), 2);
  assert.equal(sayAgain(again, ["c"]), 0);
  assert.equal(sayAgain(again, ["c"], "m2"), 0);
  assert.equal(sayAgain(again, ["c"], "m1"), 0);
});

test("a result after another message has begun does not belong to that message", () => {
  const again = new RepeatDetector();
  again.beginEntry({ messageId: "m1" });
  assert.equal(again.takeCall("c"), false);
  again.beginEntry({ messageId: "m2" });
  again.answered("c");
  assert.equal(sayAgain(again, ["c"], "m2"), 0);
});

test("calls of a message are remembered up to the limit; the next one counts again", () => {
  const ids = Array.from({ length: MESSAGE_CALLS_MAX + 1 }, (_, n) => `c${n}`);
  const again = new RepeatDetector();
  sayAgain(again, ids, "m");
  assert.equal(sayAgain(again, ids, "m"), MESSAGE_CALLS_MAX);
  for (const long of ["x".repeat(256), "x".repeat(257)]) {
    const one = new RepeatDetector();
    sayAgain(one, [long], "m");
    assert.equal(sayAgain(one, [long], "m"), long.length === 256 ? 1 : 0);
  }
});
