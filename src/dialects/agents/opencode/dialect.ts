/**
 * opencode: the sessions of OpenCode, in its SQLite databases and in the JSON files of older
 * versions. Page: docs/formats/opencode.md.
 */

import type { Native } from "../../../core/model/entry.ts";
import { type Entry, emptyEntry, type Part, type Usage } from "../../../core/model/entry.ts";
import {
  type DecodedValue,
  diffViews,
  type ResultView,
  type SessionDetails,
} from "../../facets/reading.ts";
import type { Compaction } from "../../facets/turns.ts";
import { readerDialect } from "../../reader.ts";
import {
  blockPart,
  isoOf,
  NOTHING_COUNTED,
  reasoningPart,
  textParts,
} from "../../shared/entry-parts.ts";
import { get, getCount, getNumber, getObject, getObjects, getString } from "../../shared/fields.ts";
import type { ToolTable } from "../../tool-table.ts";
import { convert, idAt, logPath, logsIn, lookAt, nameOf } from "./files.ts";

/**
 * Decode: the lines that a session of OpenCode is presented as (docs/formats/opencode.md). One line
 * for the session, one for each message with its parts; what they hold is as OpenCode stored it.
 * Newer versions write events, and in time only those.
 */

/** A title that OpenCode makes up until it has a better one. */
const PLACEHOLDER = /^(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Parts that say nothing of their own: the message has their tokens, costs and finish. */
const MARKS: readonly unknown[] = ["step-start", "step-finish", "snapshot"];
/** Who speaks in an event. Others say that the agent or the model changed, or are later inventions. */
const EVENTS: Readonly<Record<string, Pick<Entry, "role" | "saidBy">>> = {
  user: { role: "user" },
  synthetic: { role: "user", saidBy: "program" },
  compaction: { role: "user", saidBy: "summary" },
  system: { role: "system" },
  shell: { role: "assistant" },
  assistant: { role: "assistant" },
};

export function decode(value: unknown): DecodedValue {
  const line = getObject({ value }, "value");
  const [type, info, base] = [get(line, "type"), getObject(line, "info"), emptyEntry(line)];
  const created = getNumber(info, "time_created") ?? getNumber(getObject(info, "time"), "created");
  const messageId = getString(info, "id") ?? "";
  const at = isoOf(type === "session" ? created : getNumber(getObject(info, "time"), "created"));
  const said = { ...base, kind: "message", at, messageId } as const;
  switch (type) {
    case "session":
      return { entry: { ...base, kind: "start", at }, fault: null };
    case "event":
      return { entry: eventEntry(said, info) ?? { ...base, at }, fault: null };
    case "message":
    case "parts":
      return { entry: (type === "message" && messageEntry(said, info)) || base, fault: null };
    default:
      return { entry: null, fault: line === value ? "unknown type" : "not an object" };
  }
}

function messageEntry(said: Entry, info: Native): Entry | null {
  if (get(info, "role") === "user") return userEntry(said);
  return get(info, "role") === "assistant" ? answerEntry(said, info) : null;
}

function userEntry(said: Entry): Entry {
  const parts = getObjects(said.native, "parts");
  const isTyped = (part: Native) => !get(part, "synthetic") && !get(part, "ignored");
  const hasTyped = parts.some((part) => get(part, "type") === "text" && isTyped(part));
  // What was added comes after what the user typed: a title begins with that.
  const added = hasTyped ? parts.filter((part) => !isTyped(part)) : [];
  const ordered = [...parts.filter((part) => !added.includes(part)), ...added];
  const read = ordered.flatMap((part): Part[] => {
    // The model does not get it.
    if (hasTyped && get(part, "ignored")) return [{ type: "other", native: part }];
    return partOf(part, said.native);
  });
  const isPrograms = !hasTyped && parts.some((part) => !isTyped(part) || isCompaction(part));
  return { ...said, role: "user", parts: read, ...(isPrograms && { saidBy: "program" }) };
}

function answerEntry(said: Entry, info: Native): Entry {
  const parts = getObjects(said.native, "parts");
  const finish = getString(info, "finish") ?? getString(getObject(info, "error"), "name");
  const isDone = getNumber(getObject(info, "time"), "completed") !== null || finish !== null;
  const steps = parts.filter((part) => get(part, "type") === "step-finish");
  return {
    ...said,
    role: "assistant",
    ...(compaction.isSummary(said.native) && { saidBy: "summary" }),
    parts: parts.flatMap((part) => partOf(part, said.native)),
    model: getString(info, "modelID") ?? getString(getObject(info, "model"), "modelID"),
    // Older versions put several steps into a message, whose tokens are those of the last.
    usage: usageOf(steps.length > 1 ? steps : [info], getCount(info, "cost")),
    ...(finish !== null && { stopReason: finish }),
    ...(!isDone && { isPartial: true }),
  };
}

function eventEntry(said: Entry, info: Native): Entry | null {
  const type = getString(info, "type") ?? "";
  const speaker = Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined;
  if (speaker === undefined) return null;
  const finish = getString(info, "finish");
  const texts = textParts(getString(info, "text") ?? getString(info, "summary"));
  if (type === "shell") return { ...said, ...speaker, parts: shellParts(info) };
  const files = type === "user" ? getObjects(info, "files") : [];
  const attached = files.map((file) => blockPart({ ...file, type: "file" }));
  if (type !== "assistant") return { ...said, ...speaker, parts: [...texts, ...attached] };
  return {
    ...said,
    ...speaker,
    parts: getObjects(info, "content").flatMap(contentParts),
    model: getString(getObject(info, "model"), "id"),
    usage: usageOf([info], getCount(info, "cost")),
    ...(finish !== null && { stopReason: finish }),
  };
}

function partOf(part: Native, line: Native): Part[] {
  const type = get(part, "type");
  if (MARKS.includes(type)) return [];
  const text = getString(part, "text");
  if (type === "text" && text !== null) return textParts(text);
  const { signature } = getObject(getObject(part, "metadata"), "anthropic");
  if (type === "reasoning" && text !== null) {
    return [reasoningPart(text, { signature: typeof signature === "string" ? signature : null })];
  }
  const prompt = getString(part, "prompt");
  if (type === "subtask" && prompt !== null) return [{ type: "text", text: prompt }];
  return type === "tool" ? toolParts(part, line) : [blockPart(part)];
}

function toolParts(part: Native, line: Native): Part[] {
  const state = getObject(part, "state");
  const [callId, tool] = [getString(part, "callID"), getString(part, "tool") ?? ""];
  const parts: Part[] = [{ type: "tool_call", callId, tool, input: get(state, "input", null) }];
  const child = getString(getObject(state, "metadata"), "sessionId");
  if (tool === "task" && child !== null) {
    const agent = getString(getObject(state, "input"), "subagent_type");
    parts.push({ type: "child", session: `${getString(line, "place") ?? ""}${child}`, agent });
  }
  const [output, error] = [get(state, "output", null), getString(state, "error")];
  const isRunning = ["pending", "running"].includes(getString(state, "status") ?? "");
  if (isRunning || (output === null && error === null)) return parts;
  const { start, end } = getObject(state, "time");
  const durationMs = typeof start === "number" && typeof end === "number" ? end - start : null;
  return [...parts, { type: "tool_result", callId, output, error, durationMs }];
}

/** The content of an event. */
function contentParts(content: Native): Part[] {
  const [type, text] = [get(content, "type"), getString(content, "text")];
  if (type === "text") return textParts(text);
  if (type === "reasoning") return [{ type, text: text ?? "" }];
  if (type !== "tool") return [blockPart(content)];
  const state = getObject(content, "state");
  const [callId, tool] = [getString(content, "id"), getString(content, "name") ?? ""];
  const call: Part = { type: "tool_call", callId, tool, input: get(state, "input", null) };
  const status = get(state, "status");
  if (status !== "completed" && status !== "error") return [call];
  const failed = getString(getObject(state, "error"), "message") ?? "";
  const error = status === "error" ? failed : null;
  const output = get(state, "content", null);
  return [call, { type: "tool_result", callId, output, error, durationMs: null }];
}

/** A command that the user ran. */
function shellParts(info: Native): Part[] {
  const callId = getString(info, "callID");
  const ended = { output: get(info, "output", null), error: null, durationMs: null };
  return [
    { type: "tool_call", callId, tool: "shell", input: { command: get(info, "command") } },
    { type: "tool_result", callId, ...ended },
  ];
}

/**
 * The sum of the tokens of steps. OpenCode counts input without cached tokens. Newer versions count
 * reasoning apart from output, and have a total by which that is seen.
 */
function usageOf(steps: readonly Native[], spend: number | null): Usage | null {
  const counted = steps.map((step) => getObject(step, "tokens"));
  const all = counted.filter((tokens) => getCount(tokens, "input") !== null).map(countsIn);
  if (all.length === 0) return spend ? { ...NOTHING_COUNTED, spend } : null;
  const sum = (name: keyof ReturnType<typeof countsIn>) =>
    all.reduce((s, each) => s + each[name], 0);
  return {
    inputTokens: sum("input"),
    outputTokens: sum("output"),
    cacheReadTokens: sum("read"),
    cacheWriteTokens: sum("write"),
    totalTokens: null,
    spend,
  };
}

function countsIn(tokens: Native) {
  const count = (name: string, within = tokens) => getCount(within, name) ?? 0;
  const [input, output, cache] = [count("input"), count("output"), getObject(tokens, "cache")];
  const [read, write] = [count("read", cache), count("write", cache)];
  const apart = output + count("reasoning");
  const isApart = count("total") >= input + read + write + apart;
  return { input, output: isApart ? apart : output, read, write };
}

/** A message with a `compaction` part, then the summary as the assistant's answer to it. */
export const compaction: Compaction = {
  isSummary(line) {
    const info = getObject(line, "info");
    return get(info, "summary") === true && get(info, "role") === "assistant";
  },
  isBoundary: (line) => getObjects(line, "parts").some(isCompaction),
  keptBy(boundary, before) {
    const first = getObjects(boundary, "parts").map((part) => getString(part, "tail_start_id"));
    const at = before.findIndex((line) => first.includes(getString(getObject(line, "info"), "id")));
    return new Set(at < 0 ? [] : before.slice(at));
  },
};

function isCompaction(part: Native): boolean {
  return get(part, "type") === "compaction";
}

export function about(line: Native, id: string): SessionDetails | null {
  if (get(line, "type") !== "session") return null;
  const info = getObject(line, "info");
  const title = getString(info, "title") ?? "";
  const parent = getString(info, "parent_id") ?? getString(info, "parentID");
  return {
    ...(!PLACEHOLDER.test(title) && { title }),
    cwd: getString(info, "directory") ?? "",
    ...(parent !== null && { parent: `${id.slice(0, id.lastIndexOf("/") + 1)}${parent}` }),
  };
}

/** What identifies a line when it is written again. */
export function lineKey(line: Native): string | null {
  const [type, id] = [getString(line, "type"), getString(getObject(line, "info"), "id")];
  return type === null || id === null ? null : `${type}:${id}`;
}

/** The diffs that OpenCode records with edits. */
function resultViews(line: Native): ResultView[] {
  return [line, ...getObjects(line, "parts")].flatMap((part) => {
    const diff = getString(getObject(getObject(part, "state"), "metadata"), "diff");
    return diffViews(getString(part, "callID"), diff);
  });
}

/** Tools of opencode, by kind (tool-table.ts). */
const tools: ToolTable = {
  bash: "command",
  read: "read",
  write: "write",
  edit: "edit",
  multiedit: "edit",
  patch: "edit",
  apply_patch: "edit",
  grep: { kind: "search", verb: "Grep" },
  glob: { kind: "search", verb: "Glob" },
  codesearch: { kind: "search", subject: ["query"] },
  list: "list",
  todowrite: "plan",
  todoread: "plan",
  task: "agent",
  webfetch: "fetch",
  websearch: "web_search",
  skill: { kind: "other", verb: "Skill", subject: ["name"] },
};

export const opencode = readerDialect("opencode", {
  naming: {
    layout: { under: [], levels: [], isLog: () => false, idAt, logsIn, lookAt },
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    decode,
    about,
    tools,
    resultViews,
  },
  turns: {
    compaction,
  },
  files: {
    convert,
  },
  program: {
    resume: (name) => `opencode --session ${name}`,
    changes: "rows",
    lineKey,
  },
});
