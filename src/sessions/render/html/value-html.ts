/**
 * Value HTML: inputs and outputs of tools, and anything else that may be long.
 *
 * VH1  Long values are folded: they are in the page, behind a line with their length and beginning.
 *      FOLD_LINES_MAX and FOLD_CHARS_MAX define long.
 * VH2  JSON is coloured up to COLOURED_CHARS_MAX: beyond that the elements would outweigh the text.
 *
 * Image HTML: a picture of a transcript, shown in its place.
 *
 * IM1  Only PNG, JPEG, GIF and WebP, by their first bytes: what the log calls them does not matter.
 *      Anything else, such as SVG, is refused, and the page says so.
 * IM2  The picture is in the page as a `data:` address of base64 letters. Nothing is loaded.
 * IM3  At most IMAGE_CHARS_MAX of base64.
 * - It unfolds to its full size, without a script.
 *
 * Ansi HTML: what a program printed on a terminal, in its colours.
 *
 * AN1  Colours and weights are classes from a fixed set; nothing of the text is in an attribute.
 */

import type { MediaPart } from "../../../core/model/entry.ts";
import { isBase64, mediaIn } from "../../../core/model/media.ts";
import { groupDigits } from "../phrases.ts";
import { isTerminalText, outputRuns, plainTerminal, type TextRun } from "../program-output.ts";
import {
  blockTexts,
  FOLD_CHARS_MAX,
  FOLD_LINES_MAX,
  indentedJson,
  lineCount,
  mediaLabel,
} from "../text.ts";
import { type Html, html, pageText } from "./markup.ts";
import { piecesHtml, textPieces } from "./text-pieces.ts";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
export const IMAGE_CHARS_MAX = 8 * 1024 * 1024;

