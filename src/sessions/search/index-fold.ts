/**
 * Index fold: turns a session's entries, one at a time, into what the index stores.
 *
 * Pure. Its state is JSON, so that indexing a session that grew continues where it stopped.
 *
 * - Every stored text is one line or well-formed and without NUL: SQLite returns exactly that. The
 *   state is bounded, however long the session.
 *
 * Tool facts: how often a session's tools were called, failed, and how long they took; and which
 * files they edited. A failed call edited nothing.
 *
 * Prompt facts: how long after a prompt the last answer to it came.
 *
 * - Folding a session in pieces gives the same as folding it at once. Open calls are remembered by
 *   id, the latest CALLS_REMEMBERED of them; a result whose call is not among them has no known
 *   tool, and is not counted.
 * - Results are paired with calls as in model/pairing.ts (CP1, CP2), except for the input, which is
 *   not kept: a repeated id is another call if its tool differs. What a message repeats counts once
 *   (message-repeats.ts).
 */

import { oneLine } from "../../core/base/one-line.ts";
import type { Aside, Entry, Part, Role } from "../../core/model/entry.ts";
import { opensTurn } from "../../core/model/pairing.ts";
import { typedIn } from "../../dialects/shared/typed-text.ts";
import { fileEditsOf } from "../summary/file-edits.ts";
import { type MessageCalls, NO_MESSAGE, RepeatDetector } from "./message-repeats.ts";
import { searchableText, spelt } from "./searchable.ts";

export const CALLS_REMEMBERED = 128;
const ID_CHARS_MAX = 256;
const TOOL_CHARS_MAX = 200;
const PATH_CHARS_MAX = 1_000;
/** Paths that an open call edits, together: what is more counts even if the call fails. */
const OPEN_PATHS_CHARS_MAX = 2_000;
/** No call has taken longer: thirty years. */
const DURATION_MS_MAX = 1e12;
export const NO_TOOLS: ToolState = { calls: [], message: NO_MESSAGE };
const MODELS_MAX = 16;
const NAME_CHARS_MAX = 200;

/** An entry in the index. */
export interface IndexedEntry {
  readonly start: number;
  readonly role: Role | null;
  /** Its time, else the last one before it. */
  readonly at: string | null;
  readonly tools: readonly string[];
  /** The text to index. */
  readonly text: string;
}

export interface FoldState {
  readonly at: string | null;
  /** The agent that the lines name. */
  readonly agent: string | null;
  readonly model: string;
  /** All models named, in order. */
  readonly models: readonly string[];
  readonly tools: ToolState;
  /** The last prompt with a time. */
  readonly prompt?: OpenPrompt | null;
  /** The dialect's memory of earlier lines, if it has one (dialects/dialect.ts, LineMemory). */
  readonly memory?: unknown;
}

export const NOTHING_FOLDED: FoldState = {
  at: null,
  agent: null,
  model: "",
  models: [],
  tools: NO_TOOLS,
};

/** What was added since the last time. */
export interface FoldedPiece {
  readonly entries: readonly IndexedEntry[];
  readonly tools: readonly ToolFact[];
  readonly edits: readonly EditFact[];
  readonly prompts: readonly PromptFact[];
  /** Characters of text in it. */
  readonly chars: number;
}

interface OpenPrompt {
  readonly start: number;
  readonly at: string;
}

/** A row: how long a prompt took, from its time to the last answer before the next one. */
interface PromptFact extends OpenPrompt {
  readonly ms: number;
}

export class IndexFold {
  #prompt: OpenPrompt | null;
  /** By the prompt's offset. */
  #prompts = new Map<number, PromptFact>();
  #at: string | null;
  #agent: string | null;
  #model: string;
  readonly #models: string[];
  readonly #tools: ToolFold;
  #entries: IndexedEntry[] = [];
  #chars = 0;

  constructor({ at, agent, model, models, tools, prompt }: FoldState = NOTHING_FOLDED) {
    this.#prompt = prompt ?? null;
    this.#at = at;
    this.#agent = agent;
    this.#model = model;
    this.#models = [...models];
    this.#tools = new ToolFold(tools);
  }

