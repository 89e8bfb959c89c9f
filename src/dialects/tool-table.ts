/**
 * Tool table: what an agent's tools do, and which fields of their inputs say what a call is about.
 *
 * Each agent names its tools and their inputs differently. Its dialect has a table of them (`tools`),
 * and from that and a call this makes the same few facts for all. Bounded, and safe to call with
 * any input: what is not known is of kind `other`.
 */

import type { Part } from "../core/model/entry.ts";
import type { ToolView } from "../core/model/tool-view.ts";

type ToolKind = ToolView["kind"];

/** Names of fields of an input; the first that is there counts. */
type Fields = readonly string[];

export interface ToolRule {
  readonly kind: ToolKind;
  /** A field whose value decides the kind, for tools that do several things. */
  readonly by?: { readonly field: string; readonly kinds: Readonly<Record<string, ToolKind>> };
  /** Default: the kind's. */
  readonly verb?: string;
  readonly subject?: Fields;
  readonly path?: Fields;
  /** Fields with the first line, and with the last one or how many. */
  readonly from?: string;
  readonly to?: string;
  readonly count?: string;
  /** It prints a file as it is: no numbers, nothing before it, nothing left out without saying so. */
  readonly isPlain?: true;
  /** A command that prints lines of one file reads it. This field has its directory. */
  readonly readsIn?: string;
}

/** A tool's name, and its kind or more about it. */
export type ToolTable = Readonly<Record<string, ToolKind | ToolRule>>;

export const SUBJECT_CHARS_MAX = 240;
const PATH_CHARS_MAX = 4096;

const VERBS: Readonly<Record<ToolKind, string>> = {
  command: "$",
  read: "Read",
  write: "Write",
  edit: "Edit",
  search: "Search",
  list: "List",
  plan: "Plan",
  agent: "Agent",
  fetch: "Fetch",
  web_search: "Web search",
  mcp: "",
  other: "",
};

const PATHS: Fields = [
  "file_path",
  "path",
  "filePath",
  "absolute_path",
  "target_file",
  "dir_path",
  "notebook_path",
  "target_directory",
  "filename",
];
const SUBJECTS: Readonly<Record<ToolKind, Fields>> = {
  command: ["command", "cmd", "script", "code"],
  read: [],
  write: [],
  edit: [],
  search: ["pattern", "query", "regex"],
  list: ["pattern", "glob"],
  plan: ["explanation"],
  agent: ["description", "title", "task", "prompt", "message"],
  fetch: ["url", "urls"],
  web_search: ["query", "queries"],
  mcp: [],
  other: [],
};

const ASKS: ToolRule = { kind: "other", verb: "Asks", subject: ["questions", "question"] };

/** Tools as several agents name them: for dialects that record any agent. */
export const WELL_KNOWN_TOOLS: ToolTable = {
  bash: "command",
  shell: "command",
  sh: "command",
  exec: "command",
  run: "command",
  Bash: "command",
  read: "read",
  read_file: "read",
  Read: "read",
  write: "write",
  write_file: "write",
  Write: "write",
  edit: "edit",
  edit_file: "edit",
  Edit: "edit",
  apply_patch: "edit",
  grep: { kind: "search", verb: "Grep" },
  search: "search",
  Grep: { kind: "search", verb: "Grep" },
  Glob: { kind: "search", verb: "Glob" },
  glob: { kind: "search", verb: "Glob" },
  ls: "list",
  list_dir: "list",
  list_directory: "list",
  todo_write: "plan",
  update_plan: "plan",
  TodoWrite: "plan",
  task: "agent",
  Task: "agent",
  Agent: "agent",
  web_fetch: "fetch",
  fetch: "fetch",
  WebFetch: "fetch",
  web_search: "web_search",
  WebSearch: "web_search",
  AskUserQuestion: ASKS,
  ask_user: ASKS,
  ask_user_question: ASKS,
  question: ASKS,
  request_user_input: ASKS,
};

