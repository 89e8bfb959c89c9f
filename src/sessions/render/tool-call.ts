/**
 * Tool call: what is shown of a tool call and its result, in HTML and on a terminal.
 *
 * The row says what the call does in words for people (model/tool-view.ts), how long it took and
 * whether it failed. Below it are its input, without what the row says, and its output.
 */

import type { Part } from "../../core/model/entry.ts";
import { mediaIn } from "../../core/model/media.ts";
import type { ToolView } from "../../core/model/tool-view.ts";
import { changesIn, type Numbers, recordedChanges, type ValueChanges } from "./changes.ts";
import type { PlacedResult, ResultPart } from "./html/call-results.ts";
import type { ResultView } from "./html/placed-entry.ts";
import { groupDigits, isEmpty } from "./phrases.ts";
import { looksIn, plainTerminal } from "./program-output.ts";
import { blockTexts } from "./text.ts";

export type CallPart = Extract<Part, { type: "tool_call" }>;

/** Of a failed call's output: what it says first, and how it ends. */
export const FAILED_FIRST_LINES = 8;
export const FAILED_LAST_LINES = 12;

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

/** The words of a row. */
export interface CallWords {
  readonly verb: string;
  /** What it is about; in quotes if that is searched for. */
  readonly subject: string | null;
  /** The file, relative to the project if it is inside. */
  readonly path: string | null;
  /** The part of the file that was read, such as `1–91`. */
  readonly lines: string | null;
  /** Lines that it changes in files. */
  readonly added: number;
  readonly removed: number;
  readonly note: string | null;
  /** Why it failed in a word or two; null if it did not. */
  readonly failure: string | null;
  /** Null if unknown, or too short to tell. */
  readonly tookMs: number | null;
}

export function callWords(shownCall: ShownCall, project: string | null): CallWords {
  const { view, call, result } = shownCall;
  const { added = 0, removed = 0 } = changesOf(shownCall) ?? {};
  const plan = call === null ? null : planNote(planIn(call.input));
  const error = result?.part.error ?? null;
  const took = tookOf(shownCall.at, result);
  return {
    verb: view.verb,
    subject: view.subject === null ? null : quoted(view),
    path: view.path === null ? null : relativePath(view.path, project),
    lines: linesOf(shownCall),
    added,
    removed,
    note: plan ?? (result === null ? null : resultNote(view, result.part)),
    failure: error === null ? null : isShort(error) ? error : "failed",
    tookMs: took === null || took < 1 ? null : took,
  };
}

/** What is shown of an input. */
export type CallInput =
  | { readonly type: "changes"; readonly changes: ValueChanges; readonly numbers: Numbers }
  | { readonly type: "plan"; readonly steps: readonly Step[] }
  /** `text`: in Markdown, for a subagent or a reader. */
  | { readonly type: "fields"; readonly fields: unknown; readonly text: string | null };

/** Null if the row says all of it. */
export function callInput(shownCall: ShownCall): CallInput | null {
  const { view, call, result } = shownCall;
  if (call === null) return null;
  const changes = changesOf(shownCall);
  if (changes !== null) {
    const answer = result === null ? null : outputText(result.part.output);
    const diff = view.kind === "edit" ? (shownCall.about?.diff ?? null) : null;
    const all = diff === null ? changes : recordedChanges(changes, diff);
    const fields = Object.entries(all.rest).filter(([, value]) => value !== view.path);
    const made = { ...all, rest: Object.fromEntries(fields) }; // The path is in the row.
    return { type: "changes", changes: made, numbers: { places: shownCall.places, answer } };
  }
  const plan = planIn(call.input);
  if (view.kind === "plan" && plan !== null) return { type: "plan", steps: plan };
  const rest = unsaid(view, call.input);
  if (isEmpty(rest)) return null;
  const name = view.kind === "agent" ? "prompt" : view.kind === "plan" ? "plan" : "";
  const { [name]: text, ...fields } = typeof rest === "object" ? ({ ...rest } as Fields) : {};
  if (typeof text !== "string") return { type: "fields", fields: rest, text: null };
  return { type: "fields", fields: isEmpty(fields) ? null : fields, text };
}

type Fields = Readonly<Record<string, unknown>>;

/** What is shown of a result. */
export interface CallOutput {
  /** Null if the row says it, or the output. */
  readonly error: string | null;
  /** Null if it is empty. */
  readonly output: unknown;
  /** The output as text, if it is one. */
  readonly text: string | null;
  /** The output repeats the error. */
  readonly isError: boolean;
  /** The row and the input say all of it. */
  readonly isMinor: boolean;
}

