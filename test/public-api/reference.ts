/**
 * Reference: the page `docs/reference.md`, generated from the published types.
 *
 * One section per door, one heading per exported name: `### openLog (function)`. Headings are also
 * the list of public names (`listedNames`). A name that an earlier door has is only referred to.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { aliasedType, membersOf, type Published } from "./declarations.ts";
import { declaredDoors, type Names, root } from "./doors.ts";

export const referencePath = join(root, "docs", "reference.md");

const LINE_CHARS_MAX = 110;
const ONE_LINE_CHARS_MAX = 70;
const INTRODUCTION = `# API reference

Every name that the package exports, by import path. This page is generated from the published types by
\`npm run api:update\`, and a test fails when it is out of date. An option that is not listed here is refused with
\`BAD_SETTING\`. The other pages explain the concepts: start with [architecture.md](architecture.md).
`;

/** What a name is, and whether it exists for TypeScript, at run time, or for both. */
const KINDS = {
  function: ["value"],
  class: ["type", "value"],
  constant: ["value"],
  interface: ["type"],
  type: ["type"],
  "constant and type": ["type", "value"],
} as const;
type Kind = keyof typeof KINDS;

export function referencePage({ doors, checker }: Published): string {
  const paths = new Map<ts.Symbol, string>();
  let page = INTRODUCTION;
  for (const { specifier, exports, typesOnly, isExported } of doors) {
    page += `\n## ${specifier}\n\n${wrapped(aboutDoor(specifier))}\n`;
    for (const [name, symbol] of valuesFirst(exports, typesOnly)) {
      const declarations = symbol.declarations ?? [];
      const kind = kindOf(symbol, typesOnly);
      page += `\n### ${name} (${kind})\n\n`;
      const isAlias = name !== symbol.name && exports.get(symbol.name) === symbol;
      const earlier = isAlias ? `same as \`${symbol.name}\`` : paths.get(symbol);
      if (earlier !== undefined) {
        page += `The ${earlier}.\n`;
        continue;
      }
      const [link, here] = [specifier.replace(/[^\w-]/g, ""), `\`${name}\``];
      paths.set(symbol, `same as ${here} of [${specifier}](#${link})`);
      page += describe(name, declarations, { checker, isExported, kind });
    }
  }
  return page;
}

function valuesFirst(
  exports: ReadonlyMap<string, ts.Symbol>,
  typesOnly: ReadonlySet<ts.Symbol>,
): [string, ts.Symbol][] {
  const isValue = ([, symbol]: [string, ts.Symbol]) =>
    (KINDS[kindOf(symbol, typesOnly)] as readonly string[]).includes("value");
  return [...exports].sort((one, other) => Number(isValue(other)) - Number(isValue(one)));
}

