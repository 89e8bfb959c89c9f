/**
 * Total rows: counts the responses in rollouts of Codex, whose counts are totals of the session.
 *
 *     {"timestamp","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage",
 *     "last_token_usage"}}}
 *
 * A response is what was added to the total. A total that is repeated adds nothing; one that is
 * smaller began again, and the last call's count is taken, as for the first total of a file: a fork
 * may begin with its parent's. Its key is the total itself, so that copies in forks are found, and its
 * request is the turn: forks copy rows as they are, with the id of the turn, or those of tool calls.
 */

import { Hash, type RowSet } from "../row-set.ts";
import { FLAGS, PLAUSIBLE_TOKENS_MAX } from "../usage-row.ts";
import type { Scanner } from "./usage-counts.ts";

const needle = (type: string) => Buffer.from(`"${type}"`);
const COUNT = needle("token_count");
const CONTEXT = needle("turn_context");
const META = needle("session_meta");
const CALL_ID = Buffer.from('"call_id":"');
const QUOTE = 0x22;
const ID_BYTES_MAX = 256;
const LF = 0x0a;
const ROW_BYTES_MAX = 16 * 1024 * 1024;
/** In the order of Codex; the input contains the cached and the written. */
const FIELDS = [
  "input_tokens",
  "cached_input_tokens",
  "cache_write_input_tokens",
  "output_tokens",
  "reasoning_output_tokens",
  "total_tokens",
] as const;

type Totals = readonly number[];
type Fields = Readonly<Record<string, unknown>>;

interface State {
  readonly model: string;
  readonly total: Totals | null;
  readonly about: Fields | null;
  readonly turn: string;
  readonly call: string;
}

export class TotalRows implements Scanner {
  readonly set: RowSet;
  about: Fields | null = null;
  #model = "";
  #total: Totals | null = null;
  /** The current turn's id; empty in older versions, which write none. */
  #turn = "";
  /** The id of the turn's last tool call, if the turn has no id. */
  #call = "";
  readonly #hash = new Hash();

  constructor(set: RowSet) {
    this.set = set;
  }

  get state(): State {
    const { about } = this;
    return { model: this.#model, total: this.#total, about, turn: this.#turn, call: this.#call };
  }

  begin(state: unknown): void {
    const { model = "", total = null, about = null, ...ids } = (state ?? {}) as Partial<State>;
    const { turn = "", call = "" } = ids;
    this.#turn = turn;
    this.#call = call;
    this.#model = model;
    this.#total = total;
    this.about = about;
  }

  scan(bytes: Buffer, from: number, to: number): void {
    const lines = bytes.subarray(0, to);
    let count = lines.indexOf(COUNT, from);
    let context = lines.indexOf(CONTEXT, from);
    let meta = this.#mayDescribe ? lines.indexOf(META, from) : -1;
    let read = from;
    for (;;) {
      const found = Math.min(orEnd(count, to), orEnd(context, to), orEnd(meta, to));
      if (this.#turn === "") this.#readCalls(lines.subarray(read, found));
      if (found >= to) return;
      const start = Math.max(from, lines.lastIndexOf(LF, found) + 1);
      const lf = lines.indexOf(LF, found);
      const end = lf < 0 ? to : lf;
      read = end;
      if (end - start <= ROW_BYTES_MAX) this.#read(parsed(lines.toString("utf8", start, end)));
      if (count >= 0 && count < end) count = lines.indexOf(COUNT, end);
      if (context >= 0 && context < end) context = lines.indexOf(CONTEXT, end);
      if (!this.#mayDescribe) meta = -1;
      else if (meta >= 0 && meta < end) meta = lines.indexOf(META, end);
    }
  }

  #readCalls(rows: Buffer): void {
    const at = rows.lastIndexOf(CALL_ID);
    if (at < 0) return;
    const start = at + CALL_ID.length;
    const end = rows.indexOf(QUOTE, start);
    if (end > start && end - start <= ID_BYTES_MAX) this.#call = rows.toString("utf8", start, end);
  }

  /** Descriptions come before all counts. */
  get #mayDescribe(): boolean {
    return this.about === null || this.#total === null;
  }

  /** The first is the session's own. Older versions do not name what a fork repeats: the next does. */
  #describe(payload: Fields): void {
    const own = this.about === null ? null : objectIn(this.about, "payload");
    if (own === null) this.about = aboutOf(payload);
    else if (payload.id !== own.id && !own.forked_from_id) {
      this.about = aboutOf({ ...own, forked_from_id: payload.id });
    }
  }

