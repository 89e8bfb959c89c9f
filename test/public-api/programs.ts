/** Programs: what the compiler reports for programs that use this package, under `strict`. */

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import { isBuilt } from "../../scripts/setup.mjs";
import { compile } from "./compile.ts";
import { declaredDoors, root } from "./doors.ts";

const hasDist = isBuilt();

/** What users have of a source: its declarations, which are also far quicker to check against. */
function typesOf(source: string): string {
  return hasDist ? source.replace(/^src\/(.*)\.ts$/, "dist/$1.d.ts") : source;
}

const OPTIONS = {
  target: "ES2023",
  lib: ["ES2023", "ES2024.String"],
  module: "NodeNext",
  types: ["node"],
  strict: true,
  allowJs: true,
  checkJs: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  paths: {
    ...Object.fromEntries(
      declaredDoors().map(({ specifier, source }) => [specifier, [join(root, typesOf(source))]]),
    ),
    // `@openai/agents` re-exports it, and is not installed here.
    "@openai/agents": [join(root, "node_modules/@openai/agents-core/dist/index.d.ts")],
  },
};

/** What the compiler reports for these programs: nothing when they are right. */
export function diagnose(programs: ReadonlyMap<string, string>): string {
  // Below node_modules, so that the programs find the packages.
  const project = mkdtempSync(join(inject("runDirectory"), "docs-"));
  for (const [path, program] of programs) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), program);
  }
  const settings = JSON.stringify({ compilerOptions: OPTIONS, files: [...programs.keys()] });
  writeFileSync(join(project, "tsconfig.json"), settings);
  return compile(project, project);
}
