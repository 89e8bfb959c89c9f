/**
 * Call HTML: a tool call and its result as one row, which unfolds (tool-call.ts).
 *
 * - A failed one is unfolded, with the first and the last lines of what it printed.
 * - Nothing is left out: input and output are below the row, in full.
 * - A lazy row has nothing below it while it is folded; `callInside` makes that when it is unfolded.
 *
 * Diff HTML: a change in a tool's input or output, shown as a diff.
 *
 * DH1  Nothing of an input is left out: fields that are not part of the change are shown with it.
 * DH2  Each line keeps its sign, so that colour is not the only difference.
 * - Numbers are not part of the text: they are not copied with it (entry-style.ts).
 */

import type { ToolView } from "../../../core/model/tool-view.ts";
import { changesIn, type Numbers, numberedChanges, SIGNS, type ValueChanges } from "../changes.ts";
import { durationOf, groupDigits, isEmpty } from "../phrases.ts";
import {
  type CallInput,
  type CallWords,
  callInput,
  callOutput,
  callWords,
  failedText,
  hasImage,
  readText,
  relativePath,
  type ShownCall,
  type Step,
} from "../tool-call.ts";
import type { ResultPart } from "./call-results.ts";
import { isHunkHead, type NumberedLine } from "./diff-lines.ts";
import { markdownHtml } from "./markdown-html.ts";
import { type Html, html } from "./markup.ts";
import { anchorOf } from "./placed-entry.ts";
import { piecesHtml, TEXT_PIECE_MAX } from "./text-pieces.ts";
import {
  fieldsHtml,
  inputValueHtml,
  plainValueHtml,
  shownLines,
  sourceHtml,
  type ValueHtml,
  valueHtml,
} from "./value-html.ts";

const WORDS = {
  finished: "done",
  current: "in progress",
  waiting: "to do",
  dropped: "dropped",
} as const;

export interface CallOptions {
  /** The directory that paths are relative to; null: none. */
  readonly project: string | null;
  readonly isLazy: boolean;
  /** Show inputs and outputs. */
  readonly tools: boolean;
}

/** One row. */
export function callHtml(call: ShownCall, options: CallOptions): Html {
  const { view, result, index } = call;
  const isFailed = result !== null && result.part.error !== null;
  const kind = html`kind-${view.kind.replace("_", "-")}`;
  const state = isFailed ? html` failed` : result === null ? html` open-ended` : null;
  if (!options.tools) {
    const name = call.call?.tool ?? view.verb;
    return html`<p class="call ${kind}"><span class="icon"></span><span class="verb">${name}</span></p>\n`;
  }
  const isOpen = isFailed || view.kind === "plan" || hasImage(result?.part.output);
  const inside = isOpen || !options.isLazy ? callInside(call, options) : null;
  const open = isOpen ? html` open` : null;
  // Links to the result's entry lead here, if that has no place of its own.
  const isAll = call.call !== null && result?.index === 0;
  const id = isAll ? html` id="${anchorOf(result.line, result.start)}"` : null;
  const attributes = html`class="call ${kind}${state}" data-part="${index}"${id}${open}`;
  const line = lineHtml(call, options);
  return html`<details ${attributes}><summary>${line}</summary>${inside}</details>\n`;
}

function lineHtml(shown: ShownCall, { project }: CallOptions): Html {
  const { view, call, result, href } = shown;
  const words = callWords(shown, project);
  const { subject, note, failure, tookMs } = words;
  const subjectHtml = subject === null ? null : html` <span class="subject">${subject}</span>`;
  const file = view.path === null ? null : html` ${pathHtml(view.path, project, words.lines)}`;
  const parts = view.kind === "search" ? html`${subjectHtml}${file}` : html`${file}${subjectHtml}`;
  const notes = [note, result === null ? "no result" : null].filter((each) => each !== null);
  const state = failure === null ? null : html` <span class="state">${failure}</span>`;
  const time = tookMs === null ? null : html` <span class="took">${durationOf(tookMs)}</span>`;
  const from = href === null ? null : html` <a class="to-call" href="${href}">call</a>`;
  const title = call === null ? null : html` title="${call.tool}"`;
  const name = html`<span class="icon"></span><span class="verb"${title}>${words.verb}</span>`;
  const noted = notes.map((each) => html` <span class="note">${each}</span>`);
  return html`${name}${parts}${tallyHtml(words)}${noted}${state}${from}${time}`;
}