export function callOutput(call: ShownCall, { output, error }: ResultPart): CallOutput {
  const text = outputText(output);
  // Some repeat the output as the error.
  const isError = error !== null && text !== null && text.trim() === error.trim();
  const isSaid = isError || (error !== null && isShort(error) && !isEmpty(output));
  const isMinor = error === null && (call.view.kind === "plan" || changesOf(call) !== null);
  const outcome = { error: isSaid ? null : error, text, isError, isMinor };
  return { ...outcome, output: isEmpty(output) ? null : output };
}

export interface FailedText {
  readonly first: string;
  readonly between: string;
  readonly betweenLines: number;
  readonly last: string;
}

/** Each in the colours that the text before it has set; null if all lines are shown. */
export function failedText(text: string): FailedText | null {
  const lines = text.trimEnd().split("\n");
  const lastAt = lines.length - FAILED_LAST_LINES;
  const betweenLines = lastAt - FAILED_FIRST_LINES;
  if (betweenLines <= 0) return null;
  const first = lines.slice(0, FAILED_FIRST_LINES).join("\n");
  const between = looksIn(first) + lines.slice(FAILED_FIRST_LINES, lastAt).join("\n");
  const last = looksIn(between) + lines.slice(lastAt).join("\n");
  return { first, between, betweenLines, last };
}

function quoted({ kind, subject }: ToolView): string {
  const subjectText = plainTerminal(subject ?? "");
  return kind === "search" || kind === "web_search" ? `"${subjectText}"` : subjectText;
}

const STATE_CHARS_MAX = 40;

function isShort(error: string): boolean {
  return error.length <= STATE_CHARS_MAX && !error.includes("\n");
}

function changesOf({ view, call }: ShownCall): ValueChanges | null {
  if (call === null || (view.kind !== "edit" && view.kind !== "write")) return null;
  return changesIn(call.input, view.kind === "write");
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
export function readText(output: unknown, about: ResultView | null): string | null {
  return outputText(output)?.slice(about?.textAt ?? 0) ?? null;
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

/** A path inside the project without the project; any other as it is. */
export function relativePath(path: string, project: string | null): string {
  const root = (project ?? "").replace(/[/\\]+$/, "");
  if (root === "" || !path.startsWith(root)) return path;
  if (path.length === root.length) return ".";
  return /[/\\]/.test(path.charAt(root.length)) ? path.slice(root.length + 1) || "." : path;
}

/** A longer time is not one call's: the session was left and continued. */
const TOOK_MAX_MS = 24 * 3600 * 1000;

/** Whether an output has a picture. */
export function hasImage(output: unknown): boolean {
  const blocks: readonly unknown[] = Array.isArray(output) ? output : [output];
  return blocks.some((block) => mediaIn(block)?.type === "image");
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

export interface Step {
  readonly text: string;
  readonly state: "finished" | "current" | "waiting" | "dropped";
}

const LISTS = ["todos", "plan", "items", "tasks"] as const;
const TEXTS = ["content", "step", "title", "description", "text"] as const;
/** A longer list is shown as any other input. */
export const STEPS_MAX = 200;

/** The steps in a tool's input; null when it is not a plan. */
export function planIn(input: unknown): Step[] | null {
  if (typeof input !== "object" || input === null) return null;
  const fields = input as Readonly<Record<string, unknown>>;
  const list = Array.isArray(input) ? input : LISTS.map((name) => fields[name]).find(Array.isArray);
  if (list === undefined || list.length === 0 || list.length > STEPS_MAX) return null;
  const steps = list.map(stepOf);
  return steps.every((step) => step !== null) ? steps : null;
}

function stepOf(value: unknown): Step | null {
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const text = TEXTS.map((name) => fields[name]).find((each) => typeof each === "string");
  if (typeof text !== "string") return null;
  return { text, state: stateOf(fields.status) };
}

function stateOf(status: unknown): Step["state"] {
  if (status === "completed" || status === "done") return "finished";
  if (status === "in_progress" || status === "in-progress") return "current";
  return status === "cancelled" ? "dropped" : "waiting";
}

/** `2 of 5 done`. */
export function planNote(steps: readonly Step[] | null): string | null {
  if (steps === null) return null;
  return `${steps.filter(({ state }) => state === "finished").length} of ${steps.length} done`;
}
