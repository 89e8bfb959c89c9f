/**
 * Decode: maps a row of Gemini CLI to an entry. Page: docs/formats/gemini-cli.md.
 *
 * Rows of a `.jsonl` file and lines of a converted `.json` document are the same: the header, then
 * messages. Every object is an entry; what is not a message is `other`.
 */

import { compactJson, fingerprint } from "../../../core/base/print-json.ts";
import type { Native } from "../../../core/model/entry.ts";
import { type Aside, type Entry, emptyEntry, type Part } from "../../../core/model/entry.ts";
import { timestampOf } from "../../entire/decode.ts";
import {
  diffViews,
  type LineMemory,
  type Reading,
  type ResultView,
  type SessionDetails,
} from "../../facets/reading.ts";
import type { Compaction, TakingBack } from "../../facets/turns.ts";
import { rowDecoder, textParts } from "../../shared/entry-parts.ts";
import {
  get,
  getList,
  getObject,
  getObjects,
  getString,
  isObject,
  parsedObject,
} from "../../shared/fields.ts";
import { googleParts, googleResult, googleText, googleUsage } from "../../shared/google-parts.ts";

/** Texts in the user's role that Gemini CLI writes. */
const PROGRAMS = [
  "<session_context>",
  "<hook_context>",
  "This is the Gemini CLI. We are setting up the context for our chat.",
  "System: Please continue.",
  "System: Potential loop detected.",
];
/** Rows that Gemini CLI shows to the user only. */
const NOTICES: readonly unknown[] = ["info", "warning", "error"];

export const decode = rowDecoder(entryOf);

function entryOf(row: Native): Entry {
  const entry = emptyEntry(row);
  if (isHeader(row)) return { ...entry, kind: "start", at: timestampOf(get(row, "startTime")) };
  const state = stateIn(row);
  if (state !== null) return stateEntry(row, state);
  const [id, type] = [getString(row, "id"), get(row, "type")];
  const at = timestampOf(get(row, "timestamp"));
  if (id === null) return { ...entry, at };
  const said: Entry = { ...entry, at, kind: "message", ...(id === "" ? {} : { messageId: id }) };
  if (type === "user") return userEntry(said);
  if (type === "gemini") return modelEntry(said);
  if (!NOTICES.includes(type)) return { ...entry, at };
  return { ...said, role: "system", parts: googleParts(get(row, "content")) };
}

/** The messages of a row that sets the whole conversation; null: it is not such a row. */
export function stateIn(row: Native): readonly Native[] | null {
  const set = getObject(row, "$set");
  if (!Array.isArray(get(set, "messages"))) return null;
  return getObjects(set, "messages").filter((each) => idIn(each) !== null);
}

export function idIn(row: Native): string | null {
  return getString(row, "id");
}

/** What `messages` say, as one message: they are new when Gemini CLI has compressed its history. */
export function stateEntry(row: Native, messages: readonly Native[]): Entry {
  const at = timestampOf(get(getObject(row, "$set"), "lastUpdated"));
  const entries = messages.map(entryOf);
  const parts = entries.flatMap((entry) => entry.parts.filter(isSaid));
  if (parts.length === 0) return { ...emptyEntry(row), at };
  const saidBy = entries.every((entry) => entry.saidBy === "program") ? "program" : "summary";
  return { ...emptyEntry(row), at, kind: "message", role: "user", saidBy, parts };
}

/** A summary calls no tool; results have new ids here, and repeat those of earlier rows. */
function isSaid({ type }: Part): boolean {
  return type !== "tool_call" && type !== "tool_result";
}

/** A row that sets the conversation replaces all before it but the messages that it repeats. */
const compaction: Compaction = {
  isSummary: (row) => stateIn(row) !== null,
  isBoundary: (row) => stateIn(row) !== null,
  keptBy(row, before) {
    const ids = new Set((stateIn(row) ?? []).map(idIn));
    const isKept = (each: Native) => idIn(each) !== null && ids.has(idIn(each));
    return new Set(before.filter((each) => (stateIn(each) ?? [each]).some(isKept)));
  },
};

