/**
 * Entry HTML: one entry of any dialect in a page.
 *
 * EH1  Null means that the entry has nothing to show; callers count these.
 * EH2  Each entry can be linked to: its id in the page is its line number, or its byte offset where
 *      that is unknown. Both are our own numbers, and so is everything else in an attribute here.
 */

import type { Entry, Part, Role } from "../../model/entry.ts";
import { blockName, durationOf, grouped, isEmpty, speakerName, usageOf } from "../phrases.ts";
import { imageLabel, jsonText } from "../text.ts";
import type { Calls } from "./call-places.ts";
import { shownDiffOf } from "./diff-html.ts";
import { markdownHtml } from "./markdown-html.ts";
import { type Html, html } from "./markup.ts";
import {
  boxHtml,
  foldedHtml,
  isLong,
  type Shown,
  shownInput,
  shownPlain,
  shownValue,
} from "./value-html.ts";

/** An entry and its position in the log. */
export interface PlacedEntry extends Entry {
  readonly start: number;
  /** From 1; null when unknown. */
  readonly line: number | null;
}

export interface EntryHtmlOptions {
  /** Show thinking unfolded. Default: false. */
  readonly thinking?: boolean;
  /** Show inputs and outputs of tools; otherwise only their names. Default: true. */
  readonly tools?: boolean;
}

/** Targets of links to entries and to other sessions, when there is more than one page. */
export interface Links {
  toEntry(line: number | null, start: number): string;
  /** Null when the session's place is unknown. */
  toSession(session: string, agent: string | null): string | null;
}

export interface EntryContext extends Required<EntryHtmlOptions> {
  readonly calls: Calls;
  /** Default: anchors in the same page, and no links to sessions. */
  readonly links?: Links;
}

/** An unknown block is shown up to this length; the bytes of an image are of no use. */
export const BLOCK_CHARS_MAX = 10_000;

/** The HTML of one entry; null when there is nothing to show (EH1). */
export function entryHtml(entry: PlacedEntry, context: EntryContext): Html | null {
  switch (entry.kind) {
    case "start":
      return markHtml(entry, facts(["Started", entry.model, timeOf(entry.at)]), context);
    case "turn_start":
      return null;
    case "turn_end":
      return markHtml(entry, facts(["Turn", usageOf(entry.usage)]), context);
    case "end":
      return endHtml(entry, context);
    case "message":
    case "other":
      return messageHtml(entry, context);
  }
}

/** EH2 */
export function anchorOf(line: number | null, start: number): string {
  return line === null ? `byte-${start}` : `entry-${line}`;
}

const IN_THE_PAGE: Links = {
  toEntry: (line, start) => `#${anchorOf(line, start)}`,
  toSession: () => null,
};

/** The link to an entry, named by its position in the log. */
export function permalink(
  line: number | null,
  start: number,
  { toEntry }: Links = IN_THE_PAGE,
): Html {
  const where = line === null ? `@${start}` : `#${line}`;
  const what = line === null ? `Link to the entry at byte ${start}` : `Link to entry ${line}`;
  return html`<a class="at" href="${toEntry(line, start)}" aria-label="${what}">${where}</a>`;
}

/** 2026-02-09 04:03:50, in UTC, like all times of a page. */
export function timeOf(at: string | null): string | null {
  return at === null ? null : at.slice(0, 19).replace("T", " ");
}

const NAMES_OF_PARTS: Readonly<Partial<Record<Part["type"], string>>> = {
  reasoning: "Thinking",
  tool_call: "Tool call",
  tool_result: "Tool result",
  child: "Session begun",
};

/** A line across the page. */
function markHtml({ line, start }: PlacedEntry, content: Html, { links }: EntryContext): Html {
  const anchor = anchorOf(line, start);
  const link = permalink(line, start, links);
  return html`<div class="mark" id="${anchor}"><p>${content}</p>${link}</div>\n`;
}

function messageHtml(entry: PlacedEntry, context: EntryContext): Html | null {
  const { role, parts, line, start } = entry;
  const shown = parts.map((part) => partHtml(part, entry, context)).filter((part) => part !== null);
  if (shown.length === 0) return null;
  // A result is a tool's, even where a provider gives it the user role.
  const isResult = parts.every((part) => part.type === "tool_result");
  const speaker = entry.saidBy === undefined ? (role ?? "nobody") : "system";
  const who = `by-${isResult ? "tool" : speaker}`;
  const isFailed = parts.some((part) => part.type === "tool_result" && part.error !== null);
  const kind = html`${who}${parts.some(isSaid) ? "" : " done"}${isFailed ? " failed" : ""}`;
  return html`<article class="entry ${kind}" id="${anchorOf(line, start)}">
<header><h2>${nameOf(entry)}</h2>${factsOf(entry)}${permalink(line, start, context.links)}</header>
${shown}${footOf(entry)}</article>\n`;
}

function isSaid(part: Part): boolean {
  return part.type === "text";
}

/** The speaker, or what happens in an entry without one. */
function nameOf(entry: Entry): string {
  const { role, parts } = entry;
  const [first] = parts;
  const isOne = parts.every((part) => part.type === first?.type);
  const what = first && isOne ? NAMES_OF_PARTS[first.type] : undefined;
  return what ?? (role === null ? "Entry" : speakerName(entry));
}

