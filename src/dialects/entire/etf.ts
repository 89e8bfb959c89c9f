/**
 * ETF: entries of any dialect as Entire's normalised transcript ("Entire Transcript Format", v 1).
 *
 * One line per prompt and per answer, results inside the calls that they answer, no thinking. So a
 * line can be given only when its calls have their results and its message has all its fragments;
 * what follows waits behind it, in order. Format: docs/formats/entire.md, "ETF".
 *
 * ET1  However long a call waits, what is held is bounded: beyond it the oldest line is given as it
 *      is, and its calls count as unanswered.
 * ET2  What has no place in the format is counted, never dropped in silence.
 */

import { compactJson } from "../../base/print-json.ts";
import type { Entry, Part, Usage } from "../../model/entry.ts";
import { blockOf, textOf } from "./blocks.ts";

export interface EtfFacts {
  /** Whose transcript it is. */
  readonly agent: string;
  /** Of the program that exports; Entire's reader wants one. */
  readonly cliVersion: string;
}

/** What the lines do not hold. */
export interface EtfReport {
  /** Calls that were given without a result. */
  unanswered: number;
  /** Results that answer no call, or came too late. */
  strayResults: number;
  /** Entries that the format has no line for: of the system, of other programs. */
  unplaced: number;
}

/** Lines that are held back at most, and the characters in them. */
export const HELD_LINES_MAX = 1000;
export const HELD_CHARS_MAX = 16 * 1024 * 1024;

interface Line {
  readonly type: "user" | "assistant";
  readonly ts: string;
  readonly id: string | null;
  usage: Usage | null;
  readonly blocks: Block[];
  unanswered: number;
}

/** A block's JSON; of an open call without its last brace, where the result goes. */
interface Block {
  json: string;
  isOpen: boolean;
}

interface OpenCall {
  readonly line: Line;
  readonly block: Block;
}

export class EtfExport {
  readonly report: EtfReport = { unanswered: 0, strayResults: 0, unplaced: 0 };
  readonly #facts: EtfFacts;
  readonly #held: Line[] = [];
  #heldChars = 0;
  readonly #calls = new Map<string, OpenCall>();
  /** Calls without an id are answered in their order. */
  #nameless: OpenCall[] = [];

  constructor(facts: EtfFacts) {
    this.#facts = facts;
  }

  /** Takes an entry; gives the lines that are complete by now. */
  *add(entry: Entry): Generator<string> {
    if (entry.kind === "message" && entry.role !== "system") this.#addMessage(entry);
    else if (entry.kind === "turn_end") this.#addUsage(entry.usage);
    else if (entry.kind === "message" || entry.kind === "other") this.report.unplaced++;
    yield* this.#release(false);
  }

  /** The lines that are left. */
  *end(): Generator<string> {
    yield* this.#release(true);
  }

