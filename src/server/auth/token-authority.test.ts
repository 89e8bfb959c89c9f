import assert from "node:assert/strict";
import { test } from "vitest";
import { Glob } from "../../streams/subscriptions/glob.ts";
import { coversGlob, hasScope, widerField } from "./token-authority.ts";
import { LIMIT_NAMES, SCOPES, type TokenEntry } from "./tokens.ts";

const MAKER: TokenEntry = {
  id: "0123abcd",
  name: "",
  sha256: "0".repeat(64),
  scopes: ["read", "tokens"],
  paths: ["team/**", "logs/*"],
  project: "app",
  limits: { requestsPerSecond: 10, bytesPerSecond: 10, streams: 10, storedBytes: 10, readers: 10 },
  createdAt: "2026-01-01T00:00:00.000Z",
  expiresAt: "2026-02-01T00:00:00.000Z",
};

test("a glob that covers another matches every path that the other matches", () => {
  // Method: all globs of up to three segments, and all paths that they could tell apart.
  const of = (words: readonly string[], length: number): string[][] => {
    if (length === 0) return [[]];
    return of(words, length - 1).flatMap((start) => words.map((word) => [...start, word]));
  };
  const globs = [1, 2, 3].flatMap((length) => of(["a", "b", "*", "**"], length));
  const paths = [1, 2, 3, 4].flatMap((length) => of(["a", "b", "c"], length));
  let covered = 0;
  for (const outer of globs.map((each) => each.join("/"))) {
    const glob = new Glob(outer);
    for (const inner of globs.map((each) => each.join("/"))) {
      if (!coversGlob(outer, inner)) continue;
      covered++;
      const other = new Glob(inner);
      const wrong = paths.find((path) => other.matches(path) && !glob.matches(path));
      assert.equal(wrong, undefined, `${outer} covers ${inner}`);
    }
  }
  assert.ok(covered > globs.length);
});

test("a glob covers itself and what is below it, and not what is next to it", () => {
  const cases: readonly [string, string, boolean][] = [
    ["**", "a/*/b", true],
    ["a/**", "a/**", true],
    ["a/**", "a/b/*", true],
    ["a/**", "a", true],
    ["a/*", "a/b", true],
    ["a/*", "a/**", false],
    ["a/*", "a/b/c", false],
    ["a/b", "a/*", false],
    ["a/**", "ab/c", false],
    ["a/**", "**", false],
    ["sessions/*/@desk/**", "sessions/x/@desk/ada/**", true],
    ["sessions/*/@desk/**", "sessions/**", false],
    ["a/%2A", "a/%2a", true],
    ["a/%2A", "a/*", false],
  ];
  for (const [outer, inner, isCovered] of cases) {
    assert.equal(coversGlob(outer, inner), isCovered, `${outer} and ${inner}`);
  }
});

test("a token is within itself, and wider in each field that allows more", () => {
  assert.equal(widerField(MAKER, MAKER), null);
  const { project: _, ...ofAnyProject } = MAKER;
  const { expiresAt: __, ...forEver } = MAKER;
  const { limits: ___, ...unlimited } = MAKER;
  const cases: readonly [Partial<TokenEntry> | TokenEntry, string][] = [
    [{ ...MAKER, scopes: ["append"] }, "scopes"],
    [{ ...MAKER, scopes: ["read", "admin"] }, "scopes"],
    [{ ...MAKER, paths: ["team/**", "other/**"] }, "paths"],
    [{ ...MAKER, paths: ["**"] }, "paths"],
    [{ ...MAKER, project: "other" }, "project"],
    [ofAnyProject, "project"],
    [{ ...MAKER, expiresAt: "2026-02-01T00:00:00.001Z" }, "expiresAt"],
    [forEver, "expiresAt"],
    [unlimited, "limits"],
  ];
  for (const [entry, field] of cases) assert.equal(widerField(entry as TokenEntry, MAKER), field);
  for (const name of LIMIT_NAMES) {
    const raised = { ...MAKER, limits: { ...MAKER.limits, [name]: 11 } };
    assert.equal(widerField(raised, MAKER), "limits", name);
    const { [name]: ____, ...without } = MAKER.limits ?? {};
    assert.equal(widerField({ ...MAKER, limits: without }, MAKER), "limits", name);
  }
});

test("admin includes every scope but the one that manages tokens, and reading includes sums", () => {
  for (const scope of SCOPES) {
    assert.equal(hasScope(["admin"], scope), scope !== "tokens", scope);
    assert.equal(hasScope(["read"], scope), scope === "read" || scope === "usage", scope);
    assert.equal(hasScope(["tokens"], scope), scope === "tokens", scope);
  }
});