function tallyHtml({ added, removed }: CallWords): Html {
  const plus = added === 0 ? null : html` <span class="plus">+${groupDigits(added)}</span>`;
  const minus = removed === 0 ? null : html` <span class="minus">−${groupDigits(removed)}</span>`;
  return html`${plus}${minus}`;
}

/** What is below the row: the input and the output. */
export function callInside(call: ShownCall, options: CallOptions): Html {
  const { result } = call;
  const asked = callInput(call);
  const input = asked === null ? null : inputHtml(asked, call, options);
  return html`<div class="inside">${input}${result === null ? null : resultHtml(call, result.part)}</div>`;
}

function inputHtml(input: CallInput, { view, call }: ShownCall, { project }: CallOptions): Html {
  if (input.type === "plan") return planHtml(input.steps);
  if (input.type === "changes") {
    const file = view.path === null ? null : pathHtml(view.path, project, null);
    return html`<div class="input">${shownChanges(input.changes, file, input.numbers).html}</div>`;
  }
  const isUnknown = view.kind === "other" || view.kind === "mcp";
  return html`<div class="input">${askedHtml(input)}${isUnknown ? jsonHtml(call?.input) : null}</div>`;
}

/** Texts in Markdown; other fields as they are. */
function askedHtml({ fields, text }: CallInput & { readonly type: "fields" }): Html {
  if (text === null) return inputValueHtml(fields).html;
  const rest = isEmpty(fields) ? null : inputValueHtml(fields).html;
  return html`${rest}<div class="text">${markdownHtml(text).html}</div>`;
}

function jsonHtml(input: unknown): Html | null {
  if (typeof input !== "object") return null;
  const { html: json } = valueHtml(input);
  return html`<details class="source"><summary>JSON</summary>${json}</details>`;
}

function resultHtml(call: ShownCall, part: ResultPart): Html | null {
  const { view, about } = call;
  const { error, output, text, isError, isMinor } = callOutput(call, part);
  const failed = error === null ? null : html`<div class="error">${failedHtml(error)}</div>`;
  if (output === null) return failed;
  if (part.error !== null && text !== null) {
    return html`${failed}<div class="${isError ? "error" : "output"}">${failedHtml(text)}</div>`;
  }
  const outputText = view.kind === "read" ? readText(output, about) : text;
  const { html: shown } = outputShown(view, output, outputText);
  if (isMinor) {
    return html`<details class="source said"><summary>Output</summary>${shown}</details>`;
  }
  return html`${failed}<div class="output">${shown}</div>`;
}

