import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { processorMs } from "../../../test/support/processor-time.ts";
import { GLOB_CHARS_MAX, globMatches, isGlob } from "./trust-entry.ts";

test("a star matches within a segment, two stars match across segments", () => {
  const cases: readonly [glob: string, id: string, matches: boolean][] = [
    ["**", "anything/at/all", true],
    ["**", "", true],
    ["*", "one-1739012630", true],
    ["*", "test/one", false],
    ["*", "", true],
    ["test/*", "test/one", true],
    ["test/*", "test/tools/one", false],
    ["test/**", "test/tools/one", true],
    ["test/**", "test", false],
    ["test/**", "testing/one", false],
    ["**/one", "test/tools/one", true],
    ["**/one", "one", false],
    ["kitchen/2026-*", "kitchen/2026-11-15", true],
    ["kitchen/2026-*", "kitchen/2025-11-15", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["exact", "exact", true],
    ["exact", "exactly", false],
    ["exact", "Exact", false],
    ["***", "a/b", true],
    ["a?[b]{c}.+", "a?[b]{c}.+", true],
    ["a?", "ab", false],
    ["a.c", "abc", false],
    ["*é😀*", "caféé😀!", true],
  ];
  for (const [glob, id, matches] of cases) {
    assert.equal(globMatches(glob, id), matches, `${glob} on ${id}`);
  }
});

test("only ** matches a session without an id", () => {
  assert.ok(globMatches("**", null));
  for (const glob of ["*", "***", "", "a", "**/*"]) assert.ok(!globMatches(glob, null), glob);
});

test("matching agrees with the equivalent regular expression", () => {
  const glob = fc.array(fc.constantFrom("*", "**", "a", "b", "/", "."), { maxLength: 8 });
  const id = fc.array(fc.constantFrom("a", "b", "/", ".", "\n"), { maxLength: 10 });
  fc.assert(
    fc.property(glob, id, (tokens, characters) => {
      const [text, name] = [tokens.join(""), characters.join("")];
      const source = text
        .replaceAll(".", "\\.")
        .replaceAll(/\*\*+/g, "<>")
        .replaceAll("*", "[^/]*")
        .replaceAll("<>", "[\\s\\S]*");
      assert.equal(globMatches(text, name), new RegExp(`^${source}$`).test(name));
    }),
    { numRuns: 5000 },
  );
});

test("matching time is bounded for every glob and id", () => {
  // As a regular expression the first of these would practically never finish.
  const id = "a".repeat(2000);
  for (const glob of [
    `${"a*".repeat(GLOB_CHARS_MAX / 2 - 1)}b`,
    `${"**a".repeat(GLOB_CHARS_MAX / 3 - 1)}b`,
    `${"*a".repeat(GLOB_CHARS_MAX / 2 - 1)}/`,
    `${"*".repeat(GLOB_CHARS_MAX - 1)}b`,
    "a*/".repeat(GLOB_CHARS_MAX / 3),
  ]) {
    const tookMs = processorMs(() => assert.equal(globMatches(glob, id), false));
    assert.ok(tookMs < 2000, `${glob.slice(0, 10)}… took too long`);
  }
});

test("a glob has 1 to 256 characters, and no control characters", () => {
  assert.ok(isGlob("x".repeat(GLOB_CHARS_MAX)));
  assert.ok(!isGlob("x".repeat(GLOB_CHARS_MAX + 1)));
  for (const text of ["", "a\nb", "\u001b[2J", "a\u0000", "\u0085"]) {
    assert.ok(!isGlob(text), JSON.stringify(text));
  }
});
