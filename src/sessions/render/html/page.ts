/**
 * Page: a session as one HTML page, piece by piece: its head, each entry, its foot.
 *
 * The caller reads the session's entries in order and writes each piece as it comes; only the last
 * calls are kept, so that memory is bounded.
 *
 * PA1  The page requests nothing and runs nothing: it has no script, no address that loads, one
 *      style sheet within it, and a policy that forbids everything else, should the rest ever fail.
 * PA2  Entries that are not shown are counted in the foot.
 */

import { SESSION_STATUSES, type Summary } from "../../../core/model/summary.ts";
import { groupDigits, lengthOf, moneyOf } from "../phrases.ts";
import type { Places } from "../shown-entry.ts";
import { WaitingPieces } from "../waiting-pieces.ts";
import { CallPlaces, CallResults } from "./call-results.ts";
import {
  displayTime,
  type EntryHtmlOptions,
  entryHtml,
  type PageLinks,
  permalink,
} from "./entry-html.ts";
import { type Html, html } from "./markup.ts";
import { anchorOf, type PlacedEntry } from "./placed-entry.ts";
import { STYLE_HASH, STYLE_SHEET } from "./style.ts";

/** The session's facts in the head of a page; null where unknown. */
export interface PageFacts extends Omit<Summary, "status" | "turns" | "lines" | Unsaid> {
  readonly session: string;
  readonly dialect: string;
  readonly status: string | null;
  readonly turns: number | null;
  readonly lines: number | null;
  /** The page has only this many last entries; null for all. */
  readonly last: number | null;
  /** A notice about the whole page, one sentence. */
  readonly notice?: string | null;
}

/** What a page with masked entries leaves out: its values are of lines that are masked. */
export const UNSCANNED = { title: null, agent: null, directory: null, branch: null };

/** Facts that the page does not show, or finds out itself. */
type Unsaid =
  | "durationMs"
  | "parent"
  | "badLines"
  | "repository"
  | "linesAdded"
  | "linesRemoved"
  | "tags"
  | "user"
  | "metadata"
  | "erased";

/** Consecutive lines that are not entries. */
export interface BadLineRun {
  readonly listed: readonly BadLinePlace[];
  /** Further bad lines that are not listed. */
  readonly more: number;
}

export interface BadLinePlace {
  readonly line: number | null;
  readonly offset: number;
  readonly reason: string;
}

export class SessionPage {
  readonly #facts: PageFacts;
  readonly #options: Required<EntryHtmlOptions>;
  readonly #places: Places | undefined;
  readonly #calls = new CallPlaces();
  readonly #results = new CallResults();
  readonly #pieces = new WaitingPieces(this.#results, (entry) => this.#html(entry));
  #unshown = 0;
  #badLines = 0;

  /** `places`: the numbers of changed lines, when the result of their call is added. */
  constructor(
    facts: PageFacts,
    { thinking = false, tools = true }: EntryHtmlOptions = {},
    places?: Places,
  ) {
    this.#facts = facts;
    this.#options = { thinking, tools };
    this.#places = places;
  }

  /** Entries so far with nothing to show. */
  get unshown(): number {
    return this.#unshown;
  }

  head(): string {
    const { title, session, last, lines } = this.#facts;
    const isLong = (last ?? lines ?? 0) > LONG_LINES;
    const name = title ?? session;
    const subtitle = title === null ? null : html`<p class="session">${session}</p>\n`;
    return html`${headHtml(name)}
<body${isLong ? html` class="long"` : null}>
<a class="skip" href="#transcript">Skip to the transcript</a>
<header class="top">
<p class="about">${this.#facts.dialect} session</p>
<h1>${name}</h1>
${subtitle}${factList(this.#facts)}</header>
<main id="transcript">
${noticeHtml(this.#facts.notice)}${lastNote(this.#facts.last)}`.toString();
  }

  /** The next entry. Returns what can be written by now: maybe nothing, maybe several entries. */
  entry(entry: PlacedEntry): string {
    return this.#pieces.add(entry);
  }

