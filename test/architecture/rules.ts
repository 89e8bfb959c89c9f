/**
 * Rules: what the source tree may look like, as one pure function over its files.
 *
 * Pure, so that a test can plant a violation in a copy in memory and see it reported.
 * The numbers and tables are in `table.ts`; the lock file has its own rules in `lock-file.ts`.
 *
 * A file's district is its folder under `src`; outside, the folder at the root (`viewer`, `test`). A
 * test in `src` (`*.test.ts`) may import what its district may, and `test`. What is in `test` may
 * import anything.
 */

import { builtinModules } from "node:module";
import { posix } from "node:path";
import { findImports, type Import } from "./imports.ts";
import { type LongFunction, readShape, readTestShape } from "./shape.ts";
import {
  BARE_NAMES,
  BEHIND_HISTORY,
  BROWSER_SAFE,
  BUILT_ON_HISTORY,
  COPIED_PACKAGES,
  DIALECT_FOLDERS,
  DIALECT_NAMES,
  DIALECT_WORDS,
  DISTRICTS,
  EMPTY_NAMES,
  FILE_LINES_MAX,
  FOLDER_FILES_MAX,
  FUNCTION_LINES_MAX,
  HAS_DIALECT_WORDS,
  NAMES_DIALECTS,
  NEEDS_NODE,
  PACKAGES,
  README_LINES_MAX,
  TEST_FOLDERS,
  TEST_LINES_MAX,
  TEST_PACKAGES,
  VIEWER_IMPORTS,
} from "./table.ts";

/** Paths from the root of the repository, "/" between segments, and the files' text. */
export type Tree = ReadonlyMap<string, string>;

export interface Violation {
  readonly rule: Rule;
  readonly path: string;
  readonly message: string;
}

export type Rule =
  | "order"
  | "unknown-district"
  | "unresolved-import"
  | "unreadable-import"
  | "package-place"
  | "package-undeclared"
  | "browser-safe"
  | "cycle"
  | "barrel"
  | "empty-name"
  | "twin-name"
  | "bare-name"
  | "readme"
  | "file-length"
  | "folder-files"
  | "function-length"
  | "spread-literal"
  | "dialect-name"
  | "dialect-word"
  | "past-history";

interface SourceFile {
  readonly path: string;
  readonly district: string;
  readonly isTest: boolean;
  readonly source: string;
  readonly imports: readonly Import[];
  readonly unreadable: readonly string[];
  readonly lines: number;
  readonly longFunctions: readonly LongFunction[];
  readonly spreadLiterals: readonly number[];
  readonly names: readonly string[];
  /** Text that names a dialect where no code may; or null. */
  readonly named: string | null;
  /** A word of one dialect's format where no code may know it; or null. */
  readonly word: string | null;
}

type Report = (rule: Rule, path: string, message: string) => void;

export function checkTree(tree: Tree): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (rule, path, message) => violations.push({ rule, path, message });
  const files = new Map<string, SourceFile>();
  for (const [path, source] of tree) {
    if (isSource(path)) files.set(path, readSource(path, source));
  }

  checkFolders(tree, report);
  checkSizes(files, report);
  checkTwins(files, report);
  const declared = declaredPackages(tree);
  const inLibrary = reachableFromDoors(files);
  for (const file of files.values()) {
    checkName(file, report);
    checkShape(file, report);
    checkHistory(file, report);
    // Tests load the modules that they break; all other code must be readable to this checker.
    if (file.district !== "test") {
      for (const text of file.unreadable) {
        report("unreadable-import", file.path, `imports ${text}, which is not a literal`);
      }
    }
    if (file.named) report("dialect-name", file.path, `names a dialect: ${file.named}`);
    if (file.word) report("dialect-word", file.path, `knows one dialect's format: ${file.word}`);
    for (const { specifier } of file.imports) {
      if (isStyle(file, specifier, tree)) continue;
      if (isRelative(specifier)) checkRelative(file, specifier, files, report);
      else if (!isNode(specifier)) checkPackage(file, specifier, { declared, inLibrary }, report);
    }
  }
  checkBrowserSafe(files, report);
  checkCycles(files, report);
  return violations;
}

