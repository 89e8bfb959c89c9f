/**
 * Rules: what the source tree may look like, as one pure function over its files.
 *
 * Pure, so that a test can plant a violation in a copy in memory and see it reported.
 * The numbers and tables are in `table.ts`; the lock file has its own rules in `lock-file.ts`.
 *
 * A file's part is its folder under `src`, or `doors` for a file directly in `src`, or the folder at
 * the root (`viewer`, `test`). `dialects` has several parts. A test in `src` (`*.test.ts`) may import what its folder may, and
 * `torture` and `test`. What is in `test` may import anything.
 */

import { builtinModules } from "node:module";
import { posix } from "node:path";
import { findImports, type Import } from "./imports.ts";
import {
  ASSEMBLY,
  BROWSER_SAFE,
  DIALECT_FOLDERS,
  DIALECT_PARTS,
  EMPTY_NAMES,
  FILE_LINES_MAX,
  FOLDER_FILES_MAX,
  IMPORT_TABLE,
  NAMES_DIALECTS,
  PACKAGES,
  README_LINES_MAX,
  TEST_FOLDERS,
  TEST_PACKAGES,
} from "./table.ts";

/** Paths from the root of the repository, "/" between segments, and the files' text. */
export type Tree = ReadonlyMap<string, string>;

export interface Violation {
  readonly rule: Rule;
  readonly path: string;
  readonly message: string;
}

export type Rule =
  | "import-table"
  | "unknown-folder"
  | "unresolved-import"
  | "unreadable-import"
  | "package-place"
  | "package-undeclared"
  | "browser-safe"
  | "cycle"
  | "barrel"
  | "empty-name"
  | "readme"
  | "file-length"
  | "folder-files"
  | "dialect-name";