/** Kinds whose answers are written for people. */
const SAID: readonly ToolView["kind"][] = ["agent", "fetch", "web_search", "mcp", "other"];
const MARKDOWN = /^(?:#{1,6} \S|```|\s{0,3}[-*] \S|\d{1,3}\. \S|\|.+\||> )|\*\*[^*\n]+\*\*/m;
const LOOKED_AT = 4000;

function outputShown(view: ToolView, output: unknown, outputText: string | null): ValueHtml {
  const { kind } = view;
  const read =
    kind === "read" && outputText !== null ? shownLines(outputText, view.lines?.[0] ?? 1) : null;
  if (read !== null) return read;
  const diff = shownDiffOf(output);
  if (diff !== null) return diff;
  if (outputText !== null && SAID.includes(kind) && MARKDOWN.test(outputText.slice(0, LOOKED_AT))) {
    const { html: markdown, isFormatted } = markdownHtml(outputText);
    const source = isFormatted ? sourceHtml(outputText) : null;
    return { html: html`<div class="text">${markdown}</div>${source}`, text: outputText };
  }
  return valueHtml(output);
}

/** The first and the last lines of a text, and the ones between them folded. */
function failedHtml(text: string): Html {
  const parts = failedText(text);
  if (parts === null) return plainValueHtml(text).html;
  const count = parts.betweenLines;
  const words = html`${groupDigits(count)} more ${count === 1 ? "line" : "lines"}`;
  const partHtml = (part: string) => plainValueHtml(part).html;
  const between = html`<details class="between"><summary>${words}</summary>${partHtml(parts.between)}</details>`;
  return html`${partHtml(parts.first)}${between}${partHtml(parts.last)}`;
}

/** `lines`: the part of the file, such as `1–91`. */
function pathHtml(path: string, project: string | null, lines: string | null): Html {
  const visiblePath = relativePath(path, project);
  const cut = Math.max(visiblePath.lastIndexOf("/"), visiblePath.lastIndexOf("\\")) + 1;
  const folder = cut === 0 ? null : html`<span class="folder">${visiblePath.slice(0, cut)}</span>`;
  const name = html`<span class="name">${visiblePath.slice(cut)}${lines === null ? null : `:${lines}`}</span>`;
  return html`<span class="path" title="${path}">${folder}${name}</span>`;
}

function planHtml(steps: readonly Step[]): Html {
  const rows = steps.map(({ text, state }) => {
    return html`<li class="step step-${state}"><span class="unseen">${WORDS[state]}: </span>${text}</li>`;
  });
  return html`<ul class="plan">${rows}</ul>`;
}

/** The changes as diffs, below the name of their file. */
export function shownChanges(
  changes: ValueChanges,
  file: Html | null,
  numbers?: Numbers,
): ValueHtml {
  const others = fieldsHtml(changes.rest);
  const head = file === null ? null : html`<p class="file">${file}</p>`;
  const diffs = numberedChanges(changes, numbers).map(linesHtml);
  return {
    html: html`${others?.html ?? null}${head}${diffs}`,
    text: [
      ...(others === null ? [] : [others.text]),
      ...changes.list.map(({ lines }) => lines.map(({ text }) => text).join("\n")),
    ].join("\n"),
  };
}

/** A value as a diff; null when it is not a change. */
export function shownDiffOf(value: unknown): ValueHtml | null {
  const changes = changesIn(value);
  return changes === null ? null : shownChanges(changes, null);
}

/**
 * DH2. A change of lines can be shown in two columns: each run of removed and added lines is one
 * element, and a kept line has what the second column repeats in `data-t`, which no one copies.
 */
function linesHtml(lines: readonly NumberedLine[]): Html {
  const kinds = new Set(lines.map(({ kind }) => kind));
  kinds.delete("place");
  const isPaired = kinds.size > 1;
  // The numbers of the lines say what the first head says.
  const isSaid = lines[0]?.kind === "place" && isHunkHead(lines[0].text);
  const shown = lines.slice(isSaid ? 1 : 0);
  const rows = shown.map(({ kind, text, number, oldNumber, words }) => {
    const pieces =
      words.length === 1 || text.length > TEXT_PIECE_MAX
        ? piecesHtml(text)
        : words.map((word, at) => (at % 2 === 0 ? html`${word}` : html`<mark>${word}</mark>`));
    const place = number === null ? null : html` data-n="${number}"`;
    const old = oldNumber === number ? null : html` data-o="${oldNumber ?? ""}"`;
    const isRepeated = isPaired && kind === "same" && text.length <= TEXT_PIECE_MAX;
    const repeated = isRepeated ? html`${old} data-t="${SIGNS.same}${text}"` : null;
    return html`<span class="${kind}"${place}${repeated}>${SIGNS[kind]}${pieces}\n</span>`;
  });
  if (!isPaired) return html`<pre class="diff">\n${rows}</pre>`;
  const groups: Html[] = [];
  for (let at = 0; at < rows.length; ) {
    let to = at;
    while (shown[to]?.kind === "gone" || shown[to]?.kind === "new") to++;
    if (to > at) groups.push(html`<span class="change">${rows.slice(at, to)}</span>`);
    groups.push(...rows.slice(to, to + 1));
    at = to + 1;
  }
  return html`<pre class="diff paired">\n${groups}</pre>`;
}
