/**
 * Leaks: our own names in an entry point's published types that it does not export.
 *
 * A user of such a value cannot name its type, and depends on what may change without notice.
 * Reachable is what an exported declaration mentions, in its public members, parameters and results;
 * the names it mentions are exports themselves, so each is examined once.
 */

import { relative } from "node:path";
import ts from "typescript";
import {
  aliasedType,
  isOurs,
  membersOf,
  type Published,
  type PublishedDoor,
  resolved,
} from "./declarations.ts";
import { root } from "./doors.ts";

/** `verbatim-log/log: LogWriter mentions Host (base/host)`, for each leak. */
export function leaksOf({ checker, doors }: Published): string[] {
  return doors.flatMap((door) => leaksOfDoor(door, checker));
}

function leaksOfDoor(door: PublishedDoor, checker: ts.TypeChecker): string[] {
  const leaks = new Set<string>();
  for (const [name, symbol] of door.exports) {
    for (const declaration of symbol.declarations ?? []) {
      for (const mentioned of mentionedIn(declaration, door, checker)) {
        if (door.isExported(mentioned)) continue;
        const file = mentioned.declarations?.[0]?.getSourceFile().fileName ?? "";
        const where = relative(`${root}/dist`, file).replace(/\.d\.ts$/, "");
        leaks.add(`${door.specifier}: ${name} mentions ${mentioned.name} (${where})`);
      }
    }
  }
  return [...leaks].sort();
}

/** The types of ours that a declaration names, without those that it declares itself. */
function mentionedIn(
  declaration: ts.Declaration,
  { isExported }: PublishedDoor,
  checker: ts.TypeChecker,
): Set<ts.Symbol> {
  const found = new Set<ts.Symbol>();
  const visit = (node: ts.Node): void => {
    const symbol = namedBy(node, checker);
    if (symbol && !isWithin(symbol, declaration)) found.add(symbol);
    ts.forEachChild(node, visit);
  };
  if (ts.isTypeAliasDeclaration(declaration)) {
    declaration.typeParameters?.forEach(visit);
    visit(aliasedType(declaration, isExported, checker));
  } else if (ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration)) {
    const { bases, members } = membersOf(declaration, isExported, checker);
    for (const node of [...bases, ...members, ...(declaration.typeParameters ?? [])]) visit(node);
  } else visit(declaration);
  return found;
}

function namedBy(node: ts.Node, checker: ts.TypeChecker): ts.Symbol | undefined {
  const name = nameIn(node);
  if (!name) return undefined;
  // A computed type has no source; the compiler keeps the symbol in its names.
  const isComputed = name.pos < 0;
  const symbol = isComputed
    ? (name as { symbol?: ts.Symbol }).symbol
    : checker.getSymbolAtLocation(name);
  const target = symbol && resolved(symbol, checker);
  // A name of a package that is not loaded has no declaration.
  return target?.declarations?.some(isOurs) ? target : undefined;
}

function nameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return rightmost(node.typeName);
  if (ts.isExpressionWithTypeArguments(node)) return node.expression;
  if (ts.isTypeQueryNode(node)) return rightmost(node.exprName);
  return ts.isImportTypeNode(node) && node.qualifier ? rightmost(node.qualifier) : undefined;
}

function rightmost(name: ts.EntityName): ts.Identifier {
  return ts.isIdentifier(name) ? name : name.right;
}

/** Type parameters and the declaration itself. */
function isWithin(symbol: ts.Symbol, declaration: ts.Declaration): boolean {
  return (symbol.declarations ?? []).some((each) => {
    for (let node: ts.Node | undefined = each; node; node = node.parent) {
      if (node === declaration) return true;
    }
    return false;
  });
}
