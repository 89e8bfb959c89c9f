/**
 * Entry HTML: one entry of any dialect in a page.
 *
 * EH1  Null means that the entry has nothing to show; callers count these.
 * EH2  Each entry can be linked to: its id in the page is its line number, or its byte offset where
 *      that is unknown. Both are our own numbers, and so is everything else in an attribute here.
 */

import type { Entry, Part } from "../../../core/model/entry.ts";
import { typedText } from "../../../dialects/shared/typed-text.ts";
import {
  blockName,
  erasureText,
  groupDigits,
  lengthOf,
  speakerName,
  usageText,
} from "../phrases.ts";
import {
  entryName,
  isDone,
  type Places,
  programsWords,
  shownCall,
  stopNote,
  withSpeaker,
} from "../shown-entry.ts";
import { jsonText } from "../text.ts";
import type { CallPart, ShownCall } from "../tool-call.ts";
import { callHtml, callInside } from "./call-html.ts";
import type { CallResults, Calls, ResultPart } from "./call-results.ts";
import { markdownHtml } from "./markdown-html.ts";
import { type Html, html } from "./markup.ts";
import { anchorOf, type PlacedEntry } from "./placed-entry.ts";
import {
  boxHtml,
  foldedHtml,
  isLong,
  mediaHtml,
  plainValueHtml,
  sourceHtml,
  type ValueHtml,
  valueHtml,
} from "./value-html.ts";

export interface EntryHtmlOptions {
  /** Show thinking unfolded. Default: false. */
  readonly thinking?: boolean;
  /** Show inputs and outputs of tools; otherwise only their names. Default: true. */
  readonly tools?: boolean;
}

/** Targets of links to entries and to other sessions, when there is more than one page. */
export interface PageLinks {
  toEntry(line: number | null, start: number): string;
  /** Null when the session's place is unknown. */
  toSession(session: string, agent: string | null): string | null;
}

export interface EntryContext extends Required<EntryHtmlOptions> {
  readonly calls: Calls;
  /** The results that are shown with their calls. */
  readonly results: CallResults;
  /** The directory that paths are relative to. */
  readonly project?: string | null;
  /** Folded calls have nothing below them: `insideOf` makes it when they are unfolded. */
  readonly isLazy?: boolean;
  /** Usage of turns is shown elsewhere. */
  readonly isBrief?: boolean;
  /** The first lines of the changes of a call, by its entry and part. Default: not known. */
  readonly places?: Places | undefined;
  /** Default: anchors in the same page, and no links to sessions. */
  readonly links?: PageLinks;
}

/** An unknown block is shown up to this length; the bytes of an image are of no use. */
export const BLOCK_CHARS_MAX = 10_000;

/** The HTML of one entry; null when there is nothing to show (EH1). */
export function entryHtml(entry: PlacedEntry, context: EntryContext): Html | null {
  switch (entry.kind) {
    case "start":
      return markHtml(entry, html`${facts(["Started", entry.model])}${timeHtml(entry)}`, context);
    case "turn_start":
      return null;
    case "turn_end":
      return context.isBrief ? null : turnHtml(entry, context);
    case "end":
      return endHtml(entry, context);
    case "message":
    case "other":
      return messageHtml(entry, context);
  }
}

const IN_THE_PAGE: PageLinks = {
  toEntry: (line, start) => `#${anchorOf(line, start)}`,
  toSession: () => null,
};

/** The link to an entry, named by its line if that is known. */
export function permalink(
  line: number | null,
  start: number,
  { toEntry }: PageLinks = IN_THE_PAGE,
): Html {
  const where = line === null ? "#" : `#${line}`;
  const what = line === null ? `Link to the entry at byte ${start}` : `Link to entry ${line}`;
  return html`<a class="at" href="${toEntry(line, start)}" aria-label="${what}">${where}</a>`;
}

/** 2026-02-09 04:03:50, in UTC, like all times of a page. */
export function displayTime(at: string | null): string | null {
  return at === null ? null : at.slice(0, 19).replace("T", " ");
}

/** The end of a turn, with what it used. */
export function turnHtml(entry: PlacedEntry, context: Pick<EntryContext, "links">): Html {
  return markHtml(entry, facts(["Turn", usageText(entry.usage)]), context);
}

