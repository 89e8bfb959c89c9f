import assert from "node:assert/strict";
import { test } from "vitest";
import { CALLS_HELD_MAX, CallPlaces } from "./call-results.ts";

const VIEW = { kind: "other", verb: "a", subject: null, path: null, lines: null } as const;

test("the last calls are held up to a limit, and of an id the latest", () => {
  const calls = new CallPlaces();
  for (let at = 0; at < CALLS_HELD_MAX; at++) calls.add(`${at}`, { view: VIEW, href: `${at}` });
  assert.equal(calls.get("0")?.href, "0");
  calls.add("0", { view: VIEW, href: "again" });
  calls.add("new", { view: VIEW, href: "new" });
  assert.equal(calls.get("0")?.href, "again");
  assert.equal(calls.get("1"), null);
  assert.equal(calls.get("2")?.href, "2");
  assert.deepEqual([calls.get(null), calls.get("__proto__")], [null, null]);
});