/** The names that the page lists for a door. */
export function listedNames(page: string, specifier: string): Names {
  const types: string[] = [];
  const values: string[] = [];
  let door: string | undefined;
  for (const [, level, title = "", kind] of page.matchAll(/^(##|###) (\S+)(?: \(([\w ]+)\))?$/gm)) {
    if (level === "##") door = title;
    else if (door === specifier) {
      const sides: readonly string[] = KINDS[kind as Kind];
      if (sides.includes("type")) types.push(title);
      if (sides.includes("value")) values.push(title);
    }
  }
  return { types, values };
}

function kindOf(symbol: ts.Symbol, typesOnly: ReadonlySet<ts.Symbol>): Kind {
  const is = (test: (node: ts.Node) => boolean) => symbol.declarations?.some(test) ?? false;
  if (is(ts.isClassDeclaration)) return typesOnly.has(symbol) ? "interface" : "class";
  if (is(ts.isFunctionDeclaration)) return "function";
  if (is(ts.isInterfaceDeclaration)) return "interface";
  if (!is(ts.isVariableDeclaration)) return "type";
  return is(ts.isTypeAliasDeclaration) ? "constant and type" : "constant";
}

/** The first paragraph of the door's header, without its name. */
function aboutDoor(specifier: string): string {
  const source = declaredDoors().find((door) => door.specifier === specifier)?.source ?? "";
  const text = readFileSync(join(root, source), "utf8");
  const header = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? "";
  const [paragraph = ""] = plain(header).split("\n\n");
  const about = oneLine(paragraph.replace(/^`[^`]*`: /, ""));
  return about.charAt(0).toUpperCase() + about.slice(1);
}

interface Scope {
  readonly checker: ts.TypeChecker;
  readonly isExported: (symbol: ts.Symbol) => boolean;
  readonly kind: Kind;
}

function describe(name: string, declarations: readonly ts.Declaration[], scope: Scope): string {
  const signatures = declarations.map((declaration) => signature(name, declaration, scope));
  const code = `\`\`\`typescript\n${signatures.join("\n")}\n\`\`\`\n`;
  const about = oneLine(declarations.map(docOf).find((doc) => doc !== "") ?? "");
  return about === "" ? code : `${wrapped(about)}\n\n${code}`;
}

function signature(name: string, node: ts.Declaration, scope: Scope): string {
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) {
    return members(name, node, scope);
  }
  if (ts.isVariableDeclaration(node)) return `const ${name}${typeText(node.type)};`;
  if (ts.isTypeAliasDeclaration(node)) {
    const type = aliasedType(node, scope.isExported, scope.checker);
    const text = textOf(type, node);
    return broken(`type ${name}${generics(node)} = ${text};`);
  }
  return ownText(node)
    .replace(/^export /, "")
    .replace(/^declare /, "");
}

function members(
  name: string,
  node: ts.ClassDeclaration | ts.InterfaceDeclaration,
  { checker, isExported, kind }: Scope,
): string {
  const head = `${kind} ${name}${generics(node)}`;
  const { bases, members } = membersOf(node, isExported, checker);
  const heritage = bases.map((clause) => ` ${ownText(clause)}`).join("");
  const lines = members.map((member) => {
    const doc = comment(oneLine(docOf(member)));
    return `${doc}${indented(textOf(member, node))}`;
  });
  if (lines.length === 0) return `${head}${heritage} {}`;
  return `${head}${heritage} {\n${lines.join("\n")}\n}`;
}

function generics({ typeParameters = ts.factory.createNodeArray() }: Generic): string {
  return typeParameters.length === 0 ? "" : `<${typeParameters.map(ownText).join(", ")}>`;
}

interface Generic {
  readonly typeParameters?: ts.NodeArray<ts.TypeParameterDeclaration> | undefined;
}

/** A computed node has no text in a file. */
function textOf(node: ts.Node, place: ts.Node): string {
  if (node.pos >= 0) return ownText(node);
  const printer = ts.createPrinter({ removeComments: true });
  const text = printer
    .printNode(ts.EmitHint.Unspecified, node, place.getSourceFile())
    .replaceAll(/import\("[^"]*"\)\./g, "")
    // Options that only another dialect has.
    .replaceAll(/\s*readonly (?!dialect)\w+\?: undefined;/g, "")
    .replaceAll(/ & (?:object|\{\s*\})/g, "");
  return collapsed(unindented(text));
}

/** Breaks a long union at its members, as many on a line as fit. */
function broken(text: string): string {
  const isLong = text.split("\n").some((line) => line.length > LINE_CHARS_MAX);
  if (!isLong || !text.includes(" | ")) return text;
  const members = text.split(" | ").map((member, at) => (at === 0 ? member : `| ${member}`));
  const lines: string[] = [];
  for (const member of members) {
    const last = lines.at(-1);
    const isShort = /^(?:\| )?(?:"\w+"|\w+);?$/.test(member);
    if (last?.startsWith("  |") && isShort && last.length + member.length < LINE_CHARS_MAX) {
      lines[lines.length - 1] = `${last} ${member}`;
    } else lines.push(last === undefined ? member : `  ${member}`);
  }
  return lines.join("\n");
}

function typeText(type: ts.TypeNode | undefined): string {
  return type ? `: ${ownText(type)}` : "";
}

/** The node's text without comments before it; comments inside stay. */
function ownText(node: ts.Node): string {
  const text = collapsed(unindented(node.getText()));
  const { parameters = [] } = node as Partial<ts.SignatureDeclarationBase>;
  if (text.length <= LINE_CHARS_MAX || parameters.length < 2 || text.includes("\n")) return text;
  const list = parameters.map(ownText);
  return text.replace(list.join(", "), `\n${list.map((each) => `  ${each},`).join("\n")}\n`);
}

/** Puts a short object type on one line. */
function collapsed(text: string): string {
  return text.replace(/\{\n([^{}]*?)\n *\}/g, (block, inner: string) => {
    const line = `{ ${oneLine(inner).replace(/;$/, "")} }`;
    return line.length > ONE_LINE_CHARS_MAX || /\/[/*]/.test(inner) ? block : line;
  });
}

/** The first paragraphs of a doc comment, up to its tags. */
function docOf(node: ts.Node): string {
  const holder = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const docs = (holder as { jsDoc?: readonly ts.JSDoc[] }).jsDoc ?? [];
  return ts.getTextOfJSDocComment(docs.at(-1)?.comment) ?? "";
}

function comment(text: string): string {
  if (text === "") return "";
  return wrap(text, LINE_CHARS_MAX - 5)
    .map((line) => `  // ${line}\n`)
    .join("");
}

function plain(header: string): string {
  return header.replace(/^ *\* ?/gm, "").trim();
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
const wrapped = (text: string) => wrap(text, LINE_CHARS_MAX).join("\n");
const indented = (text: string) => `  ${text.replaceAll("\n", "\n  ")}`;

/** The compiler indents by four spaces, below a member by eight. */
function unindented(text: string): string {
  const lines = text.split("\n");
  const rest = lines.slice(1).filter((line) => line.trim() !== "");
  const indent = Math.min(...rest.map((line) => line.length - line.trimStart().length));
  const shorter = (line: string) =>
    line.slice(indent).replace(/^(?: {4})+/, (spaces) => " ".repeat(spaces.length / 2));
  return [lines[0], ...lines.slice(1).map(shorter)].join("\n");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
