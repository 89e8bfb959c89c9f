/**
 * Session text: a session for a terminal or a pipe, piece by piece.
 *
 * It shows what the page shows (shown-entry.ts, tool-call.ts): who speaks, calls in one line each
 * with what they changed or printed below, and what a turn took.
 *
 * - A terminal gets long outputs folded (FOLD_LINES_MAX), and no output that its row says already.
 *   A pipe gets all of it.
 * - An entry with nothing to show is "" and is counted if nothing else tells of it.
 */

import type { Entry, Part } from "../../core/model/entry.ts";
import { typedText } from "../../dialects/shared/typed-text.ts";
import { CallText } from "./call-text.ts";
import { CallPlaces, CallResults } from "./html/call-results.ts";
import type { PlacedEntry } from "./html/placed-entry.ts";
import { Paint } from "./paint.ts";
import {
  blockName,
  erasureText,
  factLine,
  groupDigits,
  inlineText,
  lengthOf,
  moneyOf,
  secondOf,
  speakerName,
  usageText,
} from "./phrases.ts";
import {
  entryName,
  type Places,
  programsWords,
  shownCall,
  stopNote,
  withSpeaker,
} from "./shown-entry.ts";
import { colourMarkdown } from "./terminal.ts";
import { mediaLabel, safeText } from "./text.ts";
import { WaitingPieces } from "./waiting-pieces.ts";

export interface SessionTextOptions {
  /** Show the model's thinking. */
  readonly thinking: boolean;
  /** Show inputs and outputs of tools; otherwise only their names. */
  readonly tools: boolean;
  readonly hasColour: boolean;
  /** Fold what is long. */
  readonly isFolded: boolean;
  /** Results may still come. */
  readonly isLive?: boolean;
  /** The directory that paths are relative to, once it is known. */
  readonly project: () => string | null;
}

/** What answering a prompt took. */
export interface TurnFacts {
  readonly at: string | null;
  readonly until: string | null;
  readonly tokens: number | null;
  readonly spend: number | null;
  readonly calls: number;
  readonly failures: number;
}

export class SessionText {
  readonly #options: SessionTextOptions;
  readonly #paint: Paint;
  readonly #callText: CallText;
  readonly #calls = new CallPlaces();
  readonly #results = new CallResults();
  readonly #places: Places;
  readonly #pieces = new WaitingPieces(this.#results, (entry) => this.#textOf(entry));
  /** Who spoke last, and as which model. */
  #speaker: string | null = null;
  #model: string | null = null;
  /** What the last text was: a call is directly below another one. */
  #last: "none" | "call" | "other" = "none";
  /** Entries so far with nothing to show. */
  unshown = 0;

  constructor(options: SessionTextOptions, places: Places) {
    this.#options = options;
    this.#paint = new Paint(options.hasColour);
    this.#callText = new CallText(this.#paint, options);
    this.#places = places;
  }

  /** The next entry. Returns what can be printed by now. */
  add(entry: PlacedEntry): string {
    return this.#pieces.add(entry);
  }

  /** A turn is over: nothing if it has no facts. */
  turn(facts: TurnFacts): string {
    const words = turnWords(facts);
    return words === null ? "" : this.#pieces.addText(`\n${this.#paint.text(words, "faint")}\n`);
  }

  /** What still waits for results. */
  end(): string {
    return this.#pieces.end();
  }

