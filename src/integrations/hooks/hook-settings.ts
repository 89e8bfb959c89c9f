/**
 * Hook settings: adds and removes the entries by which Claude Code and Codex run `verbatim record`
 * as a hook.
 *
 * - Only our own entries change: every other byte of the file stays the same.
 * - Install removes our entries and adds new ones, unless they are already right. So it is
 *   idempotent, and new options replace the old ones.
 * - A file that is not JSON, or whose `hooks` is not an object of lists, is refused and not
 *   changed.
 *
 * The file is replaced atomically. If the path is a link (settings kept under version control), its
 * target is replaced and the link stays.
 *
 * JSON spans: positions of the values in a JSON text, so that one can be added or removed without
 * changing any other byte. The text must be valid JSON.
 */

import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { errnoOf, ioError } from "../../core/base/errors.ts";
import type { HookSource } from "../../dialects/hooks/hook-spool.ts";
import { isObject } from "../../dialects/shared/fields.ts";

/** Why a settings file is refused. */
export class SettingsFault extends Error {
  override readonly name = "SettingsFault";
}

const TOOLS = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionDenied"];
/** Longer than the hook's own time limit, so the hook ends before the agent kills it. */
const TIMEOUT_S = 15;
/** Codex waits at most this long for `SessionEnd`. */
const CODEX_END_TIMEOUT_S = 3;

/**
 * The hooks to install. Not WorktreeCreate, which expects an answer; not MessageDisplay, which runs
 * for every few lines shown; not PostToolBatch, which repeats PostToolUse.
 */
export const HOOK_EVENTS: Readonly<Record<HookSource, readonly string[]>> = {
  "claude-code-hooks": [
    "SessionStart",
    "UserPromptSubmit",
    ...TOOLS,
    "Notification",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
  ],
  "codex-hooks": [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
  ],
};

/** The settings with our hooks; `given` is null if there is no file yet. */
export function withHooks(given: string | null, from: HookSource, command: string): string {
  if (given !== null && isInstalled(given, from, command)) return given;
  const text = withoutHooks(given ?? "{}\n", from);
  const groups = HOOK_EVENTS[from].map(
    (event) => [event, [groupOf(from, event, command)]] as const,
  );
  const root = rootOf(text);
  const unit = unitOf(text);
  const hooks = memberOf(text, root, "hooks");
  if (hooks === null) {
    const json = indented(Object.fromEntries(groups), unit, unit);
    return applyEdits(text, [withItem(text, root, `"hooks": ${json}`, unit)]);
  }
  return groups.reduce((so, [event, [group]]) => {
    const at = memberOf(so, rootOf(so), "hooks") ?? hooks;
    const list = memberOf(so, at, event);
    const inList = unit.repeat(3);
    if (list) return applyEdits(so, [withItem(so, list, indented(group, unit, inList), inList)]);
    const json = indented([group], unit, unit.repeat(2));
    return applyEdits(so, [withItem(so, at, `${JSON.stringify(event)}: ${json}`, unit.repeat(2))]);
  }, text);
}

/** Whether exactly our hooks are installed, with these options. */
function isInstalled(text: string, from: HookSource, command: string): boolean {
  const hooks = checkedHooks(text);
  const wanted = HOOK_EVENTS[from].map((event) => JSON.stringify(groupOf(from, event, command)));
  const ours = Object.values(hooks)
    .flat()
    .map((group) => JSON.stringify(group))
    .filter((group) => group.includes(` record --from ${from}`));
  const events = HOOK_EVENTS[from].filter((event, n) =>
    hooks[event]?.some((group) => JSON.stringify(group) === wanted[n]),
  );
  return events.length === wanted.length && ours.length === wanted.length;
}

