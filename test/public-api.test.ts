/**
 * The public API changes on purpose: `docs/reference.md` lists all of it, and is generated from the
 * published types. After an intended change, `npm run api:update` rewrites the page; the change is then
 * visible in review.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type ts from "typescript";
import { expect, test } from "vitest";
import { filesBehind } from "./architecture/reach.ts";
import { publishedDoors } from "./public-api/declarations.ts";
import { declaredDoors, doorSources, root } from "./public-api/doors.ts";
import { leaksOf } from "./public-api/leaks.ts";
import { listedNames, referencePage, referencePath } from "./public-api/reference.ts";

test("every file directly in src is an entry point, and every entry point has its file there", () => {
  const declared = declaredDoors().map(({ source }) => source);

  expect(declared.sort()).toEqual(doorSources().sort());
});

test("docs/reference.md is the published API, as generated from its types", () => {
  const page = referencePage(publishedDoors());
  if (process.env.UPDATE_PUBLIC_API) writeFileSync(referencePath, page);
  expect(page).toBe(readFileSync(referencePath, "utf8"));
});

test("every entry point exports at run time the values that docs/reference.md lists", async () => {
  const page = readFileSync(referencePath, "utf8");
  for (const { specifier, source } of declaredDoors()) {
    const values = Object.keys(await import(join(root, source))).sort();
    expect([specifier, listedNames(page, specifier).values]).toEqual([specifier, values]);
  }
});

test("every type that an entry point's types mention is exported by it or by verbatim-log", () => {
  expect(leaksOf(publishedDoors())).toEqual([]);
});

/** The design documents name a class of theirs the same in two of them. */
const IN_TWO_DOCUMENTS = ["TranscriptWriter", "TranscriptWriterOptions"];

test("a name means one thing in all entry points", () => {
  const meanings = new Map<string, Set<ts.Symbol>>();
  for (const { exports } of publishedDoors().doors) {
    for (const [name, symbol] of exports) {
      meanings.set(name, (meanings.get(name) ?? new Set()).add(symbol));
    }
  }
  const several = [...meanings].filter(([, { size }]) => size > 1).map(([name]) => name);
  expect(several.sort()).toEqual([...IN_TWO_DOCUMENTS, "VerbatimError"]);
});

/** Defines the class; each of its callers is counted itself. */
const ERRORS = join(root, "src/core/base/errors.ts");

test("every error that the code behind an entry point throws is among its codes", () => {
  const { checker, doors } = publishedDoors();
  const missing = declaredDoors().flatMap(({ specifier, source }) => {
    const door = doors.find((each) => each.specifier === specifier);
    const error = door?.exports.get("VerbatimError");
    const codes = error ? codesOf(checker.getDeclaredTypeOfSymbol(error), checker) : [];
    const thrown = new Set(filesBehind(source).flatMap(codesThrown));
    return [...thrown]
      .filter((code) => !codes.includes(`${code}`))
      .map((code) => [specifier, code]);
  });
  expect(missing).toEqual([]);
});

/** Of a union of errors, one for each code. */
function codesOf(errors: ts.Type, checker: ts.TypeChecker): string[] {
  const code = errors.getProperty("code");
  const type = code && checker.getTypeOfSymbol(code);
  const literals = type?.isUnion() ? type.types : [type];
  return literals.map((literal) => (literal?.isStringLiteral() ? literal.value : ""));
}

function codesThrown(path: string): (string | undefined)[] {
  if (path === ERRORS) return [];
  const source = readFileSync(path, "utf8");
  return [...source.matchAll(/new VerbatimError\(\s*"([A-Z_]+)"/g)].map(([, code]) => code);
}

test("no published type names an internal member", () => {
  const page = readFileSync(referencePath, "utf8").replaceAll(/^ *\/\/.*|"[^"\n]*"/gm, "");
  const internal =
    /\b(?:Host|Companion|appendComposed|composed|seal|addCheckpoints|winThreadId|winSecond|release)\b/g;
  expect(page.match(internal)).toBeNull();
});
