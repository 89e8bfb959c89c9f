/** Reach: the files that a door needs by its static imports of values, and those of its imports. */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { untilLastImport } from "./imports.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Reach {
  readonly files: number;
  readonly lines: number;
}

/** `import()` and type-only imports do not count. */
export function reachOf(entry: string): Reach {
  const paths = pathsFrom(entry, ({ imports }) => imports);
  const lines = paths.reduce((sum, path) => sum + read(path).lines, 0);
  return { files: paths.length, lines };
}

/** The files that an entry point loads at once or later, by `import()`. */
export function filesBehind(entry: string): string[] {
  return pathsFrom(entry, ({ imports, calls }) => [...imports, ...calls]);
}

function pathsFrom(entry: string, next: (file: SourceFile) => readonly string[]): string[] {
  const reached = new Set<string>();
  const waiting = [join(root, entry)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...next(read(path)));
  }
  return [...reached];
}

interface SourceFile {
  readonly lines: number;
  readonly imports: readonly string[];
  /** By `import()`. */
  readonly calls: readonly string[];
}

/** Most files are reached from several doors. */
const FILES = new Map<string, SourceFile>();

function read(path: string): SourceFile {
  const before = FILES.get(path);
  if (before) return before;
  const source = readFileSync(path, "utf8");
  const calls = [...source.matchAll(/import\(\s*"(\.[^"]+)"\s*\)/g)].map(([, specifier = ""]) =>
    join(dirname(path), specifier),
  );
  const lines = source.split("\n").length - 1;
  const file = { lines, imports: importedBy(path, source), calls };
  FILES.set(path, file);
  return file;
}

/** Static imports are statements at the top of a file. */
function importedBy(path: string, source: string): string[] {
  const file = ts.createSourceFile(path, untilLastImport(source), ts.ScriptTarget.ES2023);
  return file.statements.flatMap((each) => {
    if (!ts.isImportDeclaration(each) && !ts.isExportDeclaration(each)) return [];
    const isType = ts.isImportDeclaration(each)
      ? each.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : each.isTypeOnly;
    const specifier = each.moduleSpecifier;
    if (isType || !specifier || !ts.isStringLiteral(specifier)) return [];
    return specifier.text.startsWith(".") ? [join(dirname(path), specifier.text)] : [];
  });
}
