/**
 * Snippet: excerpts of an entry's text around the hits, with the hits marked.
 *
 * Pure data: pieces of text. The caller escapes them for its output.
 *
 * - The pieces together are text of the entry, except that runs of white space are one space, and
 *   "…" marks omissions. No character is cut in two.
 */

import type { SearchQuery, Term } from "./query.ts";
import { type PlacedWord, wordsOf } from "./searchable.ts";

export interface SnippetPiece {
  readonly text: string;
  readonly isHit: boolean;
}

/** Context on each side of a hit, and the length of the beginning where there is none. */
const AROUND_CHARS = 60;
const BEGINNING_CHARS = 160;
/** Excerpts shown: one for the first hit of each term, if they do not overlap. */
const STRETCHES_MAX = 3;
/** Hits searched for: a word may occur ten thousand times. */
const HITS_MAX = 200;
const LEFT_OUT = "…";

interface Stretch {
  readonly start: number;
  readonly end: number;
}

export function snippetOf(text: string, terms: readonly Term[]): SnippetPiece[] {
  const hits = hitsOf(text, terms);
  const stretches = stretchesOf(text, hits);
  const pieces: SnippetPiece[] = [];
  for (const [at, { start, end }] of stretches.entries()) {
    if (start > 0) add(pieces, at === 0 ? LEFT_OUT : ` ${LEFT_OUT} `, false);
    let from = start;
    for (const hit of hits) {
      if (hit.start < from || hit.end > end) continue;
      add(pieces, text.slice(from, hit.start), false);
      add(pieces, text.slice(hit.start, hit.end), true);
      from = hit.end;
    }
    add(pieces, text.slice(from, end), false);
  }
  if ((stretches.at(-1)?.end ?? 0) < text.length) add(pieces, LEFT_OUT, false);
  return pieces;
}

function add(pieces: SnippetPiece[], text: string, isHit: boolean): void {
  const line = text.toWellFormed().replace(/\s+/g, " ");
  if (line === "") return;
  const last = pieces.at(-1);
  if (last && !last.isHit && !isHit) {
    pieces[pieces.length - 1] = { text: last.text + line, isHit };
  } else {
    pieces.push({ text: line, isHit });
  }
}

interface Hit extends Stretch {
  readonly term: number;
}

/**
 * Positions of terms in a text, in order, none inside another; up to the end of what is shown if every
 * term was found.
 */
function hitsOf(text: string, terms: readonly Term[]): Hit[] {
  const hits: Hit[] = [];
  const longest = terms.reduce((most, { words }) => Math.max(most, words.length), 0);
  if (longest === 0) return hits;
  const window: PlacedWord[] = [];
  let past = 0;
  const found = new Set<number>();
  let shownTo = 0;
  const take = () => {
    const [first] = window;
    const term = terms.findIndex((each) => matches(window, each));
    const last = window[(terms[term]?.words.length ?? 0) - 1];
    if (first && last && first.start >= past) {
      hits.push({ start: first.start, end: last.end, term });
      past = last.end;
      if (!found.has(term)) shownTo = last.end + AROUND_CHARS;
      found.add(term);
    }
    window.shift();
  };
  for (const word of wordsOf(text)) {
    if (found.size === terms.length && word.start > shownTo) break;
    window.push(word);
    if (window.length === longest) take();
    if (hits.length === HITS_MAX) return hits;
  }
  while (window.length > 0) take();
  return hits;
}

function matches(window: readonly PlacedWord[], { words, isPrefix }: Term): boolean {
  return words.every((word, at) => {
    const found = window[at]?.word;
    if (found === undefined) return false;
    return isPrefix && at === words.length - 1 ? found.startsWith(word) : found === word;
  });
}

/** Whether a text has all terms of a query, and none that it excludes. */
export function hasTerms(text: string, { terms, without }: SearchQuery): boolean {
  const words = [...wordsOf(text)];
  const has = (term: Term) =>
    words.some((_, at) => matches(words.slice(at, at + term.words.length), term));
  return terms.every(has) && !without.some(has);
}

/** The shown ranges: around the first hit of each term, or the beginning. */
function stretchesOf(text: string, hits: readonly Hit[]): Stretch[] {
  const firsts = hits.filter((hit, at) => hits.findIndex(({ term }) => term === hit.term) === at);
  if (firsts.length === 0) return [{ start: 0, end: boundary(text, BEGINNING_CHARS) }];
  const stretches: Stretch[] = [];
  for (const { start, end } of firsts) {
    const around = {
      start: boundary(text, Math.max(0, start - AROUND_CHARS)),
      end: boundary(text, Math.min(text.length, end + AROUND_CHARS)),
    };
    const last = stretches.at(-1);
    if (last && around.start <= last.end) {
      stretches[stretches.length - 1] = { start: last.start, end: Math.max(last.end, around.end) };
    } else if (stretches.length < STRETCHES_MAX) {
      stretches.push(around);
    }
  }
  return stretches;
}

/** The position itself, or the one before it when it is inside a character. */
function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at);
  const isLow = code >= 0xdc00 && code <= 0xdfff;
  return Math.min(text.length, isLow ? at - 1 : at);
}
