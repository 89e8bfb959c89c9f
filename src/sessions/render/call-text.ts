/**
 * Call text: a tool call and its result for a terminal or a pipe: one line (tool-call.ts), and below
 * it, indented, what it changed, planned or printed.
 */

import type { ToolView } from "../../core/model/tool-view.ts";
import { changesIn, type Numbers, numberedChanges, SIGNS, type ValueChanges } from "./changes.ts";
import { isHunkHead, type NumberedLine } from "./html/diff-lines.ts";
import type { Paint } from "./paint.ts";
import { durationOf, groupDigits, inlineText, isEmpty } from "./phrases.ts";
import {
  blockLabel,
  blockTexts,
  FOLD_CHARS_MAX,
  FOLD_LINES_MAX,
  indentedJson,
  lineCount,
} from "./text.ts";
import {
  type CallWords,
  callInput,
  callOutput,
  callWords,
  failedText,
  type ShownCall,
  type Step,
} from "./tool-call.ts";

export interface CallTextOptions {
  /** Show inputs and outputs; otherwise only the names of tools. */
  readonly tools: boolean;
  /** Fold what is long, and leave out what is seldom asked for. */
  readonly isFolded: boolean;
  /** Results may still come. */
  readonly isLive?: boolean;
  /** The directory that paths are relative to, once it is known. */
  readonly project: () => string | null;
}

const MARK = "▸";
const INDENT = "    ";
/** The last lines that are shown of a command's long output. */
const COMMAND_LINES = 20;
const BOXES: Readonly<Record<Step["state"], string>> = {
  finished: "[x]",
  current: "[>]",
  waiting: "[ ]",
  dropped: "[-]",
};

/** Calls whose input says more than their line. */
const ASKED: readonly ToolView["kind"][] = ["agent", "plan", "mcp", "other"];

export class CallText {
  readonly #paint: Paint;
  readonly #options: CallTextOptions;

  constructor(paint: Paint, options: CallTextOptions) {
    this.#paint = paint;
    this.#options = options;
  }

  of(call: ShownCall): string {
    const { tools, project } = this.#options;
    if (!tools) return `${MARK} ${this.#line(call.call?.tool ?? call.view.verb, "verb")}\n`;
    const below = [...this.#input(call), ...this.#output(call)];
    const row = this.#row(call, callWords(call, project()));
    return [row, ...below].map((line) => `${line}\n`).join("");
  }

  /** Text of a transcript that must stay on one line. */
  #line(text: string, look?: Parameters<Paint["text"]>[1]): string {
    return this.#paint.text(inlineText(text), look);
  }

