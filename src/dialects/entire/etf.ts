/**
 * ETF: exports entries of any dialect as Entire's normalised transcript ("Entire Transcript
 * Format", v 1).
 *
 * One line per prompt and per answer, results inside their calls, no thinking. So a line is emitted
 * only when its calls have results and its message has all fragments; later lines wait behind it,
 * in order. Format: docs/formats/entire.md, "ETF".
 *
 * - Held lines are bounded: beyond the limit the oldest line is emitted as it is, and its calls
 *   count as unanswered.
 * - Content with no place in the format is counted, never dropped silently.
 * - A result goes only to the call that core/model/pairing.ts matches it with.
 */

import { compactJson } from "../../core/base/print-json.ts";
import type { Entry, Part, Usage } from "../../core/model/entry.ts";
import { type CallMessage, CallPairing, opensTurn } from "../../core/model/pairing.ts";
import { get, isObject } from "../shared/fields.ts";
import { blockOf, blockText } from "./blocks.ts";

export interface EtfFacts {
  /** Name of the agent in the transcript. */
  readonly agent: string;
  /** Version of the exporting program; Entire's reader requires one. */
  readonly cliVersion: string;
}

/** Counts of what the exported lines do not contain. */
export interface EtfReport {
  /** Calls emitted without a result. */
  unanswered: number;
  /** Results without a call, or that came too late. */
  strayResults: number;
  /** Entries without a line in the format: of the system, of other programs. */
  unplaced: number;
  /** Blocks in prompts, answers and results that the format cannot hold. */
  unplacedBlocks: number;
}

/** Maximum lines held back, and characters in them. */
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

/** A block's JSON; for an open call without the last brace, where the result goes. */
interface Block {
  json: string;
  isOpen: boolean;
}

/** Position of a call. Its line may have been emitted, and then has no blocks any more. */
interface CallPlace {
  readonly line: Line;
  readonly index: number;
}

export class EtfExport {
  readonly report: EtfReport = { unanswered: 0, strayResults: 0, unplaced: 0, unplacedBlocks: 0 };
  readonly #facts: EtfFacts;
  readonly #held: Line[] = [];
  #heldChars = 0;
  readonly #calls = new CallPairing<CallPlace>();
  #entries = 0;

  constructor(facts: EtfFacts) {
    this.#facts = facts;
  }

  /** Adds an entry of the conversation; yields the lines that are now complete. */
  *add(entry: Entry): Generator<string> {
    this.#entries++;
    if (entry.kind === "message" && entry.role !== "system") this.#addMessage(entry);
    else if (entry.kind === "turn_end") this.#addUsage(entry.usage);
    else if (entry.kind === "message" || entry.kind === "other") this.report.unplaced++;
    if (opensTurn(entry)) this.#calls.beginTurn();
    yield* this.#release(false);
  }

  /** Yields the remaining lines. */
  *end(): Generator<string> {
    yield* this.#release(true);
  }