/** IM1: the first bytes, in base64. */
const TYPES = [
  ["image/png", /^iVBORw0KGgo/],
  ["image/jpeg", /^\/9j\//],
  ["image/gif", /^R0lGOD(?:lh|dh)/],
  ["image/webp", /^UklGR.{6}XRUJQ/],
] as const;

export const COLOURED_CHARS_MAX = 64 * 1024;
const PREVIEW_CHARS_MAX = 120;
/** How far to search for the first line that is not blank. */
const PREVIEW_LOOKED_AT = 2000;

/** A value to show, and the text it is measured by. */
export interface ValueHtml {
  readonly html: Html;
  readonly text: string;
}

/** The kind of a box, for the style sheet and the reader. */
export type BoxKind = "input" | "output" | "error" | "thinking" | "system" | "block";

/** A text as it is, or several as providers write them; anything else as JSON. */
export function valueHtml(value: unknown): ValueHtml {
  if (typeof value === "string") return plainValueHtml(value);
  const blocks: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = blockTexts(blocks);
  if (texts !== null) {
    const pieces = texts.map((text, at) => {
      const media = mediaIn(blocks[at]);
      return media === null ? plainValueHtml(text).html : mediaHtml(media);
    });
    return { html: html`${pieces}`, text: texts.join("\n") };
  }
  const text = indentedJson(value ?? null);
  return { html: html`<pre class="json">${colouredJson(text)}</pre>`, text };
}

export function plainValueHtml(text: string): ValueHtml {
  // A parser drops one LF right after the tag: ours, not the text's.
  const pieces = isTerminalText(text) ? terminalHtml(text) : piecesHtml(text);
  return { html: html`<pre>\n${pieces}</pre>`, text };
}

/** A tool's input: field by field, or as it is. */
export function inputValueHtml(input: unknown): ValueHtml {
  return fieldsHtml(input) ?? valueHtml(input);
}

/** An object field by field; null when it has none. */
export function fieldsHtml(value: unknown): ValueHtml | null {
  const fields = fieldsOf(value);
  if (fields.length === 0) return null;
  const parts = fields.map(([name, each]) => ({ name, ...shownField(each) }));
  const rows = parts.map((field) => html`<dt>${field.name}</dt><dd>${field.html}</dd>`);
  return {
    html: html`<dl class="fields">${rows}</dl>`,
    text: parts.map(({ name, text }) => `${name}: ${text}`).join("\n"),
  };
}

const SEVERAL_LINES = /[\n\r]|\p{Cc}\[/u;

/** A short value is on the line of its name. */
function shownField(value: unknown): ValueHtml {
  const text = typeof value === "string" ? value : null;
  if (text !== null ? SEVERAL_LINES.test(text) : typeof value === "object" && value !== null) {
    return valueHtml(value);
  }
  const valueText = text ?? String(value);
  return { html: html`<span class="value">${piecesHtml(valueText)}</span>`, text: valueText };
}

/** The source of a text that is shown differently. */
export function sourceHtml(text: string): Html {
  return html`<details class="source"><summary>Source</summary>${plainValueHtml(text).html}</details>`;
}

/** A caption with the value below it; folded behind it when long (VH1). */
export function boxHtml(kind: BoxKind, caption: Html, value: ValueHtml): Html {
  if (!isLong(value.text)) {
    return html`<div class="box ${kind}"><p class="caption">${caption}</p>${value.html}</div>`;
  }
  return foldedHtml(kind, caption, value);
}

/** Like `boxHtml`, but always folded; `isOpen` unfolds it at first. */
export function foldedHtml(kind: BoxKind, caption: Html, value: ValueHtml, isOpen = false): Html {
  const open = isOpen ? html` open` : null;
  const facts = html` <span class="size">${sizeOf(value.text)}</span>`;
  const preview = html` <span class="preview">${previewOf(value.text)}</span>`;
  const summary = html`<summary class="caption">${caption}${facts}${preview}</summary>`;
  return html`<details class="box ${kind}"${open}>${summary}${value.html}</details>`;
}

export function isLong(text: string): boolean {
  return text.length > FOLD_CHARS_MAX || lineCount(text) > FOLD_LINES_MAX;
}

/** "340 lines" or "5,200 characters", whichever says more. */
export function sizeOf(text: string): string {
  const lines = lineCount(text);
  if (lines > FOLD_LINES_MAX) return `${groupDigits(lines)} lines`;
  return text.length === 1 ? "1 character" : `${groupDigits(text.length)} characters`;
}

function previewOf(text: string): string {
  const start = plainTerminal(text.slice(0, PREVIEW_LOOKED_AT));
  // Without the marks of bold words, which Markdown shows as such below.
  const line = pageText(start).trimStart().split("\n", 1)[0]?.replaceAll("**", "") ?? "";
  return line.length > PREVIEW_CHARS_MAX ? `${line.slice(0, PREVIEW_CHARS_MAX)}…` : line;
}

function fieldsOf(input: unknown): [string, unknown][] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return [];
  return Object.entries(input);
}

/** A name with its colon, another string, a number, a word. The rest is brackets and blanks. */
const JSON_TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(:)?|-?\d[\d.eE+-]*|true|false|null/g;

function colouredJson(text: string): Html {
  if (text.length > COLOURED_CHARS_MAX) return piecesHtml(text);
  const pieces: Html[] = [];
  let from = 0;
  for (const found of text.matchAll(JSON_TOKEN)) {
    const [token, string, colon] = found;
    pieces.push(html`${text.slice(from, found.index)}`);
    if (string === undefined) pieces.push(html`<span class="number">${token}</span>`);
    else if (colon === undefined) pieces.push(html`<span class="string">${string}</span>`);
    else pieces.push(html`<span class="name">${string}</span>:`);
    from = found.index + token.length;
  }
  return html`${pieces}${text.slice(from)}`;
}

/** Longer files that a tool read are shown without numbers: each line is an element. */
export const NUMBERED_LINES_MAX = 5_000;
/** A number at the start of a line of a file, as some tools print it. */
const PRINTED = /^ *(\d{1,9})(?:→|\t)/;

/**
 * The lines of a file that a tool read, with their numbers in the file; `first`: that of the first
 * line. Some tools print the numbers themselves: these are used, and are not part of the text.
 * Numbers are not copied with it (entry-style.ts). Null when the text is not lines of a file.
 */
export function shownLines(text: string, first: number): ValueHtml | null {
  const lines = text.replace(/\n$/, "").split("\n");
  const isPrinted = PRINTED.test(lines[0] ?? "");
  if (lines.length > NUMBERED_LINES_MAX || isTerminalText(text)) return null;
  if (lines.length === 1 && !isPrinted) return null; // More likely a message.
  const rows = lines.map((line, at): Html => {
    const [mark = "", number] = isPrinted ? (PRINTED.exec(line) ?? []) : ["", String(first + at)];
    const place = number === undefined ? null : html` data-n="${number}"`;
    return html`<span${place}>${piecesHtml(line.slice(mark.length))}\n</span>`;
  });
  return { html: html`<pre class="lines">\n${rows}</pre>`, text };
}

/** A picture, or what it is and why it is not shown; a file by its name and size. */
export function mediaHtml(media: MediaPart): Html {
  const { type, data } = media;
  const name = mediaLabel(media).slice(1, -1);
  if (type === "file") return html`<p class="picture none">${name}</p>`;
  const refusal = data === undefined ? "its bytes are not in the log" : refusalOf(data);
  if (data === undefined || refusal !== null) {
    return html`<p class="picture none">${`${name}: not shown, ${refusal}`}</p>`;
  }
  const source = html`data:${typeOf(data)};base64,${data}`;
  const picture = html`<img alt="${name}" src="${source}" loading="lazy">`;
  const caption = html`<span class="size">${name}</span>`;
  return html`<details class="picture"><summary>${picture}${caption}</summary></details>`;
}

function typeOf(data: string): string | null {
  return TYPES.find(([, start]) => start.test(data))?.[0] ?? null;
}

function refusalOf(data: string): string | null {
  if (data.length > IMAGE_CHARS_MAX) return "it is too large";
  if (typeOf(data) === null) return "only PNG, JPEG, GIF and WebP are";
  return isBase64(data) ? null : "it is not base64";
}

/** The text in its colours, to be put between two tags. */
export function terminalHtml(text: string): Html {
  const plain = plainTerminal(text);
  if (textPieces(plain).length > 1) return piecesHtml(plain);
  const runs = outputRuns(text);
  return runs === null ? html`${plain}` : html`${runs.map(runHtml)}`;
}

function runHtml(run: TextRun): Html {
  const classes = classesOf(run);
  return classes === "" ? html`${run.text}` : html`<span class="${classes}">${run.text}</span>`;
}

/** AN1 */
function classesOf({ marks, front, back }: TextRun): string {
  const colours = [
    front === null ? [] : [`front-${nameOf(front)}`],
    back === null ? [] : [`back-${nameOf(back)}`],
  ];
  return [...marks, ...colours.flat()].join(" ");
}

function nameOf(colour: number): string {
  return `${colour >= 8 ? "bright-" : ""}${NAMES[colour % 8]}`;
}
