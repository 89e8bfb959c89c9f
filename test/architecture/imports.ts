/**
 * Imports: the imports of one source file, as the TypeScript parser sees them.
 *
 * Reads syntax only. `rules.ts` resolves the specifiers.
 */

import ts from "typescript";

export interface Import {
  readonly specifier: string;
  /**
   * Gone after compiling. `import { type A } from "x"` is not: under `verbatimModuleSyntax` its
   * braces go empty and the module is still loaded.
   */
  readonly isTypeOnly: boolean;
}

export interface Imports {
  readonly imports: readonly Import[];
  /** `import()` of something other than a string literal: its target is unknown. */
  readonly unreadable: readonly string[];
}

/** A file without these words has imports only in its top-level statements. */
const DEEPER = /\b(?:import|require)\s*\(|^[ \t]*(?:export |declare )*(?:module|namespace)\b/m;
const SPECIFIER = /(?:\bfrom|^[ \t]*import)\s*(["'])[^"'\n]*\1/gm;

/** The source up to its last import: parsing the rest of each file would take most of the time. */
export function untilLastImport(source: string): string {
  const last = [...source.matchAll(SPECIFIER)].at(-1);
  return source.slice(0, last ? last.index + last[0].length : 0);
}

export function findImports(path: string, source: string): Imports {
  const isDeep = DEEPER.test(source);
  const parsed = isDeep ? source : untilLastImport(source);
  const file = ts.createSourceFile(path, parsed, ts.ScriptTarget.ES2023);
  const imports: Import[] = [];
  const unreadable: string[] = [];

  const add = (specifier: ts.Node, isTypeOnly: boolean) => {
    if (ts.isStringLiteralLike(specifier)) imports.push({ specifier: specifier.text, isTypeOnly });
    else unreadable.push(specifier.getText(file));
  };

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true);
    } else if (ts.isExternalModuleReference(node)) {
      add(node.expression, false);
    } else if (ts.isCallExpression(node) && isLoad(node.expression) && node.arguments[0]) {
      add(node.arguments[0], false);
    }
    if (isDeep) ts.forEachChild(node, visit);
  };
  ts.forEachChild(file, visit);
  return { imports, unreadable };
}

/** `import(…)`, and `require(…)`, which ES modules get from `createRequire`. */
function isLoad(callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true;
  return ts.isIdentifier(callee) && callee.text === "require";
}