function isSource(path: string): boolean {
  return /^(src|viewer|test)\/.*\.[cm]?[jt]sx?$/.test(path);
}

/** Parsed files: a test checks dozens of trees that differ in a file or two. */
const parsed = new Map<string, SourceFile>();

function readSource(path: string, source: string): SourceFile {
  const known = parsed.get(path);
  if (known?.source === source) return known;
  const isTest = path.startsWith("test/") || /\.test\.tsx?$/.test(path);
  const file: SourceFile = {
    path,
    district: districtOf(path),
    isTest,
    source,
    lines: lineCount(source),
    named: isTest ? null : dialectNamed(path, source),
    word: isTest ? null : dialectWord(path, source),
    ...findImports(path, source),
    // The callbacks of a test file are as long as their tests.
    ...(isTest ? readTestShape(path, source) : readShape(path, source, FUNCTION_LINES_MAX)),
  };
  parsed.set(path, file);
  return file;
}

function districtOf(path: string): string {
  const [top = "", district = ""] = path.split("/");
  return top === "src" ? district : top;
}

function checkFolders(tree: Tree, report: Report): void {
  const districts = new Set<string>();
  for (const [path, text] of tree) {
    if (!path.startsWith("src/")) continue;
    districts.add(districtOf(path));
    if (path.endsWith("/README.md") && lineCount(text) > README_LINES_MAX) {
      report("readme", path, `is longer than ${README_LINES_MAX} lines`);
    }
  }
  for (const district of districts) {
    const path = `src/${district}`;
    if (placeInOrder(district) < 0) report("unknown-district", path, "is not in the order");
    if (!tree.get(`${path}/README.md`)) report("readme", path, "has no README.md");
  }
}

function placeInOrder(district: string): number {
  return (DISTRICTS as readonly string[]).indexOf(district);
}