/** The settings without our hooks, with whatever options they were installed. */
export function withoutHooks(text: string, from: HookSource): string {
  checkedHooks(text);
  const root = rootOf(text);
  const { items } = itemsAt(text, root.start);
  const hooks = items.find(({ key }) => key === "hooks");
  if (hooks === undefined) return text;
  const events = itemsAt(text, hooks.value.start).items;
  const edits: Edit[] = [];
  const emptied = new Set<Item>();
  for (const event of events) {
    const within = removals(text, event, from);
    if (within === "all") emptied.add(event);
    else edits.push(...within);
  }
  const isAll = emptied.size > 0 && emptied.size === events.length;
  if (isAll)
    return applyEdits(
      text,
      withoutItems(root, items, (item) => item === hooks),
    );
  if (emptied.size > 0) edits.push(...withoutItems(hooks.value, events, (e) => emptied.has(e)));
  return applyEdits(text, edits);
}

/** The edits that remove our hooks from an event's list; `all` if nothing else would be left. */
function removals(text: string, event: Item, from: HookSource): Edit[] | "all" {
  const groups = itemsAt(text, event.value.start).items;
  const edits: Edit[] = [];
  const emptied = new Set<Item>();
  for (const group of groups) {
    const handlers = memberOf(text, group.value, "hooks");
    if (handlers === null || text[handlers.start] !== "[") continue;
    const { items } = itemsAt(text, handlers.start);
    const ours = items.filter(({ value }) => isOurs(text.slice(value.start, value.end), from));
    if (ours.length === 0) continue;
    if (ours.length === items.length) emptied.add(group);
    else edits.push(...withoutItems(handlers, items, (item) => ours.includes(item)));
  }
  if (emptied.size === 0) return edits;
  if (emptied.size === groups.length) return "all";
  return [...edits, ...withoutItems(event.value, groups, (group) => emptied.has(group))];
}

function isOurs(handler: string, from: HookSource): boolean {
  const value: unknown = JSON.parse(handler);
  const command = isObject(value) ? value.command : undefined;
  return typeof command === "string" && command.includes(` record --from ${from}`);
}

function groupOf(from: HookSource, event: string, command: string): object {
  const isCodexEnd = from === "codex-hooks" && event === "SessionEnd";
  const timeout = isCodexEnd ? CODEX_END_TIMEOUT_S : TIMEOUT_S;
  const hooks = [{ type: "command", command, timeout }];
  return TOOLS.includes(event) ? { matcher: "*", hooks } : { hooks };
}

/** Throws SettingsFault unless `hooks` is an object of lists. */
function checkedHooks(text: string): Readonly<Record<string, readonly unknown[]>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SettingsFault("it is not JSON");
  }
  if (!isObject(value)) throw new SettingsFault("it is not a JSON object");
  const { hooks = {} } = value;
  if (!isObject(hooks)) throw new SettingsFault("its `hooks` are not an object");
  const odd = Object.entries(hooks).find(([, groups]) => !isListOfObjects(groups));
  if (odd) throw new SettingsFault(`its \`hooks.${odd[0]}\` is not a list of objects`);
  return hooks as Record<string, readonly unknown[]>;
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.every(isObject);
}

function rootOf(text: string): JsonSpan {
  const start = afterSpace(text, 0);
  return { start, end: itemsAt(text, start).end };
}

function memberOf(text: string, { start }: JsonSpan, key: string): JsonSpan | null {
  return itemsAt(text, start).items.findLast((item) => item.key === key)?.value ?? null;
}

/** JSON indented for its position; the first line follows a key or opens a list item. */
function indented(value: unknown, unit: string, at: string): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", `\n${at}`);
}

interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, or an element of a list (`key` is empty). */
interface Item extends JsonSpan {
  readonly key: string;
  readonly value: JsonSpan;
}

/** Text that replaces a span. */
interface Edit extends JsonSpan {
  readonly text: string;
}

