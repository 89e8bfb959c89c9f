/**
 * The public API grows on purpose: the names each door exports are those in `test/public-api.txt`.
 *
 * After a wanted change, `npm run api:update` rewrites the list; the change then shows in review.
 * Values are what the module has when it is loaded, types what TypeScript finds in its source.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import {
  declaredDoors,
  doorSources,
  formatList,
  listPath,
  type Names,
  root,
} from "./public-api/doors.ts";

test("every file directly in src is a door, and every door has its file there", () => {
  const declared = declaredDoors().map(({ source }) => source);

  expect(declared.sort()).toEqual(doorSources().sort());
});

test("the doors export the names in test/public-api.txt and no others", async () => {
  const doors = declaredDoors();
  const types = exportedTypes(doors.map(({ source }) => join(root, source)));
  const found = new Map<string, Names>();
  for (const { specifier, source } of doors) {
    const values = Object.keys(await import(join(root, source))).sort();
    found.set(specifier, { types: types.get(join(root, source)) ?? [], values });
  }

  const actual = formatList(found);
  if (process.env.UPDATE_PUBLIC_API) writeFileSync(listPath, actual);
  expect(actual).toBe(readFileSync(listPath, "utf8"));
});

function exportedTypes(paths: readonly string[]): Map<string, string[]> {
  const config = ts.getParsedCommandLineOfConfigFile(join(root, "tsconfig.build.json"), undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
    },
  });
  const program = ts.createProgram(paths, config?.options ?? {});
  const checker = program.getTypeChecker();

  const types = new Map<string, string[]>();
  for (const path of paths) {
    const file = program.getSourceFile(path);
    const module = file && checker.getSymbolAtLocation(file);
    if (!module) throw new Error(`${path} exports nothing`);
    const symbols = checker.getExportsOfModule(module).filter((symbol) => {
      const isAlias = symbol.flags & ts.SymbolFlags.Alias;
      const { flags } = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
      return flags & ts.SymbolFlags.Type;
    });
    types.set(path, symbols.map(({ name }) => name).sort());
  }
  return types;
}
