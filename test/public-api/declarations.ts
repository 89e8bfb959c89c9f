/**
 * Declarations: the published types, read from the build in `dist`.
 *
 * Members marked `@internal` and private members are not in them, so they are what users get. Types
 * of packages are not loaded: they take the compiler a minute, and are not ours.
 */

import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { isBuilt } from "../../scripts/setup.mjs";
import { declaredDoors, root } from "./doors.ts";

export interface PublishedDoor {
  readonly specifier: string;
  /** The symbol of each exported name, aliases resolved, sorted by name. */
  readonly exports: ReadonlyMap<string, ts.Symbol>;
  /** Exported only as a type: a class among them is an interface to users. */
  readonly typesOnly: ReadonlySet<ts.Symbol>;
  /** By this entry point, or by the first one, `verbatim-log`. */
  readonly isExported: (symbol: ts.Symbol) => boolean;
}

export interface Published {
  readonly checker: ts.TypeChecker;
  readonly doors: readonly PublishedDoor[];
}

const OPTIONS: ts.CompilerOptions = {
  lib: ["lib.es2023.d.ts"],
  types: [],
  module: ts.ModuleKind.NodeNext,
  noEmit: true,
};

let published: Published | null = null;

/** Compiled once: it takes seconds. */
export function publishedDoors(): Published {
  published ??= readDeclarations();
  return published;
}

function readDeclarations(): Published {
  if (!isBuilt()) throw new Error("dist is older than src; run `node scripts/setup.mjs` first");
  const paths = declaredDoors().map(({ specifier, source }) => ({
    specifier,
    path: join(root, "dist", relative("src", source).replace(/\.ts$/, ".d.ts")),
  }));
  const program = programOf(paths.map(({ path }) => path));
  const checker = program.getTypeChecker();
  const doors = paths.map(({ specifier, path }) => {
    const file = program.getSourceFile(path);
    const module = file && checker.getSymbolAtLocation(file);
    if (!module) throw new Error(`${path} exports nothing`);
    const exports = checker
      .getExportsOfModule(module)
      .map((symbol): [string, ts.Symbol] => [symbol.name, resolved(symbol, checker)])
      .sort(([one], [other]) => (one < other ? -1 : 1));
    const typesOnly = checker
      .getExportsOfModule(module)
      .filter(isTypeOnly)
      .map((symbol) => resolved(symbol, checker));
    return { specifier, exports: new Map(exports), typesOnly: new Set(typesOnly) };
  });
  const common = new Set(doors[0]?.exports.values());
  const exported = doors.map(({ exports }) => new Set([...exports.values(), ...common]));
  return {
    checker,
    doors: doors.map((door, at) => ({
      ...door,
      isExported: (symbol) => exported[at]?.has(symbol) ?? false,
    })),
  };
}

