/**
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

import type { Entry, Part, Usage } from "../../../core/model/entry.ts";
import type { LineMemory } from "../../facets/reading.ts";
import {
  get,
  getList,
  getObject,
  getString,
  isObject,
  type JsonObject,
} from "../../shared/fields.ts";
import { agentIn, modelUsages, sumOf, usageOf } from "./decode.ts";

/** What each model used. */
type Used = ReadonlyMap<string, Usage>;
const NOTHING: Used = new Map();
const TEXT_CHARS_MAX = 256;
const MODELS_MAX = 64;
const CALLS_MAX = 64;

export class Runs implements LineMemory {
  /** Runs that have ended, and what the current one has reported. */
  #before: Used;
  #run: Used;
  /** By answers since the last report. */
  #since: Used;
  #messageId: string | null;
  #model: string | null;
  /** The last calls of answers, by agent. */
  readonly #asked: Map<string, readonly string[]>;
  /** Of answers that were not read yet, by the id of their request. */
  readonly #records: Map<string, Usage>;
  readonly #ends = new WeakMap<JsonObject, Used>();

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

  modelsOf({ native }: Entry): Used | null {
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
function isLess(usage: Usage, run: Used): boolean {
  const before = sumOf([...run.values()]);
  const { inputTokens, outputTokens, totalTokens } = usage;
  return (
    (inputTokens ?? 0) < (before?.inputTokens ?? 0) ||
    (outputTokens ?? 0) < (before?.outputTokens ?? 0) ||
    (totalTokens ?? 0) < (before?.totalTokens ?? 0)
  );
}

function addedTo(used: Used, more: Used): Used {
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

function usedIn(state: JsonObject, key: string): Used {
  const pairs = getList(state, key).filter((each) => Array.isArray(each) && isObject(each[1]));
  return new Map(pairs as [string, Usage][]);
}

function forgetFirst(map: Map<string, unknown>): void {
  const first = map.keys().next();
  if (map.size > CALLS_MAX && !first.done) map.delete(first.value);
}
