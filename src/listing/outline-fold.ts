/**
 * Outline fold: what a reader of a session wants to jump to, folded from its entries one at a time:
 * each prompt with the cost of answering it, failures, and edits of files.
 *
 * - The tokens and the spend of the exchanges add up to those of the session's summary: both are
 *   counted by catalog/usage-fold.ts, and an exchange is the difference between two moments.
 * - Memory is bounded: EXCHANGES_MAX, MARKS_MAX, and short texts. `isCut` says that more was left
 *   out.
 * - A prompt is what a person typed, or the task that an agent gave to this session. Texts of the
 *   program in the user's role are not prompts.
 */

import { oneLine } from "../base/one-line.ts";
import { fileEditsOf } from "../catalog/file-edits.ts";
import { UsageFold } from "../catalog/usage-fold.ts";
import { type ToolTable, toolView } from "../dialects/tool-table.ts";
import type { Aside, Entry, Part } from "../model/entry.ts";
import { typedIn } from "../model/typed-text.ts";

export const EXCHANGES_MAX = 50_000;
export const MARKS_MAX = 100_000;
const TEXT_CHARS_MAX = 160;
const FILE_CHARS_MAX = 300;
const ANSWER_CHARS_MAX = 300;
/** Different tools of one exchange. */
const TOOLS_MAX = 20;
/** Of a failure's reason, what is looked at. */
const REASON_CHARS_MAX = 2_000;
/** Calls that wait for their results. */
const CALLS_MAX = 256;
const FILES_MAX = 1_000;

/** A prompt and what followed it, up to the next one. */
export interface Exchange {
  /** The offset of its first line. */
  start: number;
  /** When it began, and the last time in it. ISO 8601, UTC. */
  at: string | null;
  until: string | null;
  /** The first line of the prompt; null before the first prompt. */
  text: string | null;
  tokens: number | null;
  spend: number | null;
  calls: number;
  failures: number;
  edits: number;
  /** How many files it edited. */
  files: number;
  /** The beginning of the last answer, and the offset of its line. */
  answer: string | null;
  answerStart: number | null;
  /** The tools it called, and how often each. */
  readonly tools: { readonly tool: string; calls: number }[];
}

export interface OutlineMark {
  readonly kind: "failure" | "edit";
  /** The offset of its line. */
  readonly start: number;
  readonly at: string | null;
  readonly tool: string | null;
  /** Of a failed call: what it was to do, such as "$ npm test". */
  readonly call: string | null;
  /** Of a failure: the first line of the reason. */
  readonly text: string | null;
  readonly file: string | null;
  readonly added: number | null;
  readonly removed: number | null;
  /** Of an edit: its tool reported an error. */
  isFailed: boolean;
}

interface Call {
  readonly tool: string;
  readonly words: string;
  readonly edits: readonly OutlineMark[];
}

/** Where something failed, and the call that did. */
interface Failed extends Pick<OutlineMark, "start" | "at"> {
  readonly tool?: string | null;
  readonly words?: string | null;
}

const NO_WORDS = { call: null, text: null };

export class OutlineFold {
  readonly exchanges: Exchange[] = [];
  readonly marks: OutlineMark[] = [];
  isCut = false;
  readonly #tools: ToolTable | undefined;
  readonly #usage = new UsageFold();
  readonly #calls = new Map<string, Call>();
  /** Each name once: a session edits few files many times. */
  readonly #names = new Map<string, string>();
  #files = new Set<string>();
  /** What the exchanges before the current one used. */
  #before = { tokens: 0, spend: 0 };

  /** `tools`: the dialect's. */
  constructor(tools?: ToolTable) {
    this.#tools = tools;
  }

  /** `aside`: why the entry is not part of the conversation; null if it is. */
  add(entry: Entry, start: number, aside: Aside | null): void {
    const prompt = aside === null ? promptIn(entry) : null;
    if (prompt !== null) this.#open(start, entry.at, prompt);
    this.#usage.add(entry);
    const exchange = this.#current(start, entry.at);
    if (entry.at !== null) {
      exchange.at ??= entry.at;
      exchange.until = entry.at;
    }
    for (const part of entry.parts) this.#part(part, start, entry.at, exchange);
    const answer = aside === null ? answerIn(entry) : null;
    if (answer !== null) Object.assign(exchange, { answer, answerStart: start });
    if (entry.kind === "end" && entry.outcome === "error") {
      this.#fail(exchange, { start, at: entry.at }, entry.error?.detail || "The session failed");
    }
    exchange.tokens = difference(this.tokens, this.#before.tokens);
    exchange.spend = difference(this.spend, this.#before.spend);
  }

  addBadLine(start: number, fault: string): void {
    this.#fail(this.#current(start, null), { start, at: null }, `Not readable: ${fault}`);
  }

  /** Of the whole session so far. */
  get tokens(): number | null {
    const total = this.#usage.total("totalTokens");
    if (total !== null) return total;
    const input = this.#usage.total("inputTokens");
    const output = this.#usage.total("outputTokens");
    return input === null && output === null ? null : (input ?? 0) + (output ?? 0);
  }

  get spend(): number | null {
    return this.#usage.total("spend");
  }

  #open(start: number, at: string | null, text: string): void {
    if (this.exchanges.length >= EXCHANGES_MAX) {
      this.isCut = true;
      return;
    }
    this.#before = { tokens: this.tokens ?? 0, spend: this.spend ?? 0 };
    this.#files = new Set();
    this.exchanges.push(emptyExchange(start, at, text));
  }

  #current(start: number, at: string | null): Exchange {
    const last = this.exchanges.at(-1);
    if (last) return last;
    const first = emptyExchange(start, at, null);
    this.exchanges.push(first);
    return first;
  }

