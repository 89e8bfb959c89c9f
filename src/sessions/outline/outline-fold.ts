/**
 * Outline fold: what a reader of a session wants to jump to, folded from its entries one at a time:
 * each prompt with the cost of answering it, failures, and the files that it read and edited.
 *
 * - The tokens and the spend of the exchanges add up to those of the session's summary: both are
 *   counted by sessions/summary/usage-fold.ts, and an exchange is the difference between two
 *   moments.
 * - Memory is bounded: EXCHANGES_MAX, MARKS_MAX, and short texts. `isCut` says that more was left
 *   out.
 * - A prompt is what a person typed, or the task that an agent gave to this session. Texts of the
 *   program in the user's role are not prompts.
 */

import { oneLine } from "../../core/base/one-line.ts";
import type { Aside, Entry, Native, Part } from "../../core/model/entry.ts";
import type { ToolView } from "../../core/model/tool-view.ts";
import type { Reading } from "../../dialects/facets/reading.ts";
import { typedIn } from "../../dialects/shared/typed-text.ts";
import { readsPlainly, toolView } from "../../dialects/tool-table.ts";
import { type FileEdit, fileEditsOf } from "../summary/file-edits.ts";
import { FileLines, piecesIn } from "../summary/file-lines.ts";
import { UsageFold } from "../summary/usage-fold.ts";

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
  readonly kind: "failure" | "edit" | "read";
  /** The offset of its line, and the number of its part in the entry. */
  readonly start: number;
  readonly part: number;
  readonly at: string | null;
  readonly tool: string | null;
  /** Of a file that was read or edited: what the call does to it, such as "Read". */
  readonly verb: string | null;
  /** Of a failed call: what it was to do, such as "$ npm test". */
  readonly call: string | null;
  /** Of a failure: the first line of the reason. */
  readonly text: string | null;
  readonly file: string | null;
  readonly added: number | null;
  readonly removed: number | null;
  /**
   * Of a file that was read: its first and last line, as asked for. Of an edit: the first line of
   * each change, where an earlier call shows it; null where not.
   */
  lines: readonly (number | null)[] | null;
  /** Of a file: the tool reported an error. */
  isFailed: boolean;
}

interface Call {
  readonly tool: string;
  readonly words: string;
  readonly marks: readonly OutlineMark[];
  readonly edits: readonly FileEdit[];
  /** The first line that it asks for, and whether the tool prints a file as it is. */
  readonly read: { readonly first: number; readonly isPlain: boolean };
}

interface Place extends Pick<OutlineMark, "start" | "part" | "at"> {
  readonly native: Native;
}

/** Where something failed, and the call that did. */
interface FailedStep extends Pick<OutlineMark, "start" | "at"> {
  readonly tool?: string | null;
  readonly words?: string | null;
}

const NO_WORDS = { call: null, text: null };
const NO_FILE = { verb: null, file: null, added: null, removed: null, lines: null };

export class OutlineFold {
  readonly exchanges: Exchange[] = [];
  readonly marks: OutlineMark[] = [];
  /** Files that were read, in order. */
  readonly reads: OutlineMark[] = [];
  isCut = false;
  readonly #reading: Pick<Reading, "tools" | "resultViews">;
  readonly #usage = new UsageFold();
  readonly #calls = new Map<string, Call>();
  /** Each name once: a session edits few files many times. */
  readonly #names = new Map<string, string>();
  #files = new Set<string>();
  readonly #fileLines = new FileLines();
  /** What the exchanges before the current one used. */
  #before = { tokens: 0, spend: 0 };

  constructor(reading: Pick<Reading, "tools" | "resultViews"> = {}) {
    this.#reading = reading;
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
    for (const [part, said] of entry.parts.entries()) {
      this.#part(said, { start, part, at: entry.at, native: entry.native }, exchange);
    }
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

  #part(part: Part, place: Place, exchange: Exchange): void {
    if (part.type === "tool_call") {
      exchange.calls++;
      this.#call(part, place, exchange);
    } else if (part.type === "tool_result") this.#result(part, place, exchange);
  }

