/**
 * Call HTML: a tool call and its result as one row, which unfolds.
 *
 * - The row says what the call does in words for people (model/tool-view.ts), how long it took and
 *   whether it failed. A failed one is unfolded, with the last FAILED_LINES of what it printed.
 * - Nothing is left out: input and output are below the row, in full.
 * - A lazy row has nothing below it while it is folded; `callInside` makes that when it is unfolded.
 */

import type { Part } from "../../../core/model/entry.ts";
import type { ToolView } from "../../../core/model/tool-view.ts";
import { durationOf, groupDigits, isEmpty } from "../phrases.ts";
import { blockTexts, imageLabel } from "../text.ts";
import { plainTerminal } from "./ansi-html.ts";
import type { PlacedResult, ResultPart } from "./call-results.ts";
import {
  changesIn,
  recordedChanges,
  shownChanges,
  shownDiffOf,
  type ValueChanges,
} from "./diff-html.ts";
import { markdownHtml } from "./markdown-html.ts";
import { type Html, html } from "./markup.ts";
import { anchorOf, type ResultView } from "./placed-entry.ts";
import { planHtml, planIn, planNote } from "./plan-html.ts";
import {
  inputValueHtml,
  plainValueHtml,
  shownLines,
  sourceHtml,
  type ValueHtml,
  valueHtml,
} from "./value-html.ts";

export type CallPart = Extract<Part, { type: "tool_call" }>;

/** Lines of a failed call's output that are shown at first. */
export const FAILED_LINES = 20;

/** A call, or a result whose call is elsewhere. */
export interface ShownCall {
  readonly view: ToolView;
  /** Null for a result by itself. */
  readonly call: CallPart | null;
  readonly result: PlacedResult | null;
  /** When the call was made. */
  readonly at: string | null;
  /** The part's number in its entry. */
  readonly index: number;
  /** What else is known of the result. */
  readonly about: ResultView | null;
  /** The first lines of an edit's changes, as far as the session shows them. */
  readonly places: readonly (number | null)[];
  /** Link to the call, for a result by itself. */
  readonly href: string | null;
}

export interface CallOptions {
  /** The directory that paths are relative to; null: none. */
  readonly project: string | null;
  readonly isLazy: boolean;
  /** Show inputs and outputs. */
  readonly tools: boolean;
}

/** One row. */
export function callHtml(shown: ShownCall, options: CallOptions): Html {
  const { view, result, index } = shown;
  const isFailed = result !== null && result.part.error !== null;
  const kind = html`kind-${view.kind.replace("_", "-")}`;
  const state = isFailed ? html` failed` : result === null ? html` open-ended` : null;
  if (!options.tools) {
    const name = shown.call?.tool ?? view.verb;
    return html`<p class="call ${kind}"><span class="icon"></span><span class="verb">${name}</span></p>\n`;
  }
  const isOpen = isFailed || view.kind === "plan" || hasImage(result?.part.output);
  const inside = isOpen || !options.isLazy ? callInside(shown, options) : null;
  const open = isOpen ? html` open` : null;
  // Links to the result's entry lead here, if that has no place of its own.
  const isAll = shown.call !== null && result?.index === 0;
  const id = isAll ? html` id="${anchorOf(result.line, result.start)}"` : null;
  const attributes = html`class="call ${kind}${state}" data-part="${index}"${id}${open}`;
  const line = lineHtml(shown, options);
  return html`<details ${attributes}><summary>${line}</summary>${inside}</details>\n`;
}

