/**
 * Decode: maps an event of Copilot CLI to an entry.
 *
 * Refuses only what is not an event at all. Events that are not messages become `other`.
 *
 * Runs: what an event means after the events before it.
 *
 * - `session.shutdown` counts one run of the program. A resumed session has several runs, and a run
 *   may report more than once, each time all of it. The entry gets the count of the session so far.
 *   A run that was killed counts with the tokens of its answers. Newer versions count the whole
 *   session: their report has an `accountingSnapshot`.
 * - Newer versions write what an answer used in a `session.usage_record` before it.
 * - Older versions name the model only where it changes.
 * - A tool can run that no answer asked for. Its start is then the call. Without an answer of the
 *   same agent before it, that is not known, because reading may begin inside a turn.
 *
 * The memory is JSON and bounded.
 */

import { type Entry, emptyEntry, type Part, type Usage } from "../../../core/model/entry.ts";
import { timestampOf } from "../../entire/decode.ts";
import {
  type DecodedValue,
  diffViews,
  type LineMemory,
  type ResultView,
} from "../../facets/reading.ts";
import { blockPart, NOTHING_COUNTED, textParts } from "../../shared/entry-parts.ts";
import {
  get,
  getCount,
  getList,
  getObject,
  getString,
  isObject,
  type JsonObject,
  parsedObject,
} from "../../shared/fields.ts";

const NOTHING: ModelUsage = new Map();
const TEXT_CHARS_MAX = 256;
const MODELS_MAX = 64;
const CALLS_MAX = 64;

export function decode(value: unknown): DecodedValue {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const type = getString(value, "type");
  if (type === null) return { entry: null, fault: "type is not a string" };
  const said = { ...emptyEntry(value), at: timestampOf(get(value, "timestamp")) };
  return { entry: { ...said, ...eventOf(value, type, getObject(value, "data")) }, fault: null };
}

const TYPES = /^(?:(?:session|user|assistant|tool|system|hook|subagent)\.[a-z_.]+|abort)$/;

/** Whether a value certainly is an event of Copilot CLI. */
export function isEvent(value: unknown): boolean {
  const isNamed = isObject(value) && TYPES.test(getString(value, "type") ?? "");
  return isNamed && isObject(get(value, "data"));
}

/**
 * The part of a subagent's event that names its agent; null: it is the main agent's, whose prompts
 * have a `parentAgentTaskId`, too.
 */
export function agentIn(event: JsonObject): string | null {
  const data = getObject(event, "data");
  return getString(event, "agentId") || getString(data, "parentToolCallId") || null;
}

type Event = Partial<Entry>;

function eventOf(event: JsonObject, type: string, data: JsonObject): Event {
  switch (type) {
    case "session.start":
      return { kind: "start", model: modelOf(data, "selectedModel") };
    case "session.model_change":
      return { model: modelOf(data, "newModel") };
    case "session.shutdown":
      return endOf(data);
    case "user.message":
      return promptOf(data, agentIn(event) !== null);
    case "assistant.message":
      return answerOf(data);
    case "tool.execution_complete":
      return { kind: "message", role: "tool", parts: [resultOf(data)] };
    case "system.message":
      return { kind: "message", role: "system", parts: textParts(getString(data, "content")) };
    case "system.notification":
      return addedBy("program", textParts(getString(data, "content")));
    case "session.compaction_complete": {
      const isDone = get(data, "success") !== false && getString(data, "summaryContent") !== null;
      return isDone ? addedBy("summary", textParts(getString(data, "summaryContent"))) : {};
    }
    default:
      return {};
  }
}

function addedBy(saidBy: "program" | "agent" | "summary", parts: readonly Part[]): Event {
  return { kind: "message", role: "user", saidBy, parts };
}