/** 10:38, all of it and the usage on hover, and the time since the entry before: +12 s. */
function timeHtml({ at, before, usage }: PlacedEntry): Html | null {
  const used = usageText(usage ?? null); // An entry of a copy may lack it.
  if (at === null) return used === null ? null : html`<span class="used">${used}</span>`;
  const title = facts([`${displayTime(at)} UTC`, used]);
  const time = html`<span class="time" title="${title}">${clockOf(at)}</span>`;
  const since = lengthOf(Date.parse(at) - Date.parse(before?.at ?? ""));
  return html`${time}${since === null ? null : html`<span class="since">+${since}</span>`}`;
}

/** 10:38; anything else as it is. */
export function clockOf(at: string): string {
  return /^\d{4}-\d\d-\d\dT(\d\d:\d\d)/.exec(at)?.[1] ?? at;
}

/** A line across the page. */
function markHtml(
  { line, start }: PlacedEntry,
  content: Html,
  { links }: Pick<EntryContext, "links">,
): Html {
  const anchor = anchorOf(line, start);
  const link = permalink(line, start, links);
  return html`<div class="mark" id="${anchor}"><p>${content}</p>${link}</div>\n`;
}

function messageHtml(placed: PlacedEntry, context: EntryContext): Html | null {
  const entry = withSpeaker(placed);
  const { role, parts, line, start } = entry;
  const partHtmls = parts
    .map((part, index) => partHtml(part, index, entry, context))
    .filter((part) => part !== null);
  if (partHtmls.length === 0) return null;
  // A result is a tool's, even where a provider gives it the user role.
  const isResult = parts.every((part) => part.type === "tool_result");
  const speaker = entry.saidBy === undefined ? (role ?? "nobody") : "system";
  const who = `by-${isResult ? "tool" : speaker}`;
  const isFailed = parts.some((part) => part.type === "tool_result" && part.error !== null);
  const kind = html`${who}${isDone(entry) ? " done" : ""}${isFailed ? " failed" : ""}`;
  return html`<article class="entry ${kind}" id="${anchorOf(line, start)}">
<header class="who"><h2>${entryName(entry)}</h2>${factsOf(entry)}${permalink(line, start, context.links)}</header>
${partHtmls}${footOf(entry)}</article>\n`;
}

function factsOf(entry: PlacedEntry): Html {
  const { model, isPartial, before } = entry;
  const brokeOff = isPartial ? html`<span class="partial">broke off</span>` : null;
  const isNew = model !== null && model !== before?.model;
  const who = isNew ? html`<span class="model">${model}</span>` : null;
  return html`${brokeOff}${who}${timeHtml(entry)}`;
}

function footOf(entry: Entry): Html | null {
  const stopped = stopNote(entry);
  return stopped === null ? null : html`<footer>${stopped}</footer>\n`;
}

function partHtml(
  part: Part,
  index: number,
  entry: PlacedEntry,
  context: EntryContext,
): Html | null {
  switch (part.type) {
    case "text":
      return textHtml(part.text, entry);
    case "reasoning":
      return thoughtHtml(part, context);
    case "tool_call":
    case "tool_result": {
      const call = callOf(part, index, entry, context);
      return call === null ? null : callHtml(call, callOptions(context));
    }
    case "child":
      return childHtml(part, context);
    case "image":
    case "file":
      return html`${mediaHtml(part)}\n`;
    case "other":
      return blockHtml(part.native);
  }
}

function textHtml(text: string, entry: PlacedEntry): Html | null {
  const { role, saidBy } = entry;
  if (text.trim() === "") return html`<p class="none">An empty text</p>\n`;
  // A tool's text is output, whatever a dialect calls it.
  if (role === "tool") return html`${boxHtml("output", html`Output`, plainValueHtml(text))}\n`;
  const typed = role === "user" && saidBy === undefined ? typedText(text) : text;
  if (saidBy === "program" || typed === null) return programHtml(text);
  const body = saidHtml(typed, text);
  if (saidBy !== undefined) {
    return html`${foldedHtml("system", html`${speakerName(entry)}`, body, saidBy === "summary")}\n`;
  }
  if (role !== "system" || !isLong(text)) return html`${body.html}\n`;
  return html`${foldedHtml("system", html`System prompt`, body)}\n`;
}

