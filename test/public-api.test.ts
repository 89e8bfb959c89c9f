/**
 * The public API changes on purpose: `docs/reference.md` lists all of it, and is generated from the
 * published types. After an intended change, `npm run api:update` rewrites the page; the change is then
 * visible in review.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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

test("no published type names an internal member", () => {
  const page = readFileSync(referencePath, "utf8").replaceAll(/^ *\/\/.*|"[^"\n]*"/gm, "");
  const internal =
    /\b(?:Host|Companion|appendComposed|composed|seal|addCheckpoints|winThreadId|winSecond|release)\b/g;
  expect(page.match(internal)).toBeNull();
});