  #textOf(placed: PlacedEntry): string {
    const entry = withSpeaker(placed);
    switch (entry.kind) {
      case "start":
        return this.#block(this.#note(["Started", entry.model, secondOf(entry.at)]));
      case "turn_start":
      case "turn_end":
        return "";
      case "end":
        return this.#end(entry);
      case "message":
      case "other":
        return this.#message(entry);
    }
  }

  #message(entry: PlacedEntry): string {
    const parts = entry.parts.map((part, index) => this.#part(part, index, entry));
    const texts = parts.filter(({ text }) => text !== "");
    if (texts.length === 0) {
      // Results are shown with their calls.
      const isPaired = entry.parts.some(({ type }) => type === "tool_result");
      if (entry.kind === "other" && !isPaired) this.unshown++;
      return "";
    }
    const isResult = entry.parts.every(({ type }) => type === "tool_result");
    const stopped = stopNote(entry);
    const note = stopped === null ? "" : this.#block(this.#note([stopped]));
    let text = isResult ? "" : this.#heading(entry);
    for (const part of texts) text += part.isCall ? this.#call(part.text) : this.#block(part.text);
    return text + note;
  }

  #part(part: Part, index: number, entry: PlacedEntry): { text: string; isCall: boolean } {
    if (part.type !== "tool_call" && part.type !== "tool_result") {
      return { text: this.#words(part, entry), isCall: false };
    }
    const pageParts = {
      calls: this.#calls,
      results: this.#results,
      places: this.#places,
      href: "",
    };
    const isHidden = part.type === "tool_result" && !this.#options.tools;
    const call = isHidden ? null : shownCall(part, index, entry, pageParts);
    return { text: call === null ? "" : this.#callText.of(call), isCall: true };
  }

  #words(part: Exclude<Part, CallOrResult>, entry: PlacedEntry): string {
    switch (part.type) {
      case "text":
        return this.#speech(part.text, entry);
      case "reasoning":
        return this.#options.thinking ? `${this.#note(["Thinking:"])}\n${safeText(part.text)}` : "";
      case "child":
        return this.#note([`Began ${part.session}`, part.agent]);
      case "image":
      case "file":
        return this.#note([mediaLabel(part)]);
      case "other":
        return this.#note([otherWords(part.native)]);
    }
  }

  #speech(text: string, { role, saidBy }: Entry): string {
    const { isFolded, hasColour } = this.#options;
    if (text.trim() === "") return this.#note(["An empty text"]);
    if (saidBy === "program" && programsWords(text) === "") return "";
    if (saidBy === "program" || role === "tool") return this.#folded(text);
    const typed = isFolded && role === "user" && saidBy === undefined ? typedText(text) : text;
    if (saidBy !== undefined || role === "system" || typed === null) return this.#folded(text);
    const safe = safeText(typed.trim().replaceAll("\r\n", "\n"));
    return hasColour ? colourMarkdown(safe) : safe;
  }

  /** Text that no person and no model says in this conversation. */
  #folded(text: string): string {
    const lines = this.#paint.output(text.trim()).split("\n");
    const more = lines.length - ASIDE_LINES;
    if (!this.#options.isFolded || more <= 0) return lines.join("\n");
    const count = `… ${groupDigits(more)} more line${more === 1 ? "" : "s"}`;
    return [...lines.slice(0, ASIDE_LINES), this.#paint.text(count, "faint")].join("\n");
  }

  /** Nothing where the same one continues. */
  #heading(entry: PlacedEntry): string {
    const { role, model, at, isPartial } = entry;
    const speaker = role === null ? entryName(entry) : speakerName(entry);
    const isSame = speaker === this.#speaker && (model === null || model === this.#model);
    const goesOn = isSame && role === "assistant" && isPartial === undefined;
    this.#speaker = speaker;
    if (goesOn) return "";
    const modelName = model === this.#model ? null : model;
    this.#model = model ?? this.#model;
    const facts = [speaker, modelName, secondOf(at), isPartial ? "broke off" : null];
    return this.#block(this.#paint.text(`## ${factLine(facts)}`, "speaker"));
  }

  #end({ outcome, error, usage, at }: Entry): string {
    const isFailed = outcome === "error";
    const facts = factLine([isFailed ? "Failed" : "Completed", usageText(usage), secondOf(at)]);
    const line = this.#block(this.#paint.text(`## ${facts}`, isFailed ? "failed" : "speaker"));
    if (!error) return line;
    return (
      line + this.#block(this.#folded(`${inlineText(error.code) || "Error"}: ${error.detail}`))
    );
  }

  #note(facts: readonly (string | null)[]): string {
    return this.#paint.text(factLine(facts), "faint");
  }

  /** A text with a blank line before it. */
  #block(text: string): string {
    return `${this.#gap("other")}${text}\n`;
  }

  #call(text: string): string {
    return this.#last === "call" ? text : `${this.#gap("call")}${text}`;
  }

  #gap(next: "call" | "other"): string {
    const isFirst = this.#last === "none";
    this.#last = next;
    return isFirst ? "" : "\n";
  }
}

type CallOrResult = Extract<Part, { type: "tool_call" | "tool_result" }>;

/** Lines of a program's text that a terminal shows. */
const ASIDE_LINES = 4;

function otherWords(native: unknown): string {
  return erasureText(native) ?? `${blockName(native)}, not shown here`;
}

function turnWords({ at, until, tokens, spend, calls, failures }: TurnFacts): string | null {
  const counted = (count: number, what: string) => {
    return count === 0 ? null : `${groupDigits(count)} ${what}${count === 1 ? "" : "s"}`;
  };
  if (tokens === null && spend === null) return null;
  return factLine([
    "Turn",
    lengthOf(Date.parse(until ?? "") - Date.parse(at ?? "")),
    tokens === null ? null : counted(tokens, "token"),
    spend === null ? null : moneyOf(spend),
    counted(calls, "call"),
    failures === 0 ? null : `${groupDigits(failures)} failed`,
  ]);
}