/** `table` is the dialect's; a tool that is not in it is known by its well-known name. */
export function toolView(table: ToolTable | undefined, tool: string, input: unknown): ToolView {
  const given = fieldsOf(input);
  const rule = ruleIn(table ?? {}, tool, given) ?? ruleIn(WELL_KNOWN_TOOLS, tool, given);
  if (rule === null) return unknownView(tool, input);
  const text = typeof input === "string" ? input : null;
  const view = {
    kind: rule.kind,
    verb: rule.verb ?? (VERBS[rule.kind] || tool),
    subject: oneLine(textIn(given, rule.subject ?? SUBJECTS[rule.kind]) ?? spoken(rule, text)),
    path: pathIn(given, rule.path ?? PATHS),
    lines: linesIn(given, rule),
  };
  const read = rule.readsIn === undefined ? null : readView(view, given[rule.readsIn]);
  return patchView(view, given, text) ?? read ?? view;
}

/** Whether a tool that reads prints the file as it is. */
export function readsPlainly(table: ToolTable | undefined, tool: string): boolean {
  const rule = ruleIn(table ?? {}, tool, {});
  return rule?.isPlain === true || rule?.readsIn !== undefined;
}

/** The views of an entry's calls, in order. */
export function toolViews(table: ToolTable | undefined, parts: readonly Part[]): ToolView[] {
  const calls = parts.filter((part) => part.type === "tool_call");
  return calls.map(({ tool, input }) => toolView(table, tool, input));
}

function ruleIn(table: ToolTable, tool: string, given: InputFields): ToolRule | null {
  const found = Object.hasOwn(table, tool) ? table[tool] : undefined;
  if (found === undefined) return null;
  const rule: ToolRule = typeof found === "string" ? { kind: found } : found;
  const { field, kinds } = rule.by ?? { field: "", kinds: {} };
  const said = given[field];
  if (typeof said !== "string" || !Object.hasOwn(kinds, said)) return rule;
  return { ...rule, kind: kinds[said] ?? rule.kind };
}

/** A text as the whole input: the command itself, or the query. */
function spoken({ kind }: ToolRule, text: string | null): string | null {
  return kind === "edit" || kind === "write" ? null : text;
}

/** `mcp__server__tool`, and as others write it, `server__tool`. */
const MCP = /^(?:mcp__)?([\w.-]{1,80}?)__([\w.-]{1,120})$/;

/** Fields that say what a call is about, where nothing else is known of the tool. */
const TELLING: Fields = [
  "query",
  "question",
  "command",
  "url",
  "title",
  "path",
  "file_path",
  "prompt",
  "text",
  "message",
  "name",
];

function unknownView(tool: string, input: unknown): ToolView {
  const [, server, name] = MCP.exec(tool) ?? [];
  const given = fieldsOf(input);
  const values = [...TELLING.map((field) => given[field]), ...Object.values(given)];
  const first = typeof input === "string" ? input : values.find(isShort);
  return {
    kind: server === undefined ? "other" : "mcp",
    verb: server === undefined ? tool : `${server} ${name}`,
    subject: oneLine(first === undefined ? null : String(first)),
    path: null,
    lines: null,
  };
}

function isShort(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && value.trim() !== "");
}

const PATCH = "*** Begin Patch";
const PATCHED = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/gm;
/** How far to look for the files of a patch. */
const PATCH_LOOKED_AT = 256 * 1024;

/** A patch is an edit, also where a command applies it. Its first file is its path. */
function patchView(view: ToolView, given: InputFields, text: string | null): ToolView | null {
  if (view.kind !== "command" && view.kind !== "edit") return null;
  const command = given.command;
  const texts = [text, given.patch, given.input, ...(Array.isArray(command) ? command : [command])];
  const patch = texts.find((each) => typeof each === "string" && each.includes(PATCH));
  if (typeof patch !== "string") return null;
  const files = [...patch.slice(0, PATCH_LOOKED_AT).matchAll(PATCHED)].map(([, file]) => file);
  const [path] = files;
  if (path === undefined) return null;
  const more = new Set(files).size - 1;
  const subject = more === 0 ? null : `and ${more} more file${more === 1 ? "" : "s"}`;
  return { kind: "edit", verb: VERBS.edit, subject, path: cut(path, PATH_CHARS_MAX), lines: null };
}

