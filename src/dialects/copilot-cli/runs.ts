/**
 * Runs: what an event means after the events before it.
 *
 * - `session.shutdown` counts one run of the program. A resumed session has several runs, and a run
 *   may report more than once, each time all of it. The entry gets the count of the session so far.
 *   A run that was killed counts with the tokens of its answers. Newer versions count the whole
 *   session: their report has an `accountingSnapshot`.
 * - Older versions name the model only where it changes.
 * - A tool can run that no answer asked for. Its start is then the call. Without an answer of the
 *   same agent before it, that is not known, because reading may begin inside a turn.
 *
 * The memory is JSON and bounded.
 */

import type { Entry, Part } from "../../model/entry.ts";
import type { LineMemory } from "../dialect.ts";
import { get, getList, getNumber, getObject, getString, isObject } from "../fields.ts";
import { agentIn } from "./decode.ts";

const FIELDS = [
  ...["inputTokens", "outputTokens", "cacheWriteTokens", "cacheReadTokens", "totalTokens"],
] as const;
type Counts = Readonly<Record<string, number>>;
const NOTHING: Counts = Object.fromEntries(FIELDS.map((field) => [field, 0]));
const MODEL_CHARS_MAX = 256;
const CALLS_MAX = 64;

export class Runs implements LineMemory {
  /** Runs that have ended, and what the current one has reported. */
  #before: Counts;
  #run: Counts;
  /** Tokens of answers since the last report. */
  #since: number;
  #messageId: string | null;
  #model: string | null;
  /** The last calls of answers, by agent. */
  readonly #asked: Map<string, readonly string[]>;

  constructor(state: unknown) {
    const given = isObject(state) ? state : {};
    this.#before = countsIn(get(given, "before"));
    this.#run = countsIn(get(given, "run"));
    this.#since = getNumber(given, "since") ?? 0;
    this.#messageId = getString(given, "messageId");
    this.#model = getString(given, "model");
    const asked = getList(given, "asked").filter((each) => Array.isArray(each));
    this.#asked = new Map(asked as [string, readonly string[]][]);
  }

  read<Read extends Entry>(entry: Read): Read {
    const type = get(entry.native, "type");
    if (type === "session.resume") this.#endRun();
    if (type === "tool.execution_start") return this.#started(entry);
    if (entry.kind === "end") return this.#report(entry);
    const { role, model, messageId = null, usage } = entry;
    if (model !== null && model.length <= MODEL_CHARS_MAX) this.#model = model;
    if (role !== "assistant") return entry;
    this.#remember(entry);
    // A message in several events repeats its count.
    const isAgain = messageId !== null && messageId === this.#messageId;
    if (!isAgain) this.#since += usage?.outputTokens ?? 0;
    this.#messageId = messageId !== null && messageId.length <= MODEL_CHARS_MAX ? messageId : null;
    return model === null ? { ...entry, model: this.#model } : entry;
  }

  state(): unknown {
    return {
      ...{ before: this.#before, run: this.#run, since: this.#since },
      ...{ messageId: this.#messageId, model: this.#model, asked: [...this.#asked] },
    };
  }

  #remember({ native, parts }: Entry): void {
    const ids = parts.flatMap((part) => (part.type === "tool_call" ? (part.callId ?? []) : []));
    const agent = agentIn(native) ?? "";
    const known = this.#asked.get(agent) ?? [];
    this.#asked.delete(agent);
    this.#asked.set(agent, [...known, ...ids].slice(-CALLS_MAX));
    const oldest = this.#asked.keys().next();
    if (this.#asked.size > CALLS_MAX && !oldest.done) this.#asked.delete(oldest.value);
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
    const counts = countsIn(entry.usage);
    // Counts of a run only grow: a lower one is another run's.
    const isOther = FIELDS.some((field) => (counts[field] ?? 0) < (this.#run[field] ?? 0));
    const isOfSession = isObject(get(getObject(entry.native, "data"), "accountingSnapshot"));
    if (isOfSession) this.#before = NOTHING;
    else if (isOther) this.#before = sumOf(this.#before, this.#run);
    [this.#run, this.#since] = [counts, 0];
    return { ...entry, usage: { ...entry.usage, ...(sumOf(this.#before, counts) as object) } };
  }

  #endRun(): void {
    const killed = { ...NOTHING, outputTokens: this.#since, totalTokens: this.#since };
    this.#before = sumOf(sumOf(this.#before, this.#run), killed);
    [this.#run, this.#since] = [NOTHING, 0];
  }
}

function countsIn(given: unknown): Counts {
  if (!isObject(given)) return NOTHING;
  return Object.fromEntries(FIELDS.map((field) => [field, getNumber(given, field) ?? 0]));
}

function sumOf(one: Counts, other: Counts): Counts {
  return Object.fromEntries(
    FIELDS.map((field) => [field, (one[field] ?? 0) + (other[field] ?? 0)]),
  );
}