  #html(entry: PlacedEntry): string {
    const { directory: project } = this.#facts;
    const pageParts = { calls: this.#calls, results: this.#results, places: this.#places };
    const context = { ...this.#options, ...pageParts, project };
    const entryPart = entryHtml(entry, context);
    if (entryPart === null && entry.kind === "other") this.#unshown++;
    return entryPart?.toString() ?? "";
  }

  badLines({ listed, more }: BadLineRun): string {
    this.#badLines += listed.length + more;
    const lines = listed.map((place) => badLineHtml(place));
    const rest =
      more === 0
        ? null
        : html`<div class="bad"><p>And ${counted(more, "more bad line")}</p></div>\n`;
    const text = html`${lines}${rest}`.toString();
    return this.#pieces.addText(text);
  }

  foot({ tornBytes }: { readonly tornBytes: number }): string {
    const last = this.#pieces.end();
    const notes = [
      this.#unshown === 0
        ? null
        : `${counted(this.#unshown, "entry says", "entries say")} nothing that can be shown.`,
      this.#badLines === 0
        ? null
        : `${counted(this.#badLines, "line")} of the log could not be read.`,
      tornBytes === 0
        ? null
        : `After its last line the log holds ${counted(tornBytes, "torn byte")}, left by a crash.`,
    ].filter((note) => note !== null);
    const end = html`</main>
<footer class="bottom">
${notes.map((note) => html`<p>${note}</p>\n`)}<p>${CLOSING}</p>
</footer>
</body>
</html>
`.toString();
    return `${last}${end}`;
  }
}

const CLOSING = "Times are in UTC. Made by Verbatim; this page loads nothing and runs nothing.";

/** A longer page is laid out as it is scrolled to: all at once would take a browser long. */
const LONG_LINES = 500;

const POLICY = [
  "default-src 'none'",
  `style-src '${STYLE_HASH}'`,
  "img-src data:", // Pictures are in the page itself (value-html.ts).
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** What all our pages begin with (PA1). */
export function headHtml(name: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name}</title>
${STYLE_SHEET}
</head>`;
}

function factList(known: PageFacts): Html {
  const { agent, model, status, turns, inputTokens, outputTokens, totalTokens, spend } = known;
  const { createdAt, updatedAt, lines } = known;
  const facts: [string, string | Html | null][] = [
    ["Status", status === null ? null : statusHtml(status)],
    ["Agent", agent],
    ["Model", model],
    ["Turns", turns === null ? null : groupDigits(turns)],
    ["Tokens", tokensOf(totalTokens, inputTokens, outputTokens)],
    ["Cost", spend === null ? null : moneyOf(spend)],
    ["Began", displayTime(createdAt)],
    ["Last entry", displayTime(updatedAt)],
    ["Took", spanOf(createdAt, updatedAt)],
    ["Lines", lines === null ? null : groupDigits(lines)],
  ];
  const rows = facts
    .filter(([, fact]) => fact !== null)
    .map(([name, fact]) => html`<div><dt>${name}</dt><dd>${fact}</dd></div>`);
  return html`<dl class="facts">${rows}</dl>\n`;
}

const STATUSES: readonly string[] = SESSION_STATUSES;

function statusHtml(status: string): Html {
  const kind = STATUSES.includes(status) ? status : "other";
  return html`<span class="status ${kind}">${status}</span>`;
}

function tokensOf(total: number | null, input: number | null, output: number | null) {
  const parts = [
    input === null ? null : `${groupDigits(input)} in`,
    output === null ? null : `${groupDigits(output)} out`,
  ].filter((part) => part !== null);
  if (total === null) return parts.join(", ") || null;
  if (parts.length === 0) return groupDigits(total);
  return html`${groupDigits(total)} <span class="detail">${parts.join(", ")}</span>`;
}

function spanOf(from: string | null, to: string | null): string | null {
  return lengthOf(Date.parse(to ?? "") - Date.parse(from ?? ""));
}

function noticeHtml(notice: string | null = null): Html | null {
  return notice === null ? null : html`<p class="note">${notice}.</p>\n`;
}

function lastNote(last: number | null): Html | null {
  if (last === null) return null;
  const what =
    last === 1 ? "Only the last entry is" : `Only the last ${groupDigits(last)} entries are`;
  return html`<p class="note">${what} in this page.</p>\n`;
}

/** A line of the log that is not an entry, in its place. */
export function badLineHtml({ line, offset, reason }: BadLinePlace, links?: PageLinks): Html {
  const where = line === null ? `at byte ${offset}` : `${line}`;
  const what = html`<strong>Bad line</strong> ${where}: ${reason}. It is kept in the log.`;
  return html`<div class="bad" id="${anchorOf(line, offset)}">
<p>${what}</p>${permalink(line, offset, links)}</div>\n`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${groupDigits(count)} ${count === 1 ? one : many}`;
}