  /** Characters of text not taken yet. */
  get chars(): number {
    return this.#chars;
  }

  /** `aside`: why it is not part of the conversation, or null. `agent`: the one that it names. */
  add(entry: Entry, start: number, aside: Aside | null = null, agent: string | null = null): void {
    this.#at = entry.at ?? this.#at;
    const model = this.#modelOf(entry, aside);
    if (aside === null) this.#model = model;
    if (agent !== null) this.#agent ??= oneLine(agent, NAME_CHARS_MAX);
    const day = this.#at?.slice(0, 10) ?? "";
    const tools = this.#tools.add(entry, day, this.#at, start);
    if (aside === null) this.#timePrompt(entry, start);
    const text = spelt(searchableText(entry));
    if (text === "" && tools.length === 0) return;
    const role = entry.saidBy === undefined ? entry.role : null; // `role:user` means people.
    this.#entries.push({ start, role, at: this.#at, tools, text });
    this.#chars += text.length;
  }

  state(): FoldState {
    return {
      at: this.#at,
      agent: this.#agent,
      model: this.#model,
      models: [...this.#models],
      tools: this.#tools.state(),
      prompt: this.#prompt,
    };
  }

  take(): FoldedPiece {
    const piece = {
      entries: this.#entries,
      tools: this.#tools.take(),
      edits: this.#tools.takeEdits(),
      prompts: [...this.#prompts.values()],
      chars: this.#chars,
    };
    this.#entries = [];
    this.#prompts = new Map();
    this.#chars = 0;
    return piece;
  }

  #timePrompt({ kind, role, saidBy, parts, at }: Entry, start: number): void {
    if (kind !== "message") return;
    if (role === "user" && saidBy === undefined && typedIn(parts) !== null) {
      this.#prompt = at === null ? null : { start, at };
      return;
    }
    const isAnswer = role === "assistant" || parts.some(({ type }) => type === "tool_result");
    if (!isAnswer || at === null || this.#prompt === null) return;
    const ms = Math.round(Date.parse(at) - Date.parse(this.#prompt.at));
    if (!(ms >= 0 && ms <= DURATION_MS_MAX)) return;
    this.#prompts.set(this.#prompt.start, { ...this.#prompt, ms });
  }

  /** The entry's model, else the last of the conversation; a program is not a model. */
  #modelOf({ model: named }: Entry, aside: Aside | null): string {
    if (named === null || aside === "program") return this.#model;
    const model = oneLine(named, NAME_CHARS_MAX);
    const isNew = !this.#models.includes(model) && this.#models.length < MODELS_MAX;
    if (isNew) this.#models.push(model);
    return model;
  }
}

/** A row: use of a tool on a day. */
interface ToolFact {
  readonly day: string;
  readonly tool: string;
  calls: number;
  errors: number;
  timed: number;
  totalMs: number;
  /** -1 while no duration is known. */
  slowestMs: number;
  slowestStart: number;
}

/** A row: edits of a file on a day. Below 0: edits of an earlier piece whose call failed. */
interface EditFact {
  readonly day: string;
  readonly file: string;
  edits: number;
}

/** An open call: its id, its tool, when it was made, and the files that it edits, with the day. */
type OpenCall = readonly [
  id: string,
  tool: string,
  at: string | null,
  files?: readonly string[],
  day?: string,
];

interface ToolState {
  readonly calls: readonly OpenCall[];
  readonly message: MessageCalls;
}

type ToolResult = Extract<Part, { type: "tool_result" }>;

export class ToolFold {
  /** Calls without an id have an empty one, and are answered in order, within a turn. */
  #calls: OpenCall[];
  readonly #again: RepeatDetector;
  #facts = new Map<string, ToolFact>();
  #edits = new Map<string, EditFact>();

  constructor({ calls, message }: ToolState) {
    this.#calls = [...calls];
    this.#again = new RepeatDetector(message);
  }

  /** Returns the names of the entry's tools. */
  add(entry: Entry, day: string, at: string | null, start: number): string[] {
    const names = new Set<string>();
    this.#again.beginEntry(entry);
    for (const part of entry.parts) {
      if (part.type === "tool_call") {
        const tool = oneLine(part.tool, TOOL_CHARS_MAX);
        names.add(tool);
        if (this.#again.takeCall(part.callId)) continue;
        if (!this.#isNew(idOf(part.callId), tool)) continue;
        this.#fact(day, tool).calls++;
        this.#open([idOf(part.callId), tool, at, ...this.#edited(tool, part.input, day)]);
      } else if (part.type === "tool_result") {
        if (this.#again.takeResult(part.callId)) continue;
        const call = this.#answer(idOf(part.callId));
        if (call === null) continue;
        this.#again.answered(part.callId);
        names.add(call[1]);
        if (part.error !== null) this.#count(call[4] ?? day, call[3] ?? [], -1);
        this.#result(this.#fact(day, call[1]), part, { since: call[2], at, start });
      }
    }
    if (opensTurn(entry)) this.#calls = this.#calls.filter(([id]) => id !== "");
    return [...names];
  }

  state(): ToolState {
    return { calls: [...this.#calls], message: this.#again.state() };
  }

  /** What was added since the last time: rows to be added to the stored ones. */
  take(): ToolFact[] {
    const facts = [...this.#facts.values()];
    this.#facts = new Map();
    return facts;
  }

  takeEdits(): EditFact[] {
    const edits = [...this.#edits.values()];
    this.#edits = new Map();
    return edits;
  }

  /** Whether it is a new call: an open one may be repeated as its message grows. */
  #isNew(id: string, tool: string): boolean {
    return id === "" || !this.#calls.some(([open, name]) => open === id && name === tool);
  }

  #open(call: OpenCall): void {
    const before = call[0] === "" ? -1 : this.#calls.findIndex(([open]) => open === call[0]);
    if (before >= 0) this.#calls.splice(before, 1);
    this.#calls.push(call);
    if (this.#calls.length > CALLS_REMEMBERED) this.#calls.shift();
  }

  /** Counts what a call edits; returns what to take back if it fails. */
  #edited(tool: string, input: unknown, day: string): [] | [files: string[], day: string] {
    const paths = fileEditsOf(tool, input).map(({ file }) => oneLine(file ?? "", PATH_CHARS_MAX));
    const files = [...new Set(paths)].filter((path) => path !== "");
    if (files.length === 0) return [];
    this.#count(day, files, 1);
    const open: string[] = [];
    for (const file of files) {
      if (open.join("").length + file.length <= OPEN_PATHS_CHARS_MAX) open.push(file);
    }
    return [open, day];
  }

  #count(day: string, files: readonly string[], edits: 1 | -1): void {
    for (const file of files) {
      const key = `${day}\n${file}`;
      const fact = this.#edits.get(key) ?? { day, file, edits: 0 };
      fact.edits += edits;
      this.#edits.set(key, fact);
    }
  }

  #answer(id: string): OpenCall | null {
    const at = this.#calls.findIndex(([open]) => open === id);
    return at < 0 ? null : (this.#calls.splice(at, 1)[0] ?? null);
  }

  #result(
    fact: ToolFact,
    { error, durationMs }: ToolResult,
    { since, at, start }: { since: string | null; at: string | null; start: number },
  ): void {
    if (error !== null) fact.errors++;
    const between = since === null || at === null ? null : Date.parse(at) - Date.parse(since);
    const ms = Math.round(durationMs ?? between ?? Number.NaN);
    if (!(ms >= 0 && ms <= DURATION_MS_MAX)) return;
    fact.timed++;
    fact.totalMs += ms;
    if (ms <= fact.slowestMs) return;
    fact.slowestMs = ms;
    fact.slowestStart = start;
  }

  #fact(day: string, tool: string): ToolFact {
    const key = `${day}\n${tool}`;
    let fact = this.#facts.get(key);
    if (fact === undefined) {
      const none = { calls: 0, errors: 0, timed: 0, totalMs: 0, slowestMs: -1, slowestStart: 0 };
      fact = { day, tool, ...none };
      this.#facts.set(key, fact);
    }
    return fact;
  }
}

/** Too long ids are treated like missing ones. */
function idOf(callId: string | null): string {
  return callId === null || callId.length > ID_CHARS_MAX ? "" : callId.toWellFormed();
}