  #result(
    { callId, error, output }: Extract<Part, { type: "tool_result" }>,
    { start, at, native }: Place,
    exchange: Exchange,
  ): void {
    const call = callId === null ? undefined : this.#calls.get(callId);
    if (callId !== null) this.#calls.delete(callId);
    if (error === null) {
      if (call) this.#learn(call, textIn(output).slice(this.#textAt(native, callId)));
      return;
    }
    for (const mark of call?.marks ?? []) mark.isFailed = true;
    const { tool = null, words = null } = call ?? {};
    this.#fail(exchange, { start, at, tool, words }, error || outputText(output));
  }

  /** A call was done: what it says of the lines of files. */
  #learn({ marks, edits, read }: Call, text: string): void {
    const lines = edits.map(({ file, changes }) => {
      return file === null ? changes.map(() => null) : this.#fileLines.change(file, changes);
    });
    if (lines.flat().some((line) => line !== null)) {
      for (const [n, mark] of marks.entries()) mark.lines = lines[n] ?? null;
    }
    const [mark] = marks;
    if (mark?.kind !== "read" || mark.file === null) return;
    for (const piece of piecesIn(text, read.first, read.isPlain)) {
      this.#fileLines.read(mark.file, piece.first, piece.text);
    }
  }

  /** Where a file begins in an output. */
  #textAt(native: Native, callId: string | null): number {
    const views = this.#reading.resultViews?.(native) ?? [];
    return views.find((view) => view.callId === callId)?.textAt ?? 0;
  }

  #call(
    { tool, input, callId }: Extract<Part, { type: "tool_call" }>,
    place: Place,
    exchange: Exchange,
  ): void {
    const name = this.#name(oneLine(tool, TEXT_CHARS_MAX));
    const count = exchange.tools.find((each) => each.tool === name);
    if (count) count.calls++;
    else if (exchange.tools.length < TOOLS_MAX) exchange.tools.push({ tool: name, calls: 1 });
    const view = toolView(this.#reading.tools, tool, input);
    if (mayChangeFiles(view)) this.#fileLines.forgetAll();
    const edits = view.kind === "read" ? [] : fileEditsOf(tool, input);
    const { start, part, at } = place;
    const marks = this.#marksOf({ start, part, at, tool: name, ...NO_WORDS }, view, edits);
    if (edits.length > 0) {
      exchange.edits += edits.length;
      for (const { file } of marks) {
        if (file !== null && this.#files.size < FILES_MAX) this.#files.add(file);
      }
      exchange.files = this.#files.size;
    }
    if (callId === null || callId.length > TEXT_CHARS_MAX) return;
    const words = oneLine(`${view.verb} ${view.subject ?? view.path ?? ""}`, TEXT_CHARS_MAX);
    const first = view.lines?.[0] ?? 1;
    const read = { first, isPlain: readsPlainly(this.#reading.tools, tool) };
    this.#calls.set(callId, { tool: name, words, marks, edits, read });
    if (this.#calls.size <= CALLS_MAX) return;
    const oldest = this.#calls.keys().next();
    if (!oldest.done) this.#calls.delete(oldest.value);
  }

  /** A mark for each file that a call reads or edits. */
  #marksOf(
    call: Pick<OutlineMark, "start" | "part" | "at" | "tool" | "call" | "text">,
    { kind, verb, path, lines }: ToolView,
    edits: readonly FileEdit[],
  ): OutlineMark[] {
    const nameOf = (file: string) => this.#name(oneLine(file, FILE_CHARS_MAX));
    if (kind === "read" && path !== null) {
      const read = { ...NO_FILE, verb, file: nameOf(path), lines, isFailed: false };
      const mark: OutlineMark = { kind: "read", ...call, ...read };
      if (this.reads.length < MARKS_MAX) this.reads.push(mark);
      else this.isCut = true;
      return [mark];
    }
    return edits.map(({ file, added, removed }) => {
      const edit = { verb: kind === "write" ? verb : "Edit", added, removed, isFailed: false };
      const name = file === null ? null : nameOf(file);
      const mark: OutlineMark = { kind: "edit", ...call, ...edit, file: name, lines: null };
      this.#mark(mark);
      return mark;
    });
  }

  #fail(
    exchange: Exchange,
    { start, at, tool = null, words: call = null }: FailedStep,
    reason: string,
  ) {
    exchange.failures++;
    // Without the rulers that test programs print.
    const words = reason.slice(0, REASON_CHARS_MAX).replace(/[\p{S}\p{P}]{4,}/gu, " ");
    const text = oneLine(words, TEXT_CHARS_MAX) || oneLine(reason, TEXT_CHARS_MAX) || null;
    const none = { ...NO_FILE, isFailed: false };
    this.#mark({ kind: "failure", start, part: 0, at, tool, call, text, ...none });
  }

  #mark(mark: OutlineMark): void {
    if (this.marks.length < MARKS_MAX) this.marks.push(mark);
    else this.isCut = true;
  }

  #name(text: string): string {
    const internedName = this.#names.get(text);
    if (internedName !== undefined) return internedName;
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
  const lastText = parts.findLast((part) => part.type === "text");
  return lastText === undefined ? null : oneLine(lastText.text, ANSWER_CHARS_MAX) || null;
}

function promptIn({ kind, role, saidBy, parts }: Entry): string | null {
  if (kind !== "message" || role !== "user") return null;
  if (saidBy !== undefined && saidBy !== "agent") return null;
  const typed = typedIn(parts);
  return typed === null ? null : oneLine(typed, TEXT_CHARS_MAX);
}

const RUN: readonly ToolView["kind"][] = ["command", "agent", "mcp", "other"];
/** One command that only looks. */
const LOOKS =
  /^(?:ls|rg|grep|wc|head|tail|find|cat|pwd|git (?:status|diff|log|show))(?: (?!.*-(?:exec|delete|ok|fprint|-output))[^;&|<>`$()]*)?$/;

/** Whether a call may change files that it does not name. */
function mayChangeFiles({ kind, subject }: ToolView): boolean {
  return RUN.includes(kind) && !(kind === "command" && LOOKS.test(subject ?? ""));
}

/** What a tool printed. */
function textIn(output: unknown): string {
  if (typeof output === "string") return output;
  const blocks = Array.isArray(output) ? output : [];
  return blocks.map((block) => (typeof block?.text === "string" ? block.text : "")).join("\n");
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : "The tool failed";
}

/** Null where nothing was used; a session's recorded end may be less than its parts. */
function difference(total: number | null, before: number): number | null {
  if (total === null) return null;
  const ownSpend = Number((total - before).toPrecision(15));
  return ownSpend === 0 ? null : ownSpend;
}