const FILE = String.raw`((?:[\w@%+=:,./~\[\]()-]|\\ )+|"[^"$\`\\]+"|'[^']+')`;
const READS = [
  new RegExp(`^cat ${FILE}$`),
  new RegExp(String.raw`^sed -n ['"]?(\d{1,7})(?:,(\d{1,7}))?p['"]? ${FILE}$`),
  new RegExp(String.raw`^nl -ba ${FILE}(?: \| sed -n ['"]?(\d{1,7}),(\d{1,7})p['"]?)?$`),
];

/** A command that prints lines of one file, as agents without a tool for that read files. */
function readView(view: ToolView, directory: unknown): ToolView | null {
  const [cat, sed, nl] = READS.map((each) => each.exec(view.subject ?? ""));
  const [file, from, to] = cat?.slice(1) ?? nl?.slice(1) ?? [sed?.[3], sed?.[1], sed?.[2]];
  if (file === undefined || file.startsWith("-")) return null;
  const name = file.replace(/^(["'])(.*)\1$/, "$2").replaceAll("\\ ", " ");
  const isBelow = typeof directory === "string" && !/^[/~]/.test(name);
  const path = isBelow ? `${directory.replace(/\/+$/, "")}/${name.replace(/^\.\//, "")}` : name;
  const lines = from === undefined ? null : ([Number(from), Number(to ?? from)] as const);
  return { kind: "read", verb: VERBS.read, subject: null, path: cut(path, PATH_CHARS_MAX), lines };
}

type InputFields = Readonly<Record<string, unknown>>;

function fieldsOf(input: unknown): InputFields {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return {};
  return input as InputFields;
}

function fieldIn(given: InputFields, names: Fields): unknown {
  const name = names.find((each) => Object.hasOwn(given, each) && given[each] !== null);
  return name === undefined ? undefined : given[name];
}

function textIn(given: InputFields, names: Fields): string | null {
  const value = fieldIn(given, names);
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return null;
  const words = value.map(wordOf).filter((word) => typeof word === "string");
  if (words.length === 0) return null;
  // ["bash", "-lc", "npm test"] runs `npm test`.
  const isShell = words.length === 3 && /^-\w*c$/.test(words[1] ?? "");
  return isShell ? (words[2] ?? null) : words.join(" ");
}

/** A word of a command, or the question among several that an agent asks at once. */
function wordOf(value: unknown): unknown {
  return typeof value === "string" ? value : fieldsOf(value).question;
}

function pathIn(given: InputFields, names: Fields): string | null {
  const value = fieldIn(given, names);
  return typeof value === "string" && value !== "" ? cut(value, PATH_CHARS_MAX) : null;
}

function linesIn(given: InputFields, rule: ToolRule): ToolView["lines"] {
  if (rule.kind !== "read") return null;
  const range = given.view_range;
  if (Array.isArray(range)) return linesIn({ from: range[0], to: range[1] }, WHOLE_RANGE);
  const { from = "offset", to, count = "limit" } = rule;
  const number = (name: string | undefined) => {
    const value = name === undefined ? null : given[name];
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
  };
  const [first, last, length] = [number(from), number(to), number(count)];
  if (first === null && last === null && length === null) return null;
  const start = Math.max(1, first ?? 1);
  return [start, last ?? (length === null ? null : start + length - 1)];
}

const WHOLE_RANGE: ToolRule = { kind: "read", from: "from", to: "to" };

/** The first line that is not blank, without the blanks around it. */
function oneLine(text: string | null): string | null {
  if (text === null) return null;
  const start = text.slice(0, 4 * SUBJECT_CHARS_MAX).trimStart();
  const line = start.split(/[\r\n]/, 1)[0]?.trimEnd() ?? "";
  if (line === "") return null;
  const isCut = line.length < start.trimEnd().length;
  return isCut && line.length <= SUBJECT_CHARS_MAX ? `${line} …` : cut(line, SUBJECT_CHARS_MAX);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