/** Markdown, and the source text where that looks different. */
function saidHtml(text: string, whole = text): ValueHtml {
  const { html: markdown, isFormatted } = markdownHtml(text);
  const isSource = isFormatted || text.trim() !== whole.trim();
  const source = isSource ? sourceHtml(whole) : null;
  return { html: html`<div class="text">${markdown}</div>${source}`, text };
}

/** Text that a program put into the user's messages: without its elements' names in the preview. */
function programHtml(text: string): Html | null {
  const words = programsWords(text);
  if (words === "") return null;
  const body = { ...saidHtml(text), text: words };
  return html`${foldedHtml("system", html`${speakerName({ role: "user", saidBy: "program" })}`, body)}\n`;
}

function thoughtHtml(
  { text, withheld }: Extract<Part, { type: "reasoning" }>,
  { thinking }: EntryContext,
): Html {
  if (text !== "") {
    const thought = { html: html`<div class="text">${markdownHtml(text).html}</div>`, text };
    return html`${foldedHtml("thinking", html`Thinking`, thought, thinking)}\n`;
  }
  const what = withheld === undefined ? "without words" : "withheld by the provider";
  return html`<p class="box thinking caption">${facts(["Thinking", what])}</p>\n`;
}

/** Below the row of a call, or of a result by itself; null when that is not a row. */
export function insideOf(entry: PlacedEntry, index: number, context: EntryContext): Html | null {
  const part = entry.parts[index];
  if (part?.type !== "tool_call" && part?.type !== "tool_result") return null;
  const call = callOf(part, index, entry, context);
  return call === null ? null : callInside(call, callOptions(context));
}

function callOf(
  part: CallPart | ResultPart,
  index: number,
  entry: PlacedEntry,
  context: EntryContext,
): ShownCall | null {
  const { links = IN_THE_PAGE, tools } = context;
  if (part.type === "tool_result" && !tools) return null;
  const href = links.toEntry(entry.line, entry.start);
  return shownCall(part, index, entry, { ...context, href });
}

function callOptions({ project = null, isLazy = false, tools }: EntryContext) {
  return { project, isLazy, tools };
}

function childHtml(
  { session, agent }: Extract<Part, { type: "child" }>,
  { links = IN_THE_PAGE }: EntryContext,
): Html {
  const href = links.toSession(session, agent);
  if (href === null) return html`<p class="child">${facts([`Began ${session}`, agent])}</p>\n`;
  const by = agent === null ? null : ` · ${agent}`;
  return html`<p class="child">Began <a href="${href}">${session}</a>${by}</p>\n`;
}

function blockHtml(native: unknown): Html {
  const name = html`${erasureText(native) ?? blockName(native)}`;
  const length = jsonText(native ?? null).length;
  if (length <= BLOCK_CHARS_MAX) return html`${foldedHtml("block", name, valueHtml(native))}\n`;
  const size = html`<span class="size">${groupDigits(length)} characters, not shown here</span>`;
  return html`<p class="box block caption">${name} ${size}</p>\n`;
}

function endHtml(entry: PlacedEntry, { links, isBrief }: EntryContext): Html {
  const { outcome, error, usage, line, start } = entry;
  const isFailed = outcome === "error";
  const how = isFailed ? "Failed" : "Completed";
  const used = isBrief ? null : html`<span class="used">${usageText(usage)}</span>`;
  const why = error
    ? html`${boxHtml("error", html`${error.code || "Error"}`, plainValueHtml(error.detail))}\n`
    : null;
  const kind = html`${isFailed ? "failed" : "completed"}`;
  return html`<article class="end ${kind}" id="${anchorOf(line, start)}">
<header class="who"><h2>${how}</h2>${used}${timeHtml(entry)}${permalink(line, start, links)}</header>
${why}</article>\n`;
}

/** Facts on one line, without unknown ones. */
export function facts(texts: readonly (string | null)[]): Html {
  return html`${texts.filter((fact) => fact !== null && fact !== "").join(" · ")}`;
}