  #part(part: Part, start: number, at: string | null, exchange: Exchange): void {
    if (part.type === "tool_call") {
      exchange.calls++;
      this.#call(part, start, at, exchange);
    } else if (part.type === "tool_result") {
      const call = part.callId === null ? undefined : this.#calls.get(part.callId);
      if (part.callId !== null) this.#calls.delete(part.callId);
      if (part.error === null) return;
      for (const edit of call?.edits ?? []) edit.isFailed = true;
      const { tool = null, words = null } = call ?? {};
      this.#fail(exchange, { start, at, tool, words }, part.error || outputText(part.output));
    }
  }

  #call(
    { tool, input, callId }: Extract<Part, { type: "tool_call" }>,
    start: number,
    at: string | null,
    exchange: Exchange,
  ): void {
    const name = this.#name(oneLine(tool, TEXT_CHARS_MAX));
    const known = exchange.tools.find((each) => each.tool === name);
    if (known) known.calls++;
    else if (exchange.tools.length < TOOLS_MAX) exchange.tools.push({ tool: name, calls: 1 });
    const edits = fileEditsOf(tool, input).map(({ file, added, removed }): OutlineMark => {
      const short = file === null ? null : this.#name(oneLine(file, FILE_CHARS_MAX));
      if (short !== null && this.#files.size < FILES_MAX) this.#files.add(short);
      const lines = { added, removed, isFailed: false };
      return { kind: "edit", start, at, tool: name, ...NO_WORDS, file: short, ...lines };
    });
    exchange.edits += edits.length;
    exchange.files = this.#files.size;
    for (const edit of edits) this.#mark(edit);
    if (callId === null || callId.length > TEXT_CHARS_MAX) return;
    const { verb, subject, path } = toolView(this.#tools, tool, input);
    const words = oneLine(`${verb} ${subject ?? path ?? ""}`, TEXT_CHARS_MAX);
    this.#calls.set(callId, { tool: name, words, edits });
    if (this.#calls.size <= CALLS_MAX) return;
    const oldest = this.#calls.keys().next();
    if (!oldest.done) this.#calls.delete(oldest.value);
  }

  #fail(
    exchange: Exchange,
    { start, at, tool = null, words: call = null }: Failed,
    reason: string,
  ) {
    exchange.failures++;
    // Without the rulers that test programs print.
    const words = reason.slice(0, REASON_CHARS_MAX).replace(/[\p{S}\p{P}]{4,}/gu, " ");
    const text = oneLine(words, TEXT_CHARS_MAX) || oneLine(reason, TEXT_CHARS_MAX) || null;
    const none = { file: null, added: null, removed: null, isFailed: false };
    this.#mark({ kind: "failure", start, at, tool, call, text, ...none });
  }

  #mark(mark: OutlineMark): void {
    if (this.marks.length < MARKS_MAX) this.marks.push(mark);
    else this.isCut = true;
  }

  #name(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size < FILES_MAX) this.#names.set(text, text);
    return text;
  }
}

function emptyExchange(start: number, at: string | null, text: string | null): Exchange {
  const used = { tokens: null, spend: null };
  const none = { calls: 0, failures: 0, edits: 0, files: 0, answer: null, answerStart: null };
  return { start, at, until: at, text, ...used, ...none, tools: [] };
}

/** The beginning of what a model says. */
function answerIn({ kind, role, parts }: Entry): string | null {
  if (kind !== "message" || role !== "assistant") return null;
  const said = parts.findLast((part) => part.type === "text");
  return said === undefined ? null : oneLine(said.text, ANSWER_CHARS_MAX) || null;
}

function promptIn({ kind, role, saidBy, parts }: Entry): string | null {
  if (kind !== "message" || role !== "user") return null;
  if (saidBy !== undefined && saidBy !== "agent") return null;
  const typed = typedIn(parts);
  return typed === null ? null : oneLine(typed, TEXT_CHARS_MAX);
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : "The tool failed";
}

/** Null where nothing was used; a session's recorded end may be less than its parts. */
function difference(total: number | null, before: number): number | null {
  if (total === null) return null;
  const own = Number((total - before).toPrecision(15));
  return own === 0 ? null : own;
}