  #row({ view, result }: ShownCall, words: CallWords): string {
    const { verb, subject, path, lines, added, removed, note, failure, tookMs } = words;
    const place = path === null ? null : `${path}${lines === null ? "" : `:${lines}`}`;
    const file = place === null ? null : this.#line(place, "place");
    const subjectText = subject === null ? null : this.#line(subject);
    const facts = [note, result === null && !this.#options.isLive ? "no result" : null];
    return [
      `${MARK} ${this.#line(verb, "verb")}`,
      ...(view.kind === "search" ? [subjectText, file] : [file, subjectText]),
      added === 0 ? null : this.#paint.text(`+${groupDigits(added)}`, "new"),
      removed === 0 ? null : this.#paint.text(`−${groupDigits(removed)}`, "gone"),
      ...facts.map((fact) => (fact === null ? null : this.#line(`(${fact})`, "faint"))),
      failure === null ? null : this.#line(failure, "failed"),
      tookMs === null ? null : this.#paint.text(durationOf(tookMs), "faint"),
    ]
      .filter((each) => each !== null)
      .join(" ");
  }

  #input(call: ShownCall): string[] {
    const { isFolded } = this.#options;
    const input = callInput(call);
    if (input === null) return [];
    if (input.type === "plan") {
      return input.steps.map(({ text, state }) => {
        const look = state === "current" ? "strong" : state === "waiting" ? "same" : "faint";
        return `${INDENT}${this.#line(`${BOXES[state]} ${text}`, look)}`;
      });
    }
    if (input.type === "changes") {
      const rest = isFolded ? [] : this.#fields(input.changes.rest);
      return [...rest, ...this.#diff(input.changes, input.numbers)];
    }
    const { fields, text } = input;
    // What the line does not say of a well-known call: how many milliseconds it may take.
    const isSaid = isFolded && !ASKED.includes(call.view.kind);
    const rest = isSaid ? longFields(fields) : fields;
    return [...this.#fields(rest), ...(text === null ? [] : this.#indented(text))];
  }

  /** An input field by field; what is not an object as it is. */
  #fields(value: unknown): string[] {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return isEmpty(value) ? [] : this.#indented(valueText(value));
    }
    return Object.entries(value).flatMap(([name, field]) => {
      const text = valueText(field);
      if (!text.includes("\n")) return this.#indented(`${name}: ${text}`);
      return [
        `${INDENT}${this.#line(`${name}:`)}`,
        ...this.#indented(text).map((line) => INDENT + line),
      ];
    });
  }

  #output(call: ShownCall): string[] {
    const { view, result } = call;
    if (result === null) return [];
    const { error, output, text, isMinor } = callOutput(call, result.part);
    const { isFolded } = this.#options;
    const failed = error === null ? [] : this.#failed(error);
    if (output === null) return failed;
    if (result.part.error !== null) return [...failed, ...this.#failed(valueText(output))];
    if (isFolded && (isMinor || (view.kind === "read" && text !== null))) return [];
    const diff = changesIn(output);
    if (diff !== null) return this.#diff(diff);
    return this.#indented(valueText(output), view.kind === "command" ? "end" : "start");
  }

  #failed(text: string): string[] {
    const parts = this.#options.isFolded ? failedText(text) : null;
    if (parts === null) return this.#indented(text);
    const between = this.#more(parts.betweenLines, "more line");
    return [...this.#indented(parts.first), ...between, ...this.#indented(parts.last)];
  }

  #diff(changes: ValueChanges, numbers?: Numbers): string[] {
    const lines = numberedChanges(changes, numbers).flatMap((change) => {
      // The numbers of the lines say what the first head says.
      const isSaid = change[0]?.kind === "place" && isHunkHead(change[0].text);
      return change.slice(isSaid ? 1 : 0);
    });
    const rows = this.#options.isFolded ? lines.slice(0, FOLD_LINES_MAX) : lines;
    const last = rows.reduce((most, { number }) => Math.max(most, number ?? 0), 0);
    const width = last === 0 ? 0 : String(last).length;
    const diffRows = rows.map((line) => `${INDENT}${this.#diffLine(line, width)}`);
    return [...diffRows, ...this.#more(lines.length - rows.length, "more line")];
  }

  #diffLine({ kind, text, number }: NumberedLine, width: number): string {
    const place = width === 0 ? "" : `${String(number ?? "").padStart(width)} `;
    const visibleText = this.#options.isFolded ? text.slice(0, FOLD_CHARS_MAX) : text;
    return `${this.#paint.text(place, "faint")}${this.#line(`${SIGNS[kind]}${visibleText}`, kind)}`;
  }

  /** A text below the line; a long one from its start, or its last lines. */
  #indented(text: string, from: "start" | "end" = "start"): string[] {
    const whole = text.replace(/\s+$/, "");
    if (whole === "") return [];
    const count = lineCount(whole);
    const max = from === "end" ? COMMAND_LINES : FOLD_LINES_MAX;
    const isCut = this.#options.isFolded && count > FOLD_LINES_MAX;
    const all = isCut ? whole.split("\n") : [];
    const lines = isCut ? (from === "end" ? all.slice(-max) : all.slice(0, max)).join("\n") : whole;
    const isLong = this.#options.isFolded && lines.length > FOLD_CHARS_MAX;
    const outputText = this.#paint.output(isLong ? lines.slice(0, FOLD_CHARS_MAX) : lines);
    const rows = outputText.split("\n").map((line) => INDENT + line);
    const word = from === "end" ? "earlier line" : "more line";
    const cut = isCut ? this.#more(count - max, word) : [];
    const rest = isLong ? this.#more(lines.length - FOLD_CHARS_MAX, "more character") : [];
    return from === "end" ? [...cut, ...rows, ...rest] : [...rows, ...rest, ...cut];
  }

  #more(count: number, what: string): string[] {
    if (count <= 0) return [];
    const words = `… ${groupDigits(count)} ${what}${count === 1 ? "" : "s"}`;
    return [`${INDENT}${this.#paint.text(words, "faint")}`];
  }
}

/** A value as text: texts and images as providers write them, else JSON. */
function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  return blockTexts(value)?.join("\n") ?? blockLabel(value) ?? indentedJson(value ?? null);
}

/** The fields with a text of several lines, such as a script. */
function longFields(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const isLong = (field: unknown) => typeof field === "string" && field.trim().includes("\n");
  return Object.fromEntries(Object.entries(value).filter(([, field]) => isLong(field)));
}