function lineHtml(shown: ShownCall, { project }: CallOptions): Html {
  const { view, call, result, href } = shown;
  const { verb, subject, path } = view;
  const changes = changesOf(shown);
  const said = subject === null ? null : html` <span class="subject">${quoted(view)}</span>`;
  const file = path === null ? null : html` ${pathHtml(path, project, linesOf(shown))}`;
  const parts = view.kind === "search" ? html`${said}${file}` : html`${file}${said}`;
  const tally = changes === null ? null : tallyHtml(changes);
  const plan = call === null ? null : planNote(planIn(call.input));
  const noted = plan ?? (result === null ? null : resultNote(view, result.part));
  const note = noted === null ? null : html` <span class="note">${noted}</span>`;
  const took = tookOf(shown.at, result);
  const time =
    took === null || took < 1 ? null : html` <span class="took">${durationOf(took)}</span>`;
  const from = href === null ? null : html` <a class="to-call" href="${href}">call</a>`;
  const title = call === null ? null : html` title="${call.tool}"`;
  const name = html`<span class="icon"></span><span class="verb"${title}>${verb}</span>`;
  return html`${name}${parts}${tally}${note}${stateHtml(shown)}${from}${time}`;
}

function quoted({ kind, subject }: ToolView): string {
  const said = plainTerminal(subject ?? "");
  return kind === "search" || kind === "web_search" ? `"${said}"` : said;
}

const STATE_CHARS_MAX = 40;

function stateHtml({ result }: ShownCall): Html | null {
  if (result === null) return html` <span class="note">no result</span>`;
  const { error } = result.part;
  if (error === null) return null;
  return html` <span class="state">${isShort(error) ? error : "failed"}</span>`;
}

function isShort(error: string): boolean {
  return error.length <= STATE_CHARS_MAX && !error.includes("\n");
}

function changesOf({ view, call }: ShownCall): ValueChanges | null {
  if (call === null || (view.kind !== "edit" && view.kind !== "write")) return null;
  return changesIn(call.input, view.kind === "write");
}

function tallyHtml({ added, removed }: ValueChanges): Html {
  const plus = added === 0 ? null : html` <span class="plus">+${groupDigits(added)}</span>`;
  const minus = removed === 0 ? null : html` <span class="minus">−${groupDigits(removed)}</span>`;
  return html`${plus}${minus}`;
}

/** Line numbers at the start of the lines of a file, as some tools print it. */
const PRINTED = /^ *(\d{1,9})(?:→|\t)/;

/** The lines that were read: as asked for, or as the result has them. */
function linesOf({ view, result, about }: ShownCall): string | null {
  if (view.kind !== "read" || (result !== null && result.part.error !== null)) return null;
  const text = result === null ? null : readText(result.part.output, about);
  const [from, to] = view.lines ?? [1, null];
  if (text === null || text === "") return view.lines === null ? null : `${from}–${to ?? ""}`;
  const lines = text.trimEnd().split("\n");
  const first = Number(PRINTED.exec(lines[0] ?? "")?.[1] ?? from);
  const count = lines.filter((line) => PRINTED.test(line)).length || lines.length;
  const last = first + count - 1;
  return `${first}–${to === null ? last : Math.min(to, last)}`;
}

/** The text of a file that was read. */
function readText(output: unknown, about: ResultView | null): string | null {
  return outputText(output)?.slice(about?.textAt ?? 0) ?? null;
}

/** What is below the row: the input and the output. */
export function callInside(shown: ShownCall, options: CallOptions): Html {
  const { call, result } = shown;
  const input = call === null ? null : inputHtml(shown, call, options);
  return html`<div class="inside">${input}${result === null ? null : resultHtml(shown, result.part)}</div>`;
}

function inputHtml(shown: ShownCall, call: CallPart, { project }: CallOptions): Html | null {
  const { view, result } = shown;
  const changes = changesOf(shown);
  if (changes !== null) {
    const file = view.path === null ? null : pathHtml(view.path, project, null);
    const answer = result === null ? null : outputText(result.part.output);
    const diff = view.kind === "edit" ? (shown.about?.diff ?? null) : null;
    const all = diff === null ? changes : recordedChanges(changes, diff);
    const fields = Object.entries(all.rest).filter(([, value]) => value !== view.path);
    const made = { ...all, rest: Object.fromEntries(fields) }; // The path is above the diff.
    const { places } = shown;
    return html`<div class="input">${shownChanges(made, file, { places, answer }).html}</div>`;
  }
  const plan = planIn(call.input);
  if (view.kind === "plan" && plan !== null) return planHtml(plan);
  const rest = unsaid(view, call.input);
  if (isEmpty(rest)) return null;
  const json = view.kind === "other" || view.kind === "mcp" ? jsonHtml(call.input) : null;
  return html`<div class="input">${askedHtml(view, rest)}${json}</div>`;
}

