/**
 * Shape: how long the functions of one source file are, where a literal is spread into a literal, and
 * the names of its types and exports.
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
  /** Of every type and class, and of all that the file exports. */
  readonly names: readonly string[];
}

/** Of a test file: only its spread literals count, and nearly none has one. */
export function readTestShape(path: string, source: string): Shape {
  const { spreadLiterals } = SPREAD.test(source)
    ? readShape(path, source, Number.POSITIVE_INFINITY)
    : { spreadLiterals: [] };
  return { longFunctions: [], spreadLiterals, names: [] };
}

/** Without this, no literal is spread. */
const SPREAD = /\.\.\.\s*(?:\/[/*]|[[{])/;

/** The functions of more than `linesMax` lines, every spread literal, and names. */
export function readShape(path: string, source: string, linesMax: number): Shape {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ES2023, true);
  const longFunctions: LongFunction[] = [];
  const spreadLiterals: number[] = [];
  const names: string[] = [];
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;

  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const lines = lineOf(node.getEnd()) - lineOf(node.getStart(file)) + 1;
      if (lines > linesMax) longFunctions.push({ name: nameOf(node), lines });
    }
    names.push(...namesOf(node));
    if (isSpreadLiteral(node)) spreadLiterals.push(lineOf(node.getStart(file)));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { longFunctions, spreadLiterals, names };
}

/** The names that a declaration gives to a type, or to the users of its file. */
function namesOf(node: ts.Node): string[] {
  const isType =
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node);
  if (isType || (ts.isFunctionDeclaration(node) && isExported(node))) {
    return node.name === undefined ? [] : [node.name.text];
  }
  if (!ts.isVariableStatement(node) || !isExported(node)) return [];
  const { declarations } = node.declarationList;
  return declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
}

function isExported(node: ts.FunctionDeclaration | ts.VariableStatement): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
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
