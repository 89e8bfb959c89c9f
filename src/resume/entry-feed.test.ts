import assert from "node:assert/strict";
import { test } from "vitest";
import { thrownRefusal } from "../../test/support/refusal.ts";
import { RESUME_LIMITS } from "../core/base/limits.ts";
import { emptyEntry } from "../core/model/entry.ts";
import { dialectNamed } from "../dialects/all.ts";
import { OwnLogFilter } from "./entry-feed.ts";

/** A line of this many bytes. */
function lineOf(bytes: number, line: number, isSidechain: boolean) {
  const native = { type: "user", isSidechain, message: { content: "Look." } };
  const entry = { ...emptyEntry(native), kind: "message" as const, role: "user" as const };
  return { ...entry, start: 0, end: bytes, line, verified: false };
}

test("entries held until the log's owner is known count against the limit", () => {
  const passed: number[] = [];
  const log = (id: string | null) =>
    new OwnLogFilter(dialectNamed("entire").reading, id, ({ line }) => passed.push(line));
  const most = lineOf(RESUME_LIMITS.charsMax, 1, true);
  const unknown = log(null);
  unknown.add(most);
  const { details } = thrownRefusal(() => unknown.add(lineOf(1, 2, true)), "RESUME_TOO_LARGE");
  assert.equal(details.line, 2);
  assert.deepEqual(passed, []);

  // Nothing is held once the owner is known.
  const settled = log(null);
  settled.add(lineOf(1, 3, false));
  settled.add(most);
  settled.add(lineOf(1, 4, true));
  assert.deepEqual(passed, [3, 1, 4]);
});
