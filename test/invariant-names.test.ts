/**
 * Invariant names (`W1` and the like at the start of a line of a header comment) exist so that another
 * file can cite them. A name that no other file cites becomes a plain sentence, and each name is unique.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const DEFINED = /^ \* ([A-Z]{1,3}\d{1,2}) {2}\S/gm;

const texts = new Map<string, string>();
for (const top of ["src", "viewer/src", "test", "docs"]) {
  for (const name of readdirSync(join(root, top), { recursive: true, encoding: "utf8" })) {
    if (!/\.(tsx?|mjs|md)$/.test(name) || name.includes("golden/corpus")) continue;
    texts.set(`${top}/${name}`, readFileSync(join(root, top, name), "utf8"));
  }
}

const definitions = [...texts].flatMap(([path, text]) =>
  [...text.matchAll(DEFINED)].map(([, name = ""]) => ({ path, name })),
);

test("each invariant name is defined once", () => {
  const twice = definitions.filter(({ name }, at) =>
    definitions.some((other, otherAt) => otherAt < at && other.name === name),
  );
  expect(definitions.length).toBeGreaterThan(50);
  expect(twice).toEqual([]);
});

test("each invariant name is cited by another file", () => {
  const isCited = ({ path, name }: { path: string; name: string }) =>
    [...texts].some(([other, text]) => other !== path && new RegExp(`\\b${name}\\b`).test(text));
  expect(definitions.filter((each) => !isCited(each))).toEqual([]);
});
