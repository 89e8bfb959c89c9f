/**
 * Writes the types of each entry point for CommonJS (`index.d.cts` next to `index.d.ts`): with `module:
 * node16`, TypeScript refuses to require a package whose types are those of an ES module. They name the
 * same types, so values that were required and imported fit together.
 *
 *     node scripts/require-types.mjs <directory with the compiled sources>
 */

import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import ts from "typescript";
import { entryPoints } from "./entry-points.mjs";

const [, , compiled = "dist"] = process.argv;
/** All entry points are in one folder. */
const doors = join(compiled, dirname(entryPoints()[0] ?? ""));
const ENDING = ".d.ts";
const MODE = 'with { "resolution-mode": "import" }';
const MODE_OF_TYPE = '{ with: { "resolution-mode": "import" } }';

for (const name of entryPoints()) {
  const door = basename(name);
  const lines = [`export type * from "./${door}.js" ${MODE};`];
  for (const { value, typeParameters } of valuesOf(parsed(join(compiled, name + ENDING)))) {
    const imported = `import("./${door}.js", ${MODE_OF_TYPE}).${value}`;
    lines.push(`export declare const ${value}: typeof ${imported};`);
    if (typeParameters === null) continue;
    const [declared, names] = typeParameters;
    // They may name types of a framework, which is an optional peer.
    if (/\bimport\("(?!\.)/.test(declared)) lines.push("// @ts-ignore: an optional peer.");
    lines.push(`export type ${value}${declared} = ${imported}${names};`);
  }
  writeFileSync(join(compiled, `${name}.d.cts`), `${lines.join("\n")}\n`);
}

/** @param {string} path */
function parsed(path) {
  return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
}

/**
 * The values that an entry point exports, with the type parameters of those that are types, too.
 *
 * @param {ts.SourceFile} file
 */
function valuesOf(file) {
  /** @type {{ value: string, typeParameters: readonly [string, string] | null }[]} */
  const values = [];
  for (const statement of file.statements) {
    if (ts.isExportDeclaration(statement) && !statement.isTypeOnly && statement.exportClause) {
      const { exportClause, moduleSpecifier } = statement;
      if (!ts.isNamedExports(exportClause) || !moduleSpecifier) throw unknown(statement);
      const source = parsed(declarationsAt(file, moduleSpecifier));
      for (const { isTypeOnly, name, propertyName } of exportClause.elements) {
        if (isTypeOnly) continue;
        const typeParameters = typeParametersOf(source, (propertyName ?? name).text);
        values.push({ value: name.text, typeParameters });
      }
    } else if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
      const value = statement.name?.text ?? "";
      if (values.some((each) => each.value === value)) continue; // An overload.
      values.push({ value, typeParameters: typeParametersOf(file, value) });
    } else if (ts.isVariableStatement(statement)) {
      throw unknown(statement);
    }
  }
  return values;
}

/**
 * As declared and as passed on: `["<C extends Code = Code>", "<C>"]`; null if the name is no type.
 *
 * @param {ts.SourceFile} file
 * @param {string} name
 * @returns {readonly [string, string] | null}
 */
function typeParametersOf(file, name) {
  for (const statement of file.statements) {
    const isType = ts.isClassDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    if (!isType || statement.name?.text !== name) continue;
    const { typeParameters } = statement;
    if (!typeParameters) return ["", ""];
    const names = typeParameters.map((each) => each.name.text);
    const declared = typeParameters.map((each) => textIn(file, each, names));
    return [`<${declared.join(", ")}>`, `<${names.join(", ")}>`];
  }
  return null;
}

/**
 * The text of a type parameter in which each name of its file is imported.
 *
 * @param {ts.SourceFile} file
 * @param {ts.TypeParameterDeclaration} parameter
 * @param {readonly string[]} parameters
 */
function textIn(file, { name, constraint, default: other }, parameters) {
  const typed = (/** @type {ts.TypeNode} */ node) => {
    if (!ts.isTypeReferenceNode(node) || node.typeArguments) throw unknown(node);
    const type = node.typeName.getText(file);
    if (parameters.includes(type)) return type;
    return `import("${moduleOf(file, type)}", ${MODE_OF_TYPE}).${type}`;
  };
  const constrained = constraint ? ` extends ${typed(constraint)}` : "";
  return name.text + constrained + (other ? ` = ${typed(other)}` : "");
}

/**
 * The module that has a type which a file uses: another package, or the file itself.
 *
 * @param {ts.SourceFile} file
 * @param {string} type
 */
function moduleOf(file, type) {
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings)) continue;
    if (!bindings.elements.some(({ name }) => name.text === type)) continue;
    const { text } = /** @type {ts.StringLiteral} */ (statement.moduleSpecifier);
    if (text.startsWith(".")) throw unknown(statement);
    return text;
  }
  const path = relative(doors, file.fileName).slice(0, -ENDING.length);
  return `${path.startsWith(".") ? "" : "./"}${path}.js`;
}

/**
 * @param {ts.SourceFile} file
 * @param {ts.Expression} specifier
 */
function declarationsAt(file, specifier) {
  const { text } = /** @type {ts.StringLiteral} */ (specifier);
  return join(dirname(file.fileName), text.replace(/\.[jt]s$/, ENDING));
}

/** @param {ts.Node} node */
function unknown(node) {
  return new Error(`no types for CommonJS of: ${node.getText()}`);
}