interface SourceFile {
  readonly path: string;
  readonly part: string;
  readonly isTest: boolean;
  readonly source: string;
  readonly imports: readonly Import[];
  readonly unreadable: readonly string[];
  readonly lines: number;
  /** Text that names a dialect where no code may; or null. */
  readonly named: string | null;
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
  const declared = declaredPackages(tree);
  const inLibrary = reachableFromDoors(files);
  for (const file of files.values()) {
    checkName(file, report);
    if (file.lines > FILE_LINES_MAX) {
      report("file-length", file.path, `is longer than ${FILE_LINES_MAX} lines`);
    }
    // Tests load the modules that they break; all other code must be readable to this checker.
    if (file.part !== "test") {
      for (const text of file.unreadable) {
        report("unreadable-import", file.path, `imports ${text}, which is not a literal`);
      }
    }
    if (file.named) report("dialect-name", file.path, `names a dialect: ${file.named}`);
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
  const named = isTest ? null : dialectNamed(path, source);
  const own = { path, part: partOf(path), isTest, source, lines: lineCount(source), named };
  const file = { ...own, ...findImports(path, source) };
  parsed.set(path, file);
  return file;
}

function partOf(path: string): string {
  const [top = "", folder = "", ...rest] = path.split("/");
  if (top !== "src") return top;
  if (rest.length === 0) return "doors";
  return folder === "dialects" ? partOfDialects(rest) : folder;
}

/** `files/` reads and writes, `door/` is for users, `dialect.ts` puts a dialect together; the rest is pure. */
function partOfDialects(path: readonly string[]): string {
  const inside = path.slice(0, -1).find((each) => each === "files" || each === "door");
  if (inside) return `dialects/${inside}`;
  // A test may use the dialect as a whole.
  if (/\.test\.ts$/.test(path.at(-1) ?? "")) return "dialects";
  const [first = "", second] = path;
  if (second === undefined) return DIALECT_PARTS[first] ?? "dialects/lines";
  return second === "dialect.ts" ? "dialects" : "dialects/lines";
}

function checkFolders(tree: Tree, report: Report): void {
  const folders = new Set<string>();
  for (const path of tree.keys()) {
    if (path.startsWith("src/") && partOf(path) !== "doors") folders.add(path.split("/")[1] ?? "");
  }
  for (const folder of folders) {
    const path = `src/${folder}`;
    if (folder === "viewer" || !(folder in IMPORT_TABLE || folder === "cli")) {
      report("unknown-folder", path, "is not in the import table");
    }
    const readme = tree.get(`${path}/README.md`);
    if (!readme) {
      report("readme", path, "has no README.md");
    } else if (lineCount(readme) > README_LINES_MAX) {
      report("readme", `${path}/README.md`, `is longer than ${README_LINES_MAX} lines`);
    }
  }
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

/** Outside their own folders, `all.ts` and the places of the table, no code names a dialect. */
function dialectNamed(path: string, source: string): string | null {
  if (!path.startsWith("src/")) return null;
  if (Object.keys(NAMES_DIALECTS).some((place) => matches(place, path))) return null;
  const names = DIALECT_FOLDERS.join("|");
  const imported = new RegExp(`["'][./]*dialects/(${names})/`).exec(source);
  // `verbatim` and `streams` are also ordinary words: they count next to the word dialect.
  const named =
    /["'](rye|entire|homeagent|claude|sdk)["']/.exec(source) ??
    new RegExp(`dialect[^\\n]{0,40}["'](${names})["']`, "i").exec(source);
  return (imported ?? named)?.[0] ?? null;
}

function checkName({ path }: SourceFile, report: Report): void {
  if (/^src\/.+\/index\.[^/]+$/.test(path)) {
    report("barrel", path, "is a barrel: import the file that holds the thing");
  }
  for (const segment of path.split("/")) {
    const [name = ""] = segment.split(".");
    if (EMPTY_NAMES.includes(name)) {
      report("empty-name", path, `is named "${name}": name it for the thing inside`);
    }
  }
}

function checkRelative(
  file: SourceFile,
  specifier: string,
  files: ReadonlyMap<string, SourceFile>,
  report: Report,
): void {
  if (file.part === "test") return;
  const path = resolve(file.path, specifier);
  const target = files.get(path);
  if (target === undefined) {
    // Spelled out, because TypeScript would resolve "./x.js" to "./x.ts".
    report("unresolved-import", file.path, `imports ${specifier}, which names no source file`);
  } else if (target.part !== "test" && target.isTest) {
    report("import-table", file.path, `imports the test ${path}`);
  } else if (!mayImport(file, target.part)) {
    report(
      "import-table",
      file.path,
      `imports ${path}: ${file.part} may not import ${target.part}`,
    );
  }
}

function mayImport(file: SourceFile, part: string): boolean {
  if (file.part === part) return true;
  if (file.isTest && TEST_FOLDERS.includes(part)) return true;
  if (isAssembly(file.part)) return part in IMPORT_TABLE && part !== "viewer";
  return IMPORT_TABLE[file.part]?.includes(part) ?? false;
}

function isAssembly(part: string): boolean {
  return ASSEMBLY.some((assembly) => assembly === part);
}

/** `place` is a file, or a folder when it ends in "/", or the files directly in one: "/*". */
function matches(place: string, path: string): boolean {
  if (place.endsWith("/*")) return posix.dirname(path) === place.slice(0, -2);
  return place.endsWith("/") ? path.startsWith(place) : path === place;
}

function checkPackage(
  file: SourceFile,
  specifier: string,
  { declared, inLibrary }: Readonly<Record<"declared" | "inLibrary", ReadonlySet<string>>>,
  report: Report,
): void {
  if (file.part === "test") return;
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
  const waiting = [...files.values()].filter(({ part, isTest }) => part === "doors" && !isTest);
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
  ]);
}

function checkBrowserSafe(files: ReadonlyMap<string, SourceFile>, report: Report): void {
  for (const file of files.values()) {
    if (!BROWSER_SAFE.includes(file.part) || file.isTest) continue;
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
    file.part === "viewer" && specifier.endsWith(".css") && tree.has(resolve(file.path, specifier))
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