/** Whether it is the first row of a file: the session without its messages. */
export function isHeader(row: Native): boolean {
  return getString(row, "sessionId") !== null && getString(row, "projectHash") !== null;
}

/** Whether a row certainly is Gemini CLI's. */
export function isOwn(value: unknown): boolean {
  return isObject(value) && (isHeader(value) || isObject(get(value, "$set")));
}

function userEntry(said: Entry): Entry {
  const row = said.native;
  const parts = googleParts(get(row, "content"));
  const isResults = parts.length > 0 && parts.every(({ type }) => type === "tool_result");
  if (isResults) return { ...said, role: "tool", parts };
  const by = isProgramsPrompt(row) ? ({ saidBy: "program" } as const) : {};
  return { ...said, role: "user", ...by, parts: [...textParts(commandIn(row)), ...parts] };
}

/** The slash command that the user typed, where the row's content is what it expands to. */
function commandIn(row: Native): string | null {
  const typed = googleText(get(row, "displayContent")).trim();
  const isOther = typed !== googleText(get(row, "content")).trim();
  return typed.startsWith("/") && isOther ? typed : null;
}

function isProgramsPrompt(row: Native): boolean {
  if (get(row, "type") !== "user") return false;
  const text = googleText(get(row, "content")).trimStart();
  return PROGRAMS.some((each) => text.startsWith(each));
}

function modelEntry(said: Entry): Entry {
  const row = said.native;
  const content = googleParts(get(row, "content"));
  const calls = getList(row, "toolCalls").flatMap(callOf);
  const known = new Set(calls.flatMap((part) => ("callId" in part ? [part.callId] : [])));
  const isThought = content.some(({ type }) => type === "reasoning");
  return {
    ...said,
    role: "assistant",
    model: getString(row, "model"),
    usage: googleUsage(get(row, "tokens")),
    parts: [
      ...(isThought ? [] : getList(row, "thoughts").flatMap(thoughtOf)),
      // Later versions have a call in the content, too.
      ...content.filter((part) => part.type !== "tool_call" || !known.has(part.callId)),
      ...calls,
    ],
  };
}

function thoughtOf(thought: unknown): Part[] {
  if (!isObject(thought)) return [{ type: "other", native: thought }];
  const [subject, said] = [getString(thought, "subject"), getString(thought, "description")];
  const text = [subject ? `**${subject}**` : "", said ?? ""].filter(Boolean).join(" ");
  return text === "" ? [] : [{ type: "reasoning", text }];
}

/** A call and, once there is one, its result. */
function callOf(call: unknown): Part[] {
  const tool = isObject(call) ? getString(call, "name") : null;
  if (!isObject(call) || tool === null) return [{ type: "other", native: call }];
  const callId = getString(call, "id");
  const made: Part = { type: "tool_call", callId, tool, input: get(call, "args", {}) };
  const [status, result] = [get(call, "status"), get(call, "result", null)];
  const failure = status === "error" || status === "cancelled" ? status : null;
  if (result === null && failure === null) return [made];
  const answer = googleResult(callId, result);
  const shown = failure && result !== null ? getString(call, "resultDisplay") : null;
  return [made, { ...answer, error: answer.error ?? shown ?? failure }];
}

/** Notices are the program's own. */
export function asideOf(row: Native): Aside | null {
  return NOTICES.includes(get(row, "type")) ? "program" : null;
}

/** The header, and each later `$set`, may have a title. */
function about(row: Native): SessionDetails | null {
  const facts = isHeader(row) ? row : getObject(row, "$set");
  const summary = getString(facts, "summary");
  // A subagent's may be its answer as JSON, which is no title.
  const title = parsedObject(summary) === null ? summary : null;
  // Only a subagent's are those that it works in; others are added to the project by the user.
  const [cwd] = get(facts, "kind") === "subagent" ? getList(facts, "directories") : [];
  if (title === null && typeof cwd !== "string") return null;
  return { ...(title === null ? {} : { title }), ...(typeof cwd === "string" ? { cwd } : {}) };
}

/** `$rewindTo` names the first message that no longer counts. */
const takingBack: TakingBack = {
  says: (row) => idIn(row) !== null || stateIn(row) !== null,
  takesBack: (row) => (getString(row, "$rewindTo") === null ? null : Number.POSITIVE_INFINITY),
  idOf: (row) => getString(row, "id"),
  backTo: (row) => getString(row, "$rewindTo"),
};