  #addMessage(entry: Entry): void {
    const parts = entry.parts.filter(({ type }) => type !== "reasoning");
    if (entry.role === "assistant") {
      this.#addAnswer(entry, parts);
      return;
    }
    const said: Part[] = [];
    for (const part of parts) {
      if (part.type === "tool_result") this.#answer(part);
      else said.push(part);
    }
    if (said.length > 0) this.#addPrompt(entry, said);
  }

  #addPrompt({ at }: Entry, parts: readonly Part[]): void {
    const line = this.#hold("user", at, null);
    for (const part of parts) {
      // User text blocks have no type in this format.
      this.#putWhole(line, part.type === "text" ? { text: part.text } : blockIn(part));
    }
  }

  #addAnswer({ at, messageId, usage }: Entry, parts: readonly Part[]): void {
    const last = this.#held.at(-1);
    const isFragment = last?.type === "assistant" && last.id !== null && last.id === messageId;
    const line = isFragment ? last : this.#hold("assistant", at, messageId ?? null);
    if (usage && (usage.outputTokens ?? 0) >= (line.usage?.outputTokens ?? 0)) line.usage = usage;
    const message = { entry: this.#entries, ...(messageId === undefined ? {} : { messageId }) };
    for (const part of parts) {
      if (part.type === "tool_call") this.#call(line, part, message);
      // Some programs keep a result next to its call.
      else if (part.type === "tool_result") this.#answer(part);
      else this.#putWhole(line, blockIn(part));
    }
  }

  /** Some dialects count tokens at the end of a turn: they go to the turn's last answer. */
  #addUsage(usage: Usage | null): void {
    const last = this.#held.findLast(({ type }) => type === "assistant");
    if (last && last.usage === null) last.usage = usage;
  }

  #call(line: Line, part: Extract<Part, { type: "tool_call" }>, message: CallMessage): void {
    if (!this.#calls.addCall(part, { line, index: line.blocks.length }, message)) return;
    line.unanswered++;
    this.#put(line, { json: compactJson(blockOf(part)).slice(0, -1), isOpen: true });
  }

  #answer({ callId, output, error }: Extract<Part, { type: "tool_result" }>): void {
    const place = this.#calls.answer(callId).call?.at;
    const block = place?.line.blocks[place.index];
    if (!place || !block) {
      this.report.strayResults++;
      return;
    }
    const status = error === null ? "success" : "error";
    const result = compactJson({ output: resultText(output, error), status });
    this.report.unplacedBlocks += blocksBesideText(output);
    place.line.unanswered--;
    this.#heldChars += result.length;
    block.json += `,"result":${result}}`;
    block.isOpen = false;
  }

  #hold(type: Line["type"], at: string | null, id: string | null): Line {
    const line: Line = { type, ts: at ?? "", id, usage: null, blocks: [], unanswered: 0 };
    this.#held.push(line);
    return line;
  }

  /** `block` is null if the format has none for the part. */
  #putWhole(line: Line, block: object | null): void {
    if (block === null) this.report.unplacedBlocks++;
    else this.#put(line, { json: compactJson(block), isOpen: false });
  }

  #put(line: Line, block: Block): void {
    line.blocks.push(block);
    this.#heldChars += block.json.length;
  }

  *#release(isLast: boolean): Generator<string> {
    for (let line = this.#held[0]; line; line = this.#held[0]) {
      const isFull = this.#held.length > HELD_LINES_MAX || this.#heldChars > HELD_CHARS_MAX;
      // The last answer may get more fragments, or the usage of its turn.
      const mayGrow = this.#held.length === 1 && line.type === "assistant";
      if (!isLast && !isFull && (line.unanswered > 0 || mayGrow)) return;
      this.#held.shift();
      const blocks = line.blocks.splice(0); // Results for these calls now come too late.
      for (const { json } of blocks) this.#heldChars -= json.length;
      this.report.unanswered += line.unanswered;
      if (blocks.length > 0 || line.usage !== null) yield this.#lineText(line, blocks);
    }
  }

  #lineText({ type, ts, id, usage }: Line, blocks: readonly Block[]): string {
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

/** Maps a part to a block; null if no block can hold it. */
function blockIn(part: Part): object | null {
  try {
    return blockOf(part);
  } catch {
    return null; // Stays in its own log; other readers cannot use it.
  }
}

/** A tool's output and error as text, the only form in this format. */
function resultText(output: unknown, error: string | null): string {
  const text = outputText(output);
  if (error === null || text.includes(error)) return text;
  return text === "" ? error : `${text}\n\n${error}`;
}

function outputText(output: unknown): string {
  if (output === null || output === undefined) return "";
  return blockText(output) || (typeof output === "string" ? "" : compactJson(output));
}

/** How many blocks of an output are not text. */
function blocksBesideText(output: unknown): number {
  if (!Array.isArray(output) || blockText(output) === "") return 0;
  return output.filter((block) => !isObject(block) || get(block, "type") !== "text").length;
}