/** The items of the object or list that begins at `start`, and its end. */
function itemsAt(text: string, start: number): { items: Item[]; end: number } {
  const isObject = text[start] === "{";
  const items: Item[] = [];
  let at = afterSpace(text, start + 1);
  while (text[at] !== "}" && text[at] !== "]") {
    const begin = at;
    let key = "";
    if (isObject) {
      const end = endOfString(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = afterSpace(text, afterSpace(text, end) + 1); // The colon.
    }
    const value = { start: at, end: endOfValue(text, at) };
    items.push({ key, start: begin, end: value.end, value });
    at = afterSpace(text, value.end);
    if (text[at] === ",") at = afterSpace(text, at + 1);
  }
  return { items, end: at + 1 };
}

/** Removes items with their commas. `container` begins at its bracket. */
function withoutItems(
  container: JsonSpan,
  items: readonly Item[],
  isOut: (item: Item) => boolean,
): Edit[] {
  if (items.every(isOut)) return [{ start: container.start + 1, end: container.end - 1, text: "" }];
  let hasKept = false;
  return items.flatMap((item, n) => {
    if (!isOut(item)) {
      hasKept = true;
      return [];
    }
    const [before, after] = [items[n - 1], items[n + 1]];
    if (hasKept && before) return [{ start: before.end, end: item.end, text: "" }];
    return [{ start: item.start, end: after?.start ?? item.end, text: "" }];
  });
}

/** Adds text as the last item. `indent` is the items' indent; null keeps everything on one line. */
function withItem(text: string, container: JsonSpan, item: string, indent: string | null): Edit {
  const last = itemsAt(text, container.start).items.at(-1);
  const lead = indent === null ? "" : `\n${indent}`;
  if (last) return { start: last.end, end: last.end, text: `,${lead || " "}${item}` };
  const close = indent === null ? "" : `\n${indent.slice(0, -unitOf(text).length)}`;
  return { start: container.start + 1, end: container.end - 1, text: `${lead}${item}${close}` };
}

/** Applies the last edit first, so that earlier positions stay valid. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = [...edits].sort((a, b) => b.start - a.start);
  return sorted.reduce(
    (t, { start, end, text: put }) => t.slice(0, start) + put + t.slice(end),
    text,
  );
}

/** The text's indent unit; two spaces if it has none. */
function unitOf(text: string): string {
  return /^\{\r?\n([ \t]+)/.exec(text.trimStart())?.[1] ?? "  ";
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? "")) at++;
  return at;
}

function endOfValue(text: string, at: number): number {
  const first = text[at] ?? "";
  if (first === '"') return endOfString(text, at);
  if (first === "{" || first === "[") return itemsAt(text, at).end;
  const rest = text.slice(at);
  return at + (/^[\w+.-]+/.exec(rest)?.[0].length ?? 1);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** The text; null when there is no such file. */
export function readSettings(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return null;
    throw ioError(path, "reading", cause);
  }
}

/** Whether a program is in the user's PATH, without the directories that `npx` adds to it. */
export function isInPath(name: string, path: string): boolean {
  const directories = path.split(delimiter).filter((each) => each !== "");
  return directories.some(
    (directory) => !directory.endsWith("node_modules/.bin") && existsSync(join(directory, name)),
  );
}

/** Durable when it resolves. Keeps the old file's permissions; only the user can read a new one. */
export async function replaceSettings(path: string, text: string): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const stats = statSync(path, { throwIfNoEntry: false });
    const target = stats ? realpathSync(path) : path;
    const draft = `${target}.${randomUUID()}`;
    try {
      writeFileSync(draft, text, { flag: "wx", mode: 0o600, flush: true });
      if (stats) chmodSync(draft, stats.mode & 0o777);
      renameSync(draft, target);
    } catch (cause) {
      rmSync(draft, { force: true });
      throw cause;
    }
    const directory = openSync(dirname(target), "r");
    fsyncSync(directory);
    closeSync(directory);
  } catch (cause) {
    throw ioError(path, "writing", cause);
  }
}