/** `content` is what a person typed. It is empty if the program continues by itself. */
function promptOf(data: JsonObject, isAgents: boolean): Event {
  const typed = textParts(getString(data, "content"));
  const files = getList(data, "attachments").map(attachmentPart);
  if (isAgents) return addedBy("agent", [...typed, ...files]);
  const source = getString(data, "source") ?? "user";
  if (source !== "user") return addedBy("program", [...typed, ...files]);
  if (typed.length === 0 && files.length === 0) {
    return addedBy("program", textParts(getString(data, "transformedContent")));
  }
  return { kind: "message", role: "user", parts: [...typed, ...files] };
}

/** A file or a directory by its path, or the bytes themselves. */
function attachmentPart(native: unknown): Part {
  const path = isObject(native) ? getString(native, "path") : null;
  if (!isObject(native) || native.type !== "file" || path === null) return blockPart(native);
  const name = getString(native, "displayName");
  return { type: "file", mediaType: null, ...(name === null ? {} : { name }), path };
}

function answerOf(data: JsonObject): Event {
  const reasoning = getString(data, "reasoningText");
  const messageId = getString(data, "messageId");
  const outputTokens = getCount(data, "outputTokens");
  return {
    kind: "message",
    role: "assistant",
    parts: [
      ...(reasoning ? [{ type: "reasoning", text: reasoning } as const] : []),
      ...textParts(getString(data, "content")),
      ...getList(data, "toolRequests").map(callOf),
    ],
    model: getString(data, "model"),
    ...(messageId ? { messageId } : {}),
    usage: outputTokens === null ? null : { ...NOTHING_COUNTED, outputTokens },
  };
}

function callOf(request: unknown): Part {
  const tool = isObject(request) ? getString(request, "name") : null;
  if (!isObject(request) || tool === null) return { type: "other", native: request };
  const callId = getString(request, "toolCallId") || null;
  const given = get(request, "arguments", null); // An object, its JSON, or a text for the tool.
  return { type: "tool_call", callId, tool, input: parsedObject(given) ?? given };
}

function resultOf(data: JsonObject): Part {
  const output = get(getObject(data, "result"), "content", null);
  const isError = get(data, "success") === false;
  const said = getString(getObject(data, "error"), "message");
  return {
    type: "tool_result",
    callId: getString(data, "toolCallId") || null,
    output,
    error: isError ? (said ?? (typeof output === "string" ? output : "")) : exitIn(data, output),
    durationMs: getCount(getObject(getObject(data, "toolTelemetry"), "metrics"), "durationMs"),
  };
}

/** The end of a command's output; older versions say it only there. */
const EXIT_CODE = /<(?:shellId: \S+ completed|exited) with exit code (-?\d{1,9})>\s*$/;
const END_CHARS_MAX = 200;

/** How a command failed: the call itself is a success. */
function exitIn(data: JsonObject, output: unknown): string | null {
  const end = typeof output === "string" ? output.slice(-END_CHARS_MAX) : "";
  const code = get(getObject(data, "shellExecution"), "exitCode") ?? EXIT_CODE.exec(end)?.[1];
  return code === undefined || code === null || Number(code) === 0 ? null : `exit code ${code}`;
}

/** Counts are those of one run of the program, or of the session: see `Runs`. */
function endOf(data: JsonObject): Event {
  const isError = get(data, "shutdownType") === "error";
  const detail = getString(data, "errorReason") ?? "";
  return {
    kind: "end",
    outcome: isError ? "error" : "completed",
    error: isError ? { code: "error", detail } : null,
    usage: sumOf([...modelUsages(data).values()]),
  };
}

/** What a report counts, by model. A model without counts is left out: they are unknown, not 0. */
function modelUsages(data: JsonObject): Map<string, Usage> {
  const metrics = Object.entries(getObject(data, "modelMetrics"));
  return new Map(
    metrics.flatMap(([model, each]) => {
      const counts = isObject(each) ? getObject(each, "usage") : {};
      return Object.keys(counts).length === 0 ? [] : [[model, usageOf(counts)] as const];
    }),
  );
}