function checkSizes(files: ReadonlyMap<string, SourceFile>, report: Report): void {
  const inFolder = new Map<string, number>();
  for (const { path, isTest } of files.values()) {
    if (!path.startsWith("src/") || isTest) continue;
    const folder = posix.dirname(path);
    inFolder.set(folder, (inFolder.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of inFolder) {
    if (count > FOLDER_FILES_MAX) {
      report("folder-files", folder, `has ${count} files, more than ${FOLDER_FILES_MAX}`);
    }
  }
}

function checkShape(file: SourceFile, report: Report): void {
  const linesMax = file.isTest ? TEST_LINES_MAX : FILE_LINES_MAX;
  if (file.lines > linesMax) {
    report("file-length", file.path, `is longer than ${linesMax} lines`);
  }
  for (const { name, lines } of file.longFunctions) {
    const message = `${name} has ${lines} lines, more than ${FUNCTION_LINES_MAX}`;
    report("function-length", file.path, message);
  }
  for (const name of file.names) {
    if (!BARE_NAMES.includes(name.toLowerCase())) continue;
    report("bare-name", file.path, `exports or is a type "${name}": say what it holds`);
  }
  for (const line of file.spreadLiterals) {
    report("spread-literal", file.path, `spreads a literal in line ${line}: write its items`);
  }
}

/** Outside their own folders and the places of the table, no code names a dialect. */
function dialectNamed(path: string, source: string): string | null {
  if (!path.startsWith("src/")) return null;
  if (isIn(Object.keys(NAMES_DIALECTS), path)) return null;
  const folders = DIALECT_FOLDERS.join("|");
  const imported = new RegExp(`["'][./]*dialects/(?:${folders})/`).exec(source);
  // `verbatim` and `streams` are also ordinary words: they count next to the word dialect.
  const named =
    /["'](rye|entire|homeagent|claude|sdk)["']/.exec(source) ??
    new RegExp(`dialect[^\\n]{0,40}["'](${DIALECT_NAMES.join("|")})["']`, "i").exec(source);
  return (imported ?? named)?.[0] ?? null;
}

/** Comments count too: what they explain is that format. */
function dialectWord(path: string, source: string): string | null {
  if (!path.startsWith("src/")) return null;
  if (isIn([...Object.keys(NAMES_DIALECTS), ...Object.keys(HAS_DIALECT_WORDS)], path)) return null;
  return DIALECT_WORDS.find((word) => source.includes(word)) ?? null;
}

function checkName({ path }: SourceFile, report: Report): void {
  if (/^src\/(?!doors\/).+\/index\.[^/]+$/.test(path)) {
    report("barrel", path, "is a barrel: import the file that holds the thing");
  }
  for (const segment of path.split("/")) {
    const [name = ""] = segment.split(".");
    if (EMPTY_NAMES.includes(name)) {
      report("empty-name", path, `is named "${name}": name it for the thing inside`);
    }
  }
}

/** What is built on the history does not reach past it. Types count as part of its results. */
function checkHistory({ path, imports }: SourceFile, report: Report): void {
  if (!BUILT_ON_HISTORY.includes(path)) return;
  for (const { specifier, isTypeOnly } of imports) {
    if (isTypeOnly || !isRelative(specifier)) continue;
    if (!isIn(BEHIND_HISTORY, resolve(path, specifier))) continue;
    report("past-history", path, `imports ${specifier}: call src/history instead`);
  }
}

/** `scan` and `scanning`, `prove` and `proving`: the names do not say how the files differ. */
function checkTwins(files: ReadonlyMap<string, SourceFile>, report: Report): void {
  for (const { path, isTest } of files.values()) {
    const [, stem, kind] = /^(.+)ing(\.[a-z]+)$/.exec(path) ?? [];
    if (stem === undefined || isTest) continue;
    const twin = [stem, `${stem}e`, stem.slice(0, -1)].map((name) => `${name}${kind}`);
    const other = twin.find((name) => files.has(name));
    if (other) report("twin-name", path, `differs from ${other} by -ing: name it for its content`);
  }
}

function checkRelative(
  file: SourceFile,
  specifier: string,
  files: ReadonlyMap<string, SourceFile>,
  report: Report,
): void {
  if (file.district === "test") return;
  const path = resolve(file.path, specifier);
  const target = files.get(path);
  if (target === undefined) {
    // Spelled out, because TypeScript would resolve "./x.js" to "./x.ts".
    report("unresolved-import", file.path, `imports ${specifier}, which names no source file`);
  } else if (target.district !== "test" && target.isTest) {
    report("order", file.path, `imports the test ${path}`);
  } else if (!mayImport(file, target)) {
    const reason = `${file.district} may not import ${target.district}`;
    report("order", file.path, `imports ${path}: ${reason}`);
  }
}

function mayImport(file: SourceFile, target: SourceFile): boolean {
  if (file.district === target.district) return true;
  if (file.isTest && TEST_FOLDERS.includes(target.district)) return true;
  if (file.district === "viewer") return isIn(VIEWER_IMPORTS, target.path);
  const place = placeInOrder(target.district);
  return place >= 0 && place < placeInOrder(file.district);
}

function isIn(places: readonly string[], path: string): boolean {
  return places.some((place) => matches(place, path));
}

/** `place` is a file, or a folder when it ends in "/". */
function matches(place: string, path: string): boolean {
  return place.endsWith("/") ? path.startsWith(place) : path === place;
}

function checkPackage(
  file: SourceFile,
  specifier: string,
  { declared, inLibrary }: Readonly<Record<"declared" | "inLibrary", ReadonlySet<string>>>,
  report: Report,
): void {
  if (file.district === "test") return;
  const name = packageOf(specifier);
  if (file.isTest && TEST_PACKAGES.includes(name)) return;

  const place = PACKAGES[name];
  if (place === undefined) {
    report("package-place", file.path, `imports ${name}, which is not in the table of packages`);
  } else if (!matches(place, file.path)) {
    report("package-place", file.path, `imports ${name}, which belongs in ${place} alone`);
  } else if (inLibrary.has(file.path) && !declared.has(name)) {
    // A dev dependency is missing for users. The viewer and the command line are bundled with theirs.
    report("package-undeclared", file.path, `imports ${name}, which users do not get`);
  }
}

/** The sources that an entry point of the library loads, at once or later, or takes types from. */
function reachableFromDoors(files: ReadonlyMap<string, SourceFile>): ReadonlySet<string> {
  const waiting = [...files.values()].filter(
    ({ district, isTest }) => district === "doors" && !isTest,
  );
  const reached = new Set<string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file.path)) continue;
    reached.add(file.path);
    for (const { specifier } of file.imports) {
      const target = isRelative(specifier) ? files.get(resolve(file.path, specifier)) : undefined;
      if (target !== undefined) waiting.push(target);
    }
  }
  return reached;
}