/** What the dialect asks of a row. */
export const rows = {
  about,
  asideOf,
  decode,
  isOwn,
  isProgramsPrompt,
  resultViews,
} satisfies Reading;
export const turns = { compaction, takingBack };

/** The diffs that Gemini CLI shows of edits. */
function resultViews(row: Native): ResultView[] {
  return getObjects(row, "toolCalls").flatMap((call) => {
    const diff = getString(getObject(call, "resultDisplay"), "fileDiff");
    return diffViews(getString(call, "id"), diff);
  });
}

/**
 * Growing messages: Gemini CLI writes a message again, as a whole and with the same id, when its
 * token count or the results of its calls arrive; later versions write results a second time, as a
 * message of their own.
 *
 * Each row stays an entry, and has only what earlier rows did not have. A row that sets the whole
 * conversation has the messages whose ids are new. The memory is JSON and bounded; what was written
 * more than PARTS_REMEMBERED parts or IDS_REMEMBERED messages ago is shown again.
 */

const PARTS_REMEMBERED = 1024;
const IDS_REMEMBERED = 4096;

export class GrowingMessages implements LineMemory {
  readonly #seen: Set<string>;
  /** Fingerprints of messages' ids. */
  readonly #ids: Set<string>;

  constructor(state: unknown = {}) {
    const { seen = [], ids = [] } = state as Partial<ReturnType<GrowingMessages["state"]>>;
    this.#seen = new Set(seen);
    this.#ids = new Set(ids);
  }

  read<Read extends Entry>(entry: Read): Read {
    const { kind, messageId, usage } = entry;
    const state = stateIn(entry.native);
    if (state !== null) {
      const added = state.filter((message) => !this.#ids.has(fingerprint(idIn(message) ?? "")));
      const ids = added.map((message) => fingerprint(idIn(message) ?? ""));
      note(this.#ids, ids, IDS_REMEMBERED);
      const { saidBy: _, ...rest } = entry;
      return { ...rest, ...stateEntry(entry.native, added) } as Read;
    }
    if (messageId === undefined) return entry;
    note(this.#ids, [fingerprint(messageId)], IDS_REMEMBERED);
    if (kind !== "message") return entry;
    const added: string[] = []; // Later: a part that is twice in one row is two parts.
    const parts = entry.parts.filter((part) => {
      const key = keyOf(messageId, part);
      if (this.#seen.has(key)) return false;
      added.push(key);
      if (part.type === "tool_call" && part.callId !== null) added.push(this.#called(part.callId));
      return true;
    });
    note(this.#seen, added, PARTS_REMEMBERED);
    if (parts.length === entry.parts.length) return entry;
    const isRepeat = parts.length === 0 && usage === null;
    return isRepeat ? { ...entry, kind: "other", role: null, parts } : { ...entry, parts };
  }

  state(): { readonly seen: readonly string[]; readonly ids: readonly string[] } {
    return { seen: [...this.#seen], ids: [...this.#ids] };
  }

  /** A later message that uses the id of a call again has its own result. */
  #called(callId: string): string {
    const key = `called ${fingerprint(callId)}`;
    if (this.#seen.has(key)) this.#seen.delete(resultKey(callId));
    return key;
  }
}

/** Adds to the keys, and forgets the oldest beyond the limit. */
function note(keys: Set<string>, added: readonly string[], countMax: number): void {
  for (const key of added) keys.add(key);
  for (const oldest of keys) {
    if (keys.size <= countMax) break;
    keys.delete(oldest);
  }
}

/** A result is known by its call alone: it is in the call's message, and in one of its own. */
function keyOf(messageId: string, part: Part): string {
  if (part.type === "tool_result" && part.callId !== null) return resultKey(part.callId);
  const what = part.type === "tool_call" && part.callId !== null ? part.callId : compactJson(part);
  return `${part.type} ${fingerprint(`${messageId} ${what}`)}`;
}

function resultKey(callId: string): string {
  return `tool_result ${fingerprint(callId)}`;
}