  #read(row: Fields): void {
    const payload = objectIn(row, "payload");
    if (row.type === "turn_context" && typeof payload.model === "string") {
      this.#model = payload.model;
      this.#turn = typeof payload.turn_id === "string" ? payload.turn_id : "";
      this.#call = "";
    } else if (row.type === "session_meta") {
      this.#describe(payload);
    } else if (row.type === "event_msg" && payload.type === "token_count") {
      this.#count(objectIn(payload, "info"), row.timestamp);
    }
  }

  #count(info: Fields, timestamp: unknown): void {
    const total = totalsIn(info.total_token_usage);
    const last = totalsIn(info.last_token_usage);
    const before = this.#total;
    if (total === null && last === null) return;
    if (total !== null) this.#total = total;
    if (total !== null && before !== null && isSame(total, before)) {
      this.#fill(last ?? total, total, false, timestamp);
      this.set.repeat();
      return;
    }
    const isMore = total !== null && before !== null && isAtLeast(total, before);
    const added = isMore ? total.map((count, n) => count - (before[n] ?? 0)) : (last ?? total);
    if (added === null) return;
    this.#fill(added, total ?? last ?? [], total === null, timestamp);
    const [input = 0, , , output = 0] = added;
    if (input + output > 0) this.set.put();
  }

  #fill(added: Totals, identity: Totals, hasNoTotal: boolean, timestamp: unknown): void {
    const { next } = this.set;
    const [input = 0, cached = 0, written = 0, output = 0, reasoning = 0] = added;
    next.input[0] = Math.max(0, input - cached - written);
    next.cacheRead[0] = Math.max(0, cached);
    next.cacheWrite5m[0] = Math.max(0, written);
    next.cacheWrite1h[0] = 0;
    next.output[0] = output;
    next.reasoning[0] = Math.max(0, Math.min(reasoning, output));
    next.at[0] = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
    next.recorded[0] = Number.NaN;
    next.model[0] = this.set.modelIndex(this.#model);
    const isImplausible = added.some((count) => count > PLAUSIBLE_TOKENS_MAX || count < 0);
    next.flags[0] = FLAGS.ofSession | (isImplausible ? FLAGS.implausible : 0);
    const hash = this.#hash.begin();
    for (const count of identity) hash.number(count);
    if (hasNoTotal) hash.text(String(timestamp));
    next.keyHigh[0] = hash.end().high;
    next.keyLow[0] = hash.low;
    const request = this.#turn || this.#call;
    next.request[0] = request === "" ? 0 : this.#hash.begin().text(request).end().low;
  }
}

function orEnd(at: number, end: number): number {
  return at < 0 ? end : at;
}

function parsed(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {}; // A damaged row.
  }
}

/** The first description is the session's own; a fork repeats its parent's. */
function aboutOf({ id, cwd, git, source, timestamp, ...rest }: Fields): Fields {
  const { parent_thread_id, forked_from_id } = rest;
  const payload = { id, cwd, git, source, timestamp, parent_thread_id, forked_from_id };
  return { type: "session_meta", payload };
}

function totalsIn(value: unknown): Totals | null {
  if (!isObject(value)) return null;
  return FIELDS.map((field) => {
    const count = value[field];
    return typeof count === "number" && Number.isFinite(count) && count > 0 ? count : 0;
  });
}

function isSame(one: Totals, other: Totals): boolean {
  return one.every((count, n) => count === other[n]);
}

function isAtLeast(one: Totals, other: Totals): boolean {
  return one.every((count, n) => count >= (other[n] ?? 0));
}

function objectIn(fields: Fields, name: string): Fields {
  const value = fields[name];
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