function declaredPackages(tree: Tree): ReadonlySet<string> {
  const manifest = JSON.parse(tree.get("package.json") ?? "{}");
  return new Set([
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.optionalDependencies ?? {}),
    ...Object.keys(manifest.peerDependencies ?? {}),
    ...COPIED_PACKAGES,
  ]);
}

function checkBrowserSafe(files: ReadonlyMap<string, SourceFile>, report: Report): void {
  for (const file of files.values()) {
    if (file.isTest || !isIn(BROWSER_SAFE, file.path)) continue;
    if (NEEDS_NODE.some((pattern) => pattern.test(file.path))) continue;
    const chain = findNodeImport(file, files, new Set());
    if (chain) report("browser-safe", file.path, `needs Node: ${chain.join(" -> ")}`);
  }
}

/** The import path from a file to a Node module that is loaded with it, if there is one. */
function findNodeImport(
  file: SourceFile,
  files: ReadonlyMap<string, SourceFile>,
  seen: Set<string>,
): string[] | undefined {
  seen.add(file.path);
  for (const { specifier, isTypeOnly } of file.imports) {
    if (isTypeOnly) continue;
    if (isNode(specifier)) return [file.path, specifier];
    const target = isRelative(specifier) ? files.get(resolve(file.path, specifier)) : undefined;
    if (target === undefined || seen.has(target.path)) continue;
    const chain = findNodeImport(target, files, seen);
    if (chain) return [file.path, ...chain];
  }
  return undefined;
}

/** Type-only imports count: files that need each other's types are one thing in two places. */
function checkCycles(files: ReadonlyMap<string, SourceFile>, report: Report): void {
  const finished = new Set<string>();
  const trail: string[] = [];

  const visit = (file: SourceFile): void => {
    if (finished.has(file.path)) return;
    const start = trail.indexOf(file.path);
    if (start >= 0) {
      const cycle = [...trail.slice(start), file.path];
      report("cycle", file.path, `imports itself: ${cycle.join(" -> ")}`);
      return;
    }
    trail.push(file.path);
    for (const { specifier } of file.imports) {
      const target = isRelative(specifier) ? files.get(resolve(file.path, specifier)) : undefined;
      if (target) visit(target);
    }
    trail.pop();
    finished.add(file.path);
  };
  for (const file of files.values()) visit(file);
}

const resolved = new Map<string, string>();

function resolve(from: string, specifier: string): string {
  const key = `${from} ${specifier}`;
  const known = resolved.get(key);
  if (known !== undefined) return known;
  const path = posix.join(posix.dirname(from), specifier);
  resolved.set(key, path);
  return path;
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith(".") || specifier.startsWith("/");
}

/** A style sheet of the viewer, which Vite bundles. */
function isStyle(file: SourceFile, specifier: string, tree: Tree): boolean {
  return (
    file.district === "viewer" &&
    specifier.endsWith(".css") &&
    tree.has(resolve(file.path, specifier))
  );
}

function isNode(specifier: string): boolean {
  return specifier.startsWith("node:") || builtinModules.includes(specifier);
}

function packageOf(specifier: string): string {
  const segments = specifier.split("/");
  return segments.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

function lineCount(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