function isTypeOnly({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some(
    (each) => ts.isExportSpecifier(each) && (each.isTypeOnly || each.parent.parent.isTypeOnly),
  );
}

/** Whether a declaration is the package's, not the language's. */
export function isOurs(node: ts.Node): boolean {
  return node.getSourceFile().fileName.startsWith(join(root, "dist/"));
}

/**
 * The type behind an alias: as declared or, if that computes it from a mapping or the type of a
 * value that the entry point does not export (`Of<typeof ENTRY_PAGE>`), as computed.
 */
export function aliasedType(
  alias: ts.TypeAliasDeclaration,
  isExported: (symbol: ts.Symbol) => boolean,
  checker: ts.TypeChecker,
): ts.TypeNode {
  if (!isComputed(alias.type)) return alias.type;
  const queried = ts.isTypeReferenceNode(alias.type) ? alias.type.typeArguments?.[0] : undefined;
  if (queried && ts.isTypeQueryNode(queried) && isNamed(queried, isExported, checker)) {
    return alias.type;
  }
  const type = checker.getTypeFromTypeNode(alias.type);
  return checker.typeToTypeNode(type, alias, COMPUTED) ?? alias.type;
}

const COMPUTED = ts.NodeBuilderFlags.NoTruncation | ts.NodeBuilderFlags.InTypeAlias;

/**
 * The public members of a class or an interface, including those of a base that the entry point
 * does not export: users see them as the interface's own. `base` is then omitted.
 */
export function membersOf(
  node: ts.ClassDeclaration | ts.InterfaceDeclaration,
  isExported: (symbol: ts.Symbol) => boolean,
  checker: ts.TypeChecker,
): { bases: readonly ts.HeritageClause[]; members: readonly (ts.ClassElement | ts.TypeElement)[] } {
  const bases = node.heritageClauses ?? [];
  const members = [...node.members].filter(isPublic);
  if (ts.isClassDeclaration(node) || bases.every((base) => isNamed(base, isExported, checker))) {
    return { bases, members };
  }
  const isOfType = (property: ts.Symbol, declared: ts.TypeElement) =>
    checker.getTypeOfSymbol(property) === checker.getTypeAtLocation(declared);
  const type = checker.getTypeAtLocation(node);
  const all = checker.getPropertiesOfType(type).map((property) => {
    const declared = property.declarations?.[0];
    const isAsDeclared = declared && ts.isTypeElement(declared) && isOfType(property, declared);
    return isAsDeclared ? declared : computedMember(property, node, checker);
  });
  return { bases: [], members: all };
}

/** Whether a node mentions only names that users can import. */
function isNamed(
  base: ts.Node,
  isExported: (symbol: ts.Symbol) => boolean,
  checker: ts.TypeChecker,
): boolean {
  let isKnown = true;
  const visit = (node: ts.Node): void => {
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    const target = symbol && resolved(symbol, checker);
    if (target?.declarations?.some(isOurs) && !isExported(target)) isKnown = false;
    ts.forEachChild(node, visit);
  };
  visit(base);
  return isKnown;
}

function computedMember(
  property: ts.Symbol,
  place: ts.Node,
  checker: ts.TypeChecker,
): ts.TypeElement {
  const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
  const type = checker.getTypeOfSymbolAtLocation(property, place);
  const member = ts.factory.createPropertySignature(
    [ts.factory.createModifier(ts.SyntaxKind.ReadonlyKeyword)],
    // `Symbol.asyncIterator` has the name `__@asyncIterator@789`, with a number that changes.
    property.name.replace(/^__@(\w+)@\d+$/, "[Symbol.$1]"),
    isOptional ? ts.factory.createToken(ts.SyntaxKind.QuestionToken) : undefined,
    checker.typeToTypeNode(type, place, COMPUTED),
  );
  const { jsDoc } = (property.declarations?.[0] ?? {}) as { jsDoc?: readonly ts.JSDoc[] };
  return Object.assign(member, { jsDoc });
}

/** Users cannot call a private constructor. */
function isPublic(member: ts.ClassElement | ts.TypeElement): boolean {
  if (member.name && ts.isPrivateIdentifier(member.name)) return false;
  const flags = ts.getCombinedModifierFlags(member as ts.Declaration);
  return !(flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected));
}

function isComputed(type: ts.Node): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    found ||= ts.isTypeQueryNode(node) || ts.isMappedTypeNode(node);
    ts.forEachChild(node, visit);
  };
  visit(type);
  return found;
}

export function resolved(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function programOf(paths: readonly string[]): ts.Program {
  const host = ts.createCompilerHost(OPTIONS);
  host.getSourceFile = (path, version) =>
    ts.createSourceFile(path, readFileSync(path, "utf8"), version, true);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      if (!text.startsWith(".")) return { resolvedModule: undefined };
      const resolvedFileName = join(from, "..", text.replace(/\.(?:ts|js)$/, ".d.ts"));
      return { resolvedModule: { resolvedFileName, extension: ts.Extension.Dts } };
    });
  return ts.createProgram(paths, OPTIONS, host);
}