/** The input without what the row says; a command in words as the text that a shell runs. */
function unsaid({ kind, subject, path }: ToolView, input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return input === subject ? null : input;
  }
  const fields = Object.entries(input).map(([name, value]): [string, unknown] => {
    return [name, kind === "command" && Array.isArray(value) ? commandOf(value) : value];
  });
  const isSaid = (value: unknown) => value === subject || value === path;
  return Object.fromEntries(fields.filter(([, value]) => value === null || !isSaid(value)));
}

function commandOf(words: readonly unknown[]): unknown {
  if (!words.every((word) => typeof word === "string")) return words;
  return words.length === 3 && /^-\w*c$/.test(words[1] ?? "") ? words[2] : words.join(" ");
}

/** Texts in Markdown, for a subagent or a reader; other fields as they are. */
function askedHtml({ kind }: ToolView, input: unknown): Html {
  const name = kind === "agent" ? "prompt" : kind === "plan" ? "plan" : null;
  const fields = typeof input === "object" && input !== null ? { ...input } : {};
  const text = name === null ? undefined : (fields as Record<string, unknown>)[name];
  if (name === null || typeof text !== "string") return inputValueHtml(input).html;
  delete (fields as Record<string, unknown>)[name];
  const rest = isEmpty(fields) ? null : inputValueHtml(fields).html;
  return html`${rest}<div class="text">${markdownHtml(text).html}</div>`;
}

function jsonHtml(input: unknown): Html | null {
  if (typeof input !== "object") return null;
  const { html: json } = valueHtml(input);
  return html`<details class="source"><summary>JSON</summary>${json}</details>`;
}

function resultHtml(call: ShownCall, { output, error }: ResultPart): Html | null {
  const { view, about } = call;
  const said = outputText(output);
  // Some repeat the output as the error.
  const isSame = error !== null && said !== null && said.trim() === error.trim();
  const failed =
    error === null || isSame || (isShort(error) && !isEmpty(output))
      ? null
      : html`<div class="error">${tailHtml(error)}</div>`;
  if (isEmpty(output)) return failed;
  if (error !== null && said !== null) {
    return html`${failed}<div class="${isSame ? "error" : "output"}">${tailHtml(said)}</div>`;
  }
  const { html: shown } = outputShown(
    view,
    output,
    view.kind === "read" ? readText(output, about) : said,
  );
  if ((view.kind === "plan" || changesOf(call) !== null) && failed === null) {
    return html`<details class="source said"><summary>Output</summary>${shown}</details>`;
  }
  return html`${failed}<div class="output">${shown}</div>`;
}