  #addMessage(entry: Entry): void {
    const said: Part[] = [];
    for (const part of entry.parts) {
      if (part.type === "tool_result") this.#answer(part);
      else if (part.type !== "reasoning") said.push(part);
    }
    if (entry.role === "assistant") this.#addAnswer(entry, said);
    else if (said.length > 0) this.#addPrompt(entry, said);
  }

  #addPrompt({ at }: Entry, parts: readonly Part[]): void {
    const line = this.#hold("user", at, null);
    for (const part of parts) {
      // What a user says has no type in this format.
      const block = part.type === "text" ? { text: part.text } : blockIn(part);
      if (block) this.#put(line, { json: compactJson(block), isOpen: false });
    }
  }

  #addAnswer({ at, messageId, usage }: Entry, parts: readonly Part[]): void {
    const last = this.#held.at(-1);
    const isFragment = last?.type === "assistant" && last.id !== null && last.id === messageId;
    const line = isFragment ? last : this.#hold("assistant", at, messageId ?? null);
    if (usage && (usage.outputTokens ?? 0) >= (line.usage?.outputTokens ?? 0)) line.usage = usage;
    for (const part of parts) {
      if (part.type === "tool_call") this.#call(line, part);
      else {
        const block = blockIn(part);
        if (block) this.#put(line, { json: compactJson(block), isOpen: false });
      }
    }
  }

  /** Some dialects count where a turn ends: that goes to the turn's last answer. */
  #addUsage(usage: Usage | null): void {
    const last = this.#held.findLast(({ type }) => type === "assistant");
    if (last && last.usage === null) last.usage = usage;
  }

  #call(line: Line, part: Extract<Part, { type: "tool_call" }>): void {
    const { callId } = part;
    // Said again while it is open, it is the same call: files repeat a message as it grows.
    if (callId !== null && this.#calls.has(callId)) return;
    const block = { json: compactJson(blockOf(part)).slice(0, -1), isOpen: true };
    line.unanswered++;
    this.#put(line, block);
    if (callId === null) this.#nameless.push({ line, block });
    else this.#calls.set(callId, { line, block });
  }

  #answer({ callId, output, error }: Extract<Part, { type: "tool_result" }>): void {
    const call = callId === null ? this.#nameless.shift() : this.#calls.get(callId);
    if (callId !== null) this.#calls.delete(callId);
    if (!call) {
      this.report.strayResults++;
      return;
    }
    const status = error === null ? "success" : "error";
    const result = compactJson({ output: outputText(output) || (error ?? ""), status });
    call.line.unanswered--;
    this.#heldChars += result.length;
    call.block.json += `,"result":${result}}`;
    call.block.isOpen = false;
  }

  #hold(type: Line["type"], at: string | null, id: string | null): Line {
    const line: Line = { type, ts: at ?? "", id, usage: null, blocks: [], unanswered: 0 };
    this.#held.push(line);
    return line;
  }

  #put(line: Line, block: Block): void {
    line.blocks.push(block);
    this.#heldChars += block.json.length;
  }

  *#release(isLast: boolean): Generator<string> {
    for (let line = this.#held[0]; line; line = this.#held[0]) {
      const isFull = this.#held.length > HELD_LINES_MAX || this.#heldChars > HELD_CHARS_MAX;
      // The last answer may have more fragments, or be told what its turn used.
      const mayGrow = this.#held.length === 1 && line.type === "assistant";
      if (!isLast && !isFull && (line.unanswered > 0 || mayGrow)) return;
      this.#held.shift();
      for (const { json } of line.blocks) this.#heldChars -= json.length;
      if (line.unanswered > 0) this.#giveUp(line);
      if (line.blocks.length > 0 || line.usage !== null) yield this.#lineText(line);
    }
  }

  /** ET1 */
  #giveUp(line: Line): void {
    this.report.unanswered += line.unanswered;
    for (const [callId, call] of this.#calls) if (call.line === line) this.#calls.delete(callId);
    this.#nameless = this.#nameless.filter((call) => call.line !== line);
  }

  #lineText({ type, ts, id, usage, blocks }: Line): string {
    const { agent, cliVersion } = this.#facts;
    const head = compactJson({
      v: 1,
      agent,
      cli_version: cliVersion,
      type,
      ts,
      id: id ?? undefined,
      input_tokens: usage?.inputTokens ?? undefined,
      output_tokens: usage?.outputTokens ?? undefined,
    });
    const content = blocks.map(({ json, isOpen }) => (isOpen ? `${json}}` : json)).join(",");
    return `${head.slice(0, -1)},"content":[${content}]}\n`;
  }
}

/** A part as a block; null for what no block can say. */
function blockIn(part: Part): object | null {
  try {
    return blockOf(part);
  } catch {
    return null; // Kept by its own log, and of no meaning to another reader.
  }
}

/** What a tool gave, as a text: the format has no other. */
function outputText(output: unknown): string {
  if (output === null || output === undefined) return "";
  return textOf(output) || (typeof output === "string" ? "" : compactJson(output));
}