function factsOf({ model, at, isPartial }: Entry): Html {
  const brokeOff = isPartial ? html`<span class="partial">broke off</span>` : null;
  const who = model === null ? null : html`<span class="model">${model}</span>`;
  const time = at === null ? null : html`<span class="time">${timeOf(at)}</span>`;
  return html`${brokeOff}${who}${time}`;
}

function footOf({ usage, stopReason, messageId }: Entry): Html | null {
  const used = usageOf(usage);
  if (used === null && stopReason === undefined && messageId === undefined) return null;
  const stopped = stopReason === undefined ? null : `stopped: ${stopReason}`;
  const id = messageId === undefined ? null : html`<span class="message-id">${messageId}</span>`;
  return html`<footer>${facts([used, stopped])}${id}</footer>\n`;
}

function partHtml(part: Part, entry: PlacedEntry, context: EntryContext): Html | null {
  switch (part.type) {
    case "text":
      return textHtml(part.text, entry.role);
    case "reasoning":
      return thoughtHtml(part, context);
    case "tool_call":
      return callHtml(part, entry, context);
    case "tool_result":
      return context.tools ? resultHtml(part, context) : null;
    case "child":
      return childHtml(part, context);
    case "other":
      return blockHtml(part.native);
  }
}

function textHtml(text: string, role: Role | null): Html {
  if (text.trim() === "") return html`<p class="none">An empty text</p>\n`;
  // A tool's text is output, whatever a dialect calls it.
  if (role === "tool") return html`${boxHtml("output", html`Output`, shownPlain(text))}\n`;
  const said = saidHtml(text);
  if (role !== "system" || !isLong(text)) return html`${said.html}\n`;
  return html`${foldedHtml("system", html`System prompt`, said)}\n`;
}

/** Markdown, and the source text where that looks different. */
function saidHtml(text: string): Shown {
  const { html: markdown, isFormatted } = markdownHtml(text);
  const source = isFormatted
    ? html`<details class="source"><summary>Source</summary>${shownPlain(text).html}</details>`
    : null;
  return { html: html`<div class="text">${markdown}</div>${source}`, text };
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

function callHtml(
  { callId, tool, input }: Extract<Part, { type: "tool_call" }>,
  { line, start }: PlacedEntry,
  { calls, tools, links = IN_THE_PAGE }: EntryContext,
): Html {
  if (callId !== null) calls.add(callId, { tool, href: links.toEntry(line, start) });
  const id = callId === null ? null : html` <span class="call-id">${callId}</span>`;
  const caption = html`Tool <span class="tool">${tool}</span>${id}`;
  if (!tools || isEmpty(input)) return html`<p class="box input caption">${caption}</p>\n`;
  return html`${boxHtml("input", caption, shownDiffOf(input) ?? shownInput(input))}\n`;
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

function resultHtml(
  { callId, output, error, durationMs }: Extract<Part, { type: "tool_result" }>,
  { calls }: EntryContext,
): Html {
  const took = durationMs === null ? null : durationOf(durationMs);
  const call = calls.get(callId);
  const from = call === null ? null : html` <a class="tool" href="${call.href}">${call.tool}</a>`;
  const caption = (what: string) => html`${facts([what, took])}${from}`;
  const failed = error === null ? null : boxHtml("error", caption("Error"), shownPlain(error));
  if (isEmpty(output)) {
    return failed ?? html`<p class="box output caption">${caption("No output")}</p>\n`;
  }
  // A tool that failed may still have output.
  const shown = shownDiffOf(output) ?? shownValue(output);
  const said = boxHtml("output", failed ? html`Output` : caption("Output"), shown);
  return html`${failed}${said}\n`;
}

function blockHtml(native: unknown): Html {
  const image = imageLabel(native);
  if (image !== null) return html`<p class="box block caption">${image}</p>\n`;
  const name = html`${blockName(native)}`;
  const length = jsonText(native ?? null).length;
  if (length <= BLOCK_CHARS_MAX) return html`${foldedHtml("block", name, shownValue(native))}\n`;
  const size = html`<span class="size">${grouped(length)} characters, not shown here</span>`;
  return html`<p class="box block caption">${name} ${size}</p>\n`;
}

function endHtml(entry: PlacedEntry, { links }: EntryContext): Html {
  const { outcome, error, usage, at, line, start } = entry;
  const isFailed = outcome === "error";
  const how = isFailed ? "Failed" : "Completed";
  const used = facts([usageOf(usage), timeOf(at)]);
  const why = error
    ? html`${boxHtml("error", html`${error.code || "Error"}`, shownPlain(error.detail))}\n`
    : null;
  const kind = html`${isFailed ? "failed" : "completed"}`;
  return html`<article class="end ${kind}" id="${anchorOf(line, start)}">
<header><h2>${how}</h2><span class="time">${used}</span>${permalink(line, start, links)}</header>
${why}</article>\n`;
}

/** Facts on one line, without unknown ones. */
export function facts(known: readonly (string | null)[]): Html {
  return html`${known.filter((fact) => fact !== null && fact !== "").join(" · ")}`;
}