/** `inputTokens` of Copilot CLI includes cached ones, `outputTokens` reasoning. */
function usageOf(counts: JsonObject): Usage {
  const [cacheReadTokens, cacheWriteTokens] = [
    getCount(counts, "cacheReadTokens") ?? 0,
    getCount(counts, "cacheWriteTokens") ?? 0,
  ];
  const [input, outputTokens] = [
    getCount(counts, "inputTokens") ?? 0,
    getCount(counts, "outputTokens") ?? 0,
  ];
  return {
    inputTokens: Math.max(0, input - cacheReadTokens - cacheWriteTokens),
    outputTokens,
    cacheWriteTokens,
    cacheReadTokens,
    totalTokens: input + outputTokens,
    spend: null,
  };
}

/** Null: nothing was counted. */
function sumOf(usages: readonly Usage[]): Usage | null {
  if (usages.length === 0) return null;
  const sum = (count: (usage: Usage) => number | null | undefined) =>
    usages.reduce((total, usage) => total + (count(usage) ?? 0), 0);
  return {
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    cacheWriteTokens: sum((usage) => usage.cacheWriteTokens),
    cacheReadTokens: sum((usage) => usage.cacheReadTokens),
    totalTokens: sum((usage) => usage.totalTokens ?? usage.outputTokens),
    spend: null,
  };
}

function modelOf(data: JsonObject, key: string): string | null {
  const model = getString(data, key);
  return model === "auto" ? null : model;
}

/** What Copilot CLI shows of an edit, as a diff of git. */
export function resultViews(event: JsonObject): ResultView[] {
  const data = getObject(event, "data");
  return diffViews(
    getString(data, "toolCallId"),
    getString(getObject(data, "result"), "detailedContent"),
  );
}

/** What each model used. */
type ModelUsage = ReadonlyMap<string, Usage>;

export class Runs implements LineMemory {
  /** Runs that have ended, and what the current one has reported. */
  #before: ModelUsage;
  #run: ModelUsage;
  /** By answers since the last report. */
  #since: ModelUsage;
  #messageId: string | null;
  #model: string | null;
  /** The last calls of answers, by agent. */
  readonly #asked: Map<string, readonly string[]>;
  /** Of answers that were not read yet, by the id of their request. */
  readonly #records: Map<string, Usage>;
  readonly #ends = new WeakMap<JsonObject, ModelUsage>();

  constructor(state: unknown) {
    const given = isObject(state) ? state : {};
    this.#before = usedIn(given, "before");
    this.#run = usedIn(given, "run");
    this.#since = usedIn(given, "since");
    this.#messageId = getString(given, "messageId");
    this.#model = getString(given, "model");
    const asked = getList(given, "asked").filter((each) => Array.isArray(each));
    this.#asked = new Map(asked as [string, readonly string[]][]);
    this.#records = new Map(usedIn(given, "records"));
  }

  read<Read extends Entry>(entry: Read): Read {
    const type = get(entry.native, "type");
    if (type === "session.resume") this.#endRun();
    if (type === "session.usage_record") this.#record(getObject(entry.native, "data"));
    if (type === "tool.execution_start") return this.#started(entry);
    if (entry.kind === "end") return this.#report(entry);
    const { role, model } = entry;
    if (model !== null && model.length <= TEXT_CHARS_MAX) this.#model = model;
    return role === "assistant" ? this.#answer(entry) : entry;
  }

  modelsOf({ native }: Entry): ModelUsage | null {
    return this.#ends.get(native) ?? null;
  }

