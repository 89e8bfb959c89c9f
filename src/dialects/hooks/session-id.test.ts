import assert from "node:assert/strict";
import { join, normalize } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { runs } from "../../../test/support/seed.ts";
import {
  ID_CHARS_MAX,
  ID_SEGMENTS_MAX,
  idAt,
  logPath,
  parseSessionKey,
  type SessionKey,
  sessionIdOf,
} from "./session-id.ts";

const name = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", ".", "..", "%", "~", "a~", "%2E", "x".repeat(199), "x".repeat(200)),
  fc.string({ minLength: 195, maxLength: 420 }),
);
const key: fc.Arbitrary<SessionKey> = fc.record(
  {
    projectKey: name,
    sessionId: name,
    subpath: fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
  },
  { requiredKeys: ["projectKey", "sessionId"], noNullPrototype: true },
);

/** The id, or null for a key without one. */
function idOf(each: SessionKey): string | null {
  try {
    return sessionIdOf(each);
  } catch (error) {
    assert.equal((error as { code?: string }).code, "BAD_ID");
    return null;
  }
}

test("every key has its own path below the root", () => {
  fc.assert(
    fc.property(key, key, (one, other) => {
      const id = idOf(one);
      if (id === null) return;
      assert.deepEqual(parseSessionKey(id), one);
      const below = join("/project", ...logPath(id));
      assert.equal(normalize(below), below);
      assert.ok(below.startsWith("/project/.verbatim/claude/"));
      assert.ok(logPath(id).every((segment) => Buffer.byteLength(segment) <= 200));
      assert.equal(idAt(logPath(id)), id);
      const isSame = JSON.stringify(parseSessionKey(idOf(other) ?? "")) === JSON.stringify(one);
      assert.equal(idOf(other) === id, isSame);
    }),
    { numRuns: runs(500) },
  );
});

test("an id that is not in canonical form has no key", () => {
  const odd = [
    "a",
    "a/",
    "/a/b",
    "a/b/",
    "a/%41",
    "a/%2e",
    "a/b~",
    "a/%C3",
    "a/.",
    "a/..",
    "a/b c",
  ];
  for (const id of [...odd, "a/é", "%/x~/y", `a/${"x".repeat(201)}`, "a/b/%"]) {
    assert.equal(parseSessionKey(id), null, id);
    thrownRefusal(() => logPath(id), "BAD_ID");
    assert.equal(idAt([".verbatim", "claude", ...id.split("/"), "transcript.jsonl"]), null, id);
  }
  assert.equal(idAt([".verbatim", "claude", "a", "b", "other.jsonl"]), null);
  assert.equal(idAt([".verbatim", "other", "a", "b", "transcript.jsonl"]), null);
});

test("an id may be as deep and as long as the limits, and not one more", () => {
  const deep = (depth: number) => ({
    projectKey: "p",
    sessionId: "s",
    subpath: "x/".repeat(depth),
  });
  assert.equal(sessionIdOf(deep(ID_SEGMENTS_MAX - 3)).split("/").length, ID_SEGMENTS_MAX);
  thrownRefusal(() => sessionIdOf(deep(ID_SEGMENTS_MAX - 2)), "BAD_ID");
  const pieces = ID_CHARS_MAX / 201; // 199 of the name, `~` and `/`.
  const long = ID_CHARS_MAX - 2 - 2 * Math.floor(pieces);
  assert.equal(sessionIdOf({ projectKey: "p", sessionId: "x".repeat(long) }).length, ID_CHARS_MAX);
  thrownRefusal(() => sessionIdOf({ projectKey: "p", sessionId: "x".repeat(long + 1) }), "BAD_ID");
});
