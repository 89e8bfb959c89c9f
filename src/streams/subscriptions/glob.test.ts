import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SUBSCRIPTION_LIMITS } from "../../core/base/limits.ts";
import { Glob, globFault, globPrefix, segmentsOf } from "./glob.ts";

test("a star matches one segment, two stars match any number of segments, including none", () => {
  const cases: [string, string, boolean][] = [
    ["events/*", "/events/a", true],
    ["events/*", "/events", false],
    ["events/*", "/events/a/b", false],
    ["events/**", "/events", true],
    ["events/**", "/events/a/b/c", true],
    ["**", "/a", true],
    ["**/log", "/log", true],
    ["**/log", "/a/b/log", true],
    ["**/log", "/a/b/blog", false],
    ["a/**/z", "/a/z", true],
    ["a/**/z", "/a/b/z/c/z", true],
    ["a/**/z", "/a/b/z/c", false],
    ["a/*/**", "/a", false],
    ["a/*/**", "/a/b", true],
    ["*", "/a", true],
    ["*", "/a/b", false],
    ["Events/*", "/events/a", false],
    ["a%2Ab", "/a*b", true],
    ["a%2ab", "/acb", false],
    ["a.c", "/abc", false],
  ];
  for (const [pattern, path, isMatch] of cases) {
    expect(new Glob(pattern).matches(segmentsOf(path)), `${pattern} ${path}`).toBe(isMatch);
  }
});

test("matching agrees with trying every way to expand the stars", () => {
  // Method: three names and the two stars, so that most pairs nearly match.
  const name = fc.constantFrom("a", "b");
  const pattern = fc.array(fc.oneof(name, fc.constantFrom("*", "**")), {
    minLength: 1,
    maxLength: 7,
  });
  const path = fc.array(name, { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(pattern, path, (glob, given) => {
      assert.equal(new Glob(glob.join("/")).matches(given), matchesSomehow(glob, given));
    }),
    { numRuns: 3000 },
  );
});

test("a pattern designed to be slow is matched quickly", () => {
  // Trying every way to match it would take longer than any test may.
  const pattern = Array.from({ length: 200 }, () => "**/a").join("/");
  const path = `${"/a".repeat(1000)}/b`;
  expect(new Glob(pattern).matches(segmentsOf(path))).toBe(false);
});

test("an invalid pattern is refused with the reason", () => {
  const { patternCharsMax } = SUBSCRIPTION_LIMITS;
  expect(globFault("a/*/**/b%2A")).toBeNull();
  expect(globFault("a".repeat(patternCharsMax))).toBeNull();
  expect(globFault("a".repeat(patternCharsMax + 1))).toBe("it is too long");
  expect(globFault("")).toBe("it is empty");
  expect(globFault("a//b")).toBe("it has an empty segment");
  expect(globFault("a/")).toBe("it has an empty segment");
  expect(globFault("\ud800")).toBe("it is not well-formed Unicode");
  for (const pattern of ["a*", "*a/b", "***", "a/b**"]) {
    expect(globFault(pattern)).toContain("a star must be a whole segment");
  }
});

function matchesSomehow(glob: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = glob;
  if (first === undefined) return path.length === 0;
  if (first === "**") {
    return path.some((_, at) => matchesSomehow(rest, path.slice(at))) || matchesSomehow(rest, []);
  }
  const [segment, ...after] = path;
  if (segment === undefined) return false;
  return (first === "*" || first === segment) && matchesSomehow(rest, after);
}

test("what a pattern begins with begins every path that it matches, and is as long as it can be", () => {
  const prefixes = {
    "chat/1": "/chat/1",
    "chat/*": "/chat/",
    "chat/**": "/chat",
    "chat/*/log": "/chat/",
    "a%2A/b/*": "/a*/b/",
    "**": "/",
    "*": "/",
  };
  for (const [pattern, prefix] of Object.entries(prefixes)) {
    assert.equal(globPrefix(pattern), prefix, pattern);
  }
});