  state(): unknown {
    return {
      before: [...this.#before],
      run: [...this.#run],
      since: [...this.#since],
      messageId: this.#messageId,
      model: this.#model,
      asked: [...this.#asked],
      records: [...this.#records],
    };
  }

  #record(data: JsonObject): void {
    const counts = getObject(data, "usage");
    const call = getString(counts, "apiCallId");
    if (!call || call.length > TEXT_CHARS_MAX) return;
    this.#records.set(call, usageOf(counts));
    forgetFirst(this.#records);
  }

  #answer<Read extends Entry>(entry: Read): Read {
    this.#remember(entry);
    const call = getString(getObject(entry.native, "data"), "apiCallId") ?? "";
    const usage = this.#records.get(call) ?? entry.usage;
    this.#records.delete(call);
    const { messageId = null, model } = entry;
    // A message in several events repeats its count.
    const isAgain = messageId !== null && messageId === this.#messageId;
    const name = model ?? this.#model;
    if (!isAgain && usage) this.#since = addedTo(this.#since, new Map([[name ?? "", usage]]));
    this.#messageId = messageId !== null && messageId.length <= TEXT_CHARS_MAX ? messageId : null;
    return model === name && usage === entry.usage ? entry : { ...entry, model: name, usage };
  }

  #remember({ native, parts }: Entry): void {
    const ids = parts.flatMap((part) => (part.type === "tool_call" ? (part.callId ?? []) : []));
    const agent = agentIn(native) ?? "";
    const earlier = this.#asked.get(agent) ?? [];
    this.#asked.delete(agent);
    this.#asked.set(agent, [...earlier, ...ids].slice(-CALLS_MAX));
    forgetFirst(this.#asked);
  }

  #started<Read extends Entry>(entry: Read): Read {
    const data = getObject(entry.native, "data");
    const [callId, tool] = [getString(data, "toolCallId"), getString(data, "toolName")];
    const asked = this.#asked.get(agentIn(entry.native) ?? "");
    if (!callId || !tool || asked === undefined || asked.includes(callId)) return entry;
    const call: Part = { type: "tool_call", callId, tool, input: get(data, "arguments", null) };
    return { ...entry, kind: "message", role: "assistant", parts: [call] };
  }

  #report<Read extends Entry>(entry: Read): Read {
    if (entry.usage === null) return entry;
    const data = getObject(entry.native, "data");
    const counts = modelUsages(data);
    if (isObject(get(data, "accountingSnapshot"))) this.#before = NOTHING;
    else if (isLess(entry.usage, this.#run)) this.#before = addedTo(this.#before, this.#run);
    this.#run = addedTo(NOTHING, counts);
    this.#since = NOTHING;
    const all = addedTo(this.#before, this.#run);
    this.#ends.set(entry.native, all);
    return { ...entry, usage: sumOf([...all.values()]) };
  }

  #endRun(): void {
    this.#before = addedTo(addedTo(this.#before, this.#run), this.#since);
    this.#run = NOTHING;
    this.#since = NOTHING;
  }
}

/** Counts of a run only grow: a lower one is another run's. */
function isLess(usage: Usage, run: ModelUsage): boolean {
  const before = sumOf([...run.values()]);
  const { inputTokens, outputTokens, totalTokens } = usage;
  return (
    (inputTokens ?? 0) < (before?.inputTokens ?? 0) ||
    (outputTokens ?? 0) < (before?.outputTokens ?? 0) ||
    (totalTokens ?? 0) < (before?.totalTokens ?? 0)
  );
}

function addedTo(used: ModelUsage, more: ModelUsage): ModelUsage {
  const sums = new Map(used);
  for (const [model, usage] of more) {
    const isListed = sums.has(model) || (sums.size < MODELS_MAX && model.length <= TEXT_CHARS_MAX);
    const name = isListed ? model : "";
    const before = sums.get(name);
    const sum = sumOf(before === undefined ? [usage] : [before, usage]);
    if (sum) sums.set(name, sum);
  }
  return sums;
}

function usedIn(state: JsonObject, key: string): ModelUsage {
  const pairs = getList(state, key).filter((each) => Array.isArray(each) && isObject(each[1]));
  return new Map(pairs as [string, Usage][]);
}

function forgetFirst(map: Map<string, unknown>): void {
  const first = map.keys().next();
  if (map.size > CALLS_MAX && !first.done) map.delete(first.value);
}
