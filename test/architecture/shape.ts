/**
 * Shape: how long the functions of one source file are, and where a literal is spread into a literal.
 *
 * Reads syntax only, of the whole file. `rules.ts` has the limits.
 */

import ts from "typescript";

export interface LongFunction {
  readonly name: string;
  /** From its first word to its last brace. */
  readonly lines: number;
}

export interface Shape {
  readonly longFunctions: readonly LongFunction[];
  /** Source lines, from 1, of `...[a, b]` and `...{ a, b }` inside a literal or a call. */
  readonly spreadLiterals: readonly number[];
}

/** Without this, no literal is spread. */
const SPREAD = /\.\.\.\s*(?:\/[/*]|[[{])/;

/** The functions of more than `linesMax` lines, and every spread literal. */
export function readShape(path: string, source: string, linesMax: number): Shape {
  // Most files need not be parsed.
  const mayBeLong = source.split("\n").length > linesMax;
  if (!mayBeLong && !SPREAD.test(source)) return { longFunctions: [], spreadLiterals: [] };
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ES2023, true);
  const longFunctions: LongFunction[] = [];
  const spreadLiterals: number[] = [];
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;

  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const lines = lineOf(node.getEnd()) - lineOf(node.getStart(file)) + 1;
      if (lines > linesMax) longFunctions.push({ name: nameOf(node), lines });
    }
    if (isSpreadLiteral(node)) spreadLiterals.push(lineOf(node.getStart(file)));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { longFunctions, spreadLiterals };
}

function isSpreadLiteral(node: ts.Node): boolean {
  const isSpread =
    ts.isSpreadElement(node) || ts.isSpreadAssignment(node) || ts.isJsxSpreadAttribute(node);
  if (!isSpread) return false;
  const { expression } = node;
  return ts.isArrayLiteralExpression(expression) || ts.isObjectLiteralExpression(expression);
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  const named = node.name ? node : node.parent;
  const name = "name" in named ? (named.name as ts.Node | undefined) : undefined;
  return name?.getText() ?? "a function without a name";
}