/** Kinds whose answers are written for people. */
const SAID: readonly ToolView["kind"][] = ["agent", "fetch", "web_search", "mcp", "other"];
const MARKDOWN = /^(?:#{1,6} \S|```|\s{0,3}[-*] \S|\d{1,3}\. \S|\|.+\||> )|\*\*[^*\n]+\*\*/m;
const LOOKED_AT = 4000;

function outputShown(view: ToolView, output: unknown, said: string | null): ValueHtml {
  const { kind } = view;
  const read = kind === "read" && said !== null ? shownLines(said, view.lines?.[0] ?? 1) : null;
  if (read !== null) return read;
  const diff = shownDiffOf(output);
  if (diff !== null) return diff;
  if (said !== null && SAID.includes(kind) && MARKDOWN.test(said.slice(0, LOOKED_AT))) {
    const { html: markdown, isFormatted } = markdownHtml(said);
    const source = isFormatted ? sourceHtml(said) : null;
    return { html: html`<div class="text">${markdown}</div>${source}`, text: said };
  }
  return valueHtml(output);
}

/** The last lines of a text, and the ones before them folded. */
function tailHtml(text: string): Html {
  const lines = text.trimEnd().split("\n");
  const before = lines.length - FAILED_LINES;
  if (before <= 0) return plainValueHtml(text).html;
  const words = html`${groupDigits(before)} earlier ${before === 1 ? "line" : "lines"}`;
  const earlier = plainValueHtml(lines.slice(0, before).join("\n")).html;
  const last = plainValueHtml(lines.slice(before).join("\n")).html;
  return html`<details class="earlier"><summary>${words}</summary>${earlier}</details>${last}`;
}

/** `lines`: the part of the file, such as `1–91`. */
function pathHtml(path: string, project: string | null, lines: string | null): Html {
  const shown = relativePath(path, project);
  const cut = Math.max(shown.lastIndexOf("/"), shown.lastIndexOf("\\")) + 1;
  const folder = cut === 0 ? null : html`<span class="folder">${shown.slice(0, cut)}</span>`;
  const name = html`<span class="name">${shown.slice(cut)}${lines === null ? null : `:${lines}`}</span>`;
  return html`<span class="path" title="${path}">${folder}${name}</span>`;
}

/** A path inside the project without the project; any other as it is. */
function relativePath(path: string, project: string | null): string {
  const root = (project ?? "").replace(/[/\\]+$/, "");
  if (root === "" || !path.startsWith(root)) return path;
  if (path.length === root.length) return ".";
  return /[/\\]/.test(path.charAt(root.length)) ? path.slice(root.length + 1) || "." : path;
}

/** A longer time is not one call's: the session was left and continued. */
const TOOK_MAX_MS = 24 * 3600 * 1000;

/** Whether an output has a picture. */
function hasImage(output: unknown): boolean {
  return Array.isArray(output)
    ? output.some((block) => imageLabel(block) !== null)
    : imageLabel(output) !== null;
}

/** The text of an output; null when it is not a text, or has a picture. */
function outputText(output: unknown): string | null {
  if (typeof output === "string") return output;
  if (hasImage(output)) return null;
  return blockTexts(output)?.join("\n") ?? null;
}

/** Milliseconds as recorded, or between the two lines; null if unknown. */
function tookOf(called: string | null, result: PlacedResult | null): number | null {
  if (result === null) return null;
  if (result.part.durationMs !== null) return result.part.durationMs;
  const ms = Date.parse(result.at ?? "") - Date.parse(called ?? "");
  return ms >= 0 && ms <= TOOK_MAX_MS ? ms : null; // Not NaN.
}

/** Null when there is nothing to add to the call's own words. */
function resultNote({ kind }: ToolView, { output, error }: ResultPart): string | null {
  if (error !== null || (kind !== "search" && kind !== "list")) return null;
  const text = outputText(output)?.trim() ?? null;
  if (text === null) return null;
  const [, found, what] = /^Found (\d{1,9}) (files?|matches|match|lines?)\b/.exec(text) ?? [];
  if (found !== undefined) return `${groupDigits(Number(found))} ${what}`;
  if (text === "" || /^No (?:files|matches)\b[^\n]*$/i.test(text)) return "nothing found";
  const lines = text.split("\n");
  const count = groupDigits(lines.length);
  const areFiles = kind === "search" && lines.every((line) => /^[^\s:]*[/.][^\s:]*$/.test(line));
  const name = areFiles ? "file" : kind === "list" ? "entry" : "line";
  if (lines.length === 1) return `1 ${name}`;
  return `${count} ${name === "entry" ? "entries" : `${name}s`}`;
}
