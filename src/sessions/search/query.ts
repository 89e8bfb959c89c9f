/**
 * Query: parses a search query.
 *
 * timeout "port 80" conn* -test role:tool agent:"my cook" since:7d
 *
 * - A query that cannot be parsed is refused with SEARCH_QUERY and a reason; user input reaches
 *   SQLite only as quoted words (`matchOf`).
 * - Bounded in characters and terms; a prefix has at least two characters, since fewer would match
 *   half of all words.
 */

import { momentOf, nearest } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Role } from "../../core/model/entry.ts";
import { spelt, wordsOf } from "./searchable.ts";

export const QUERY_CHARS_MAX = 1_000;
export const QUERY_TERMS_MAX = 32;
const PREFIX_CHARS_MIN = 2;

/** Consecutive words; with `isPrefix`, the last is only a prefix. */
export interface Term {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
  /** As typed; the index splits it. */
  readonly text: string;
}

/** Prompts of users; what models say without calling tools; calls of tools and their results. */
export const ENTRY_KINDS = ["prompts", "answers", "tools"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** A condition on an entry or its session; with `isNot` negated. */
export type QueryFilter =
  | { readonly by: "role"; readonly value: Role; readonly isNot: boolean }
  | { readonly by: "tag" | "starred"; readonly value: string; readonly isNot: boolean }
  | {
      readonly by: "agent" | "model" | "tool" | "dialect" | "session" | "machine" | "user";
      readonly value: string;
      readonly isNot: boolean;
    }
  /** Not part of a query as typed. */
  | { readonly by: "kind"; readonly value: EntryKind; readonly isNot: boolean }
  /** ISO 8601, UTC. */
  | { readonly by: "since" | "until"; readonly value: string; readonly isNot: boolean };

export interface SearchQuery {
  readonly terms: readonly Term[];
  readonly without: readonly Term[];
  readonly filters: readonly QueryFilter[];
}

export interface QueryOptions {
  readonly nowMs: number;
  /** The known dialects. */
  readonly dialects: readonly string[];
  /** The last word is still being typed. */
  readonly isTyping?: boolean;
}

const ROLES: readonly Role[] = ["system", "user", "assistant", "tool"];
const FILTERS = [
  "agent",
  "model",
  "role",
  "tool",
  "since",
  "until",
  "dialect",
  "session",
  "machine",
  "user",
  "tag",
  "starred",
] as const;
type FilterName = (typeof FILTERS)[number];

/** A minus sign, a filter's name, and a text in quotes or up to the next space. */
const PIECE = /(-?)(?:([A-Za-z]+):)?(?:"([^"]*)("?)(\*?)|([^\s"]*))(?=\s|$|(.))/y;

export function parseQuery(text: string, options: QueryOptions): SearchQuery {
  const { isTyping = false } = options;
  if (text.length > QUERY_CHARS_MAX) {
    throw refused(`it is longer than ${QUERY_CHARS_MAX} characters`);
  }
  const query = { terms: [] as Term[], without: [] as Term[], filters: [] as QueryFilter[] };
  const pieces = piecesOf(text.trim(), isTyping);
  const typed = isTyping && text === text.trimEnd() ? pieces.at(-1) : undefined;
  for (const piece of pieces) {
    const { name, value, isNot } = piece;
    const isTyped = piece === typed;
    if (name !== undefined && !isText(piece)) {
      query.filters.push(filterOf(name, value, isNot, options));
    } else if (!isTyped || hasWords(value)) {
      const said = name === undefined ? value : `${name}:${value}`;
      const term = termOf(said, piece.isQuoted, isTyped && !isNot && !piece.isClosed);
      (isNot ? query.without : query.terms).push(term);
    }
  }
  const count = query.terms.length + query.without.length + query.filters.length;
  if (count === 0) throw refused("it is empty; type a word, or a filter such as role:user");
  if (count > QUERY_TERMS_MAX) throw refused(`it has more than ${QUERY_TERMS_MAX} terms`);
  return query;
}

interface Piece {
  readonly name: string | undefined;
  readonly value: string;
  readonly isNot: boolean;
  readonly isQuoted: boolean;
  /** The closing quote is there. */
  readonly isClosed: boolean;
}

function piecesOf(text: string, isTyping: boolean): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length; ) {
    PIECE.lastIndex = at;
    const piece = PIECE.exec(text);
    const [whole = "", sign, name, quoted, quote, star = "", bare = "", odd] = piece ?? [];
    const isQuoted = quoted !== undefined;
    if (isQuoted && quote === "" && !isTyping) throw refused('a " is missing: a phrase has two');
    if (whole === "" || odd !== undefined) {
      throw refused('there is a " inside a word; put a space before it, or after it');
    }
    const value = isQuoted ? `${quoted}${star}` : bare;
    pieces.push({ name, value, isNot: sign === "-", isQuoted, isClosed: quote === '"' });
    at += whole.length;
    while (at < text.length && /\s/.test(text[at] ?? "")) at++;
  }
  return pieces;
}

/** Text that looks like a filter: `Error: …`, `https://…`, `std::…`. */
function isText({ name, value, isQuoted }: Piece): boolean {
  const isKnown = FILTERS.some((each) => each === name?.toLowerCase());
  return !isKnown && !isQuoted && /^(?:$|[:/\\])/.test(value);
}

function hasWords(text: string): boolean {
  return !wordsOf(text).next().done;
}

/** The FTS5 expression; null when no word is wanted. Every word is quoted. */
export function matchOf({ terms, without }: SearchQuery): string | null {
  if (terms.length === 0) return null;
  const wanted = terms.map(matchTerm).join(" AND ");
  return without.length === 0 ? wanted : `(${wanted}) NOT (${matchAny(without) ?? ""})`;
}

/** An expression for entries with any of the terms; null without terms. */
export function matchAny(terms: readonly Term[]): string | null {
  return terms.length === 0 ? null : terms.map(matchTerm).join(" OR ");
}

function matchTerm({ text, isPrefix }: Term): string {
  return `"${spelt(text).replaceAll('"', '""')}"${isPrefix ? " *" : ""}`;
}

function termOf(value: string, isPhrase: boolean, isTyped: boolean): Term {
  const hasStar = value.endsWith("*");
  const text = hasStar ? value.slice(0, -1) : value;
  const words = [...wordsOf(text)].map(({ word }) => word);
  const last = words.at(-1);
  if (last === undefined) {
    const what = isPhrase ? "a phrase" : "a word";
    throw refused(`${what} in it has no letter and no digit, and only these can be found`);
  }
  const isLong = last.length >= PREFIX_CHARS_MIN;
  if (hasStar && !isLong) {
    throw refused(`a * needs ${PREFIX_CHARS_MIN} letters or digits before it at least`);
  }
  return { words, isPrefix: hasStar || (isTyped && isLong), text };
}

function filterOf(
  name: string,
  value: string,
  isNot: boolean,
  { nowMs, dialects }: QueryOptions,
): QueryFilter {
  const by = FILTERS.find((each) => each === name.toLowerCase());
  if (by === undefined) {
    const meant = nearest(name, FILTERS);
    const fieldName = /^[a-z]{1,20}$/i.test(name) ? ` ${name}:` : ""; // Anything else may be a secret.
    throw refused(
      `it has an unknown filter${fieldName}${meant === null ? "" : ` (did you mean ${meant}:?)`}; known are ${FILTERS.map((each) => `${each}:`).join(" ")}, ` +
        'and a word with a colon is quoted, as in "key:value"',
    );
  }
  if (value === "") throw refused(`${by}: has no value; write it without a space after the colon`);
  if (by === "since" || by === "until") return { by, value: timeOf(by, value, nowMs), isNot };
  const lower = value.toLowerCase();
  if (by === "role") {
    const role = ROLES.find((each) => each === lower);
    if (role === undefined) throw refused(`role: must be one of ${ROLES.join(", ")}`);
    return { by, value: role, isNot };
  }
  if (by === "starred" && lower !== "true") throw refused("starred: must be true");
  if (by === "dialect" && !dialects.includes(lower)) {
    throw refused(`dialect: must be one of ${dialects.join(", ")}`);
  }
  return { by, value: by === "dialect" ? lower : value, isNot };
}

const AGO_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };
const AGO = /^(\d{1,6})([dhm])$/;
const TIME = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/;

function timeOf(by: FilterName, text: string, nowMs: number): string {
  const [, count, unit = ""] = AGO.exec(text) ?? [];
  const ago = AGO_MS[unit];
  const ms =
    ago === undefined ? momentOf(TIME.test(text) ? text : "") : nowMs - Number(count) * ago;
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) {
    throw refused(`${by}: is not a time; write 2026-11-15, 2026-11-15T10:00:00Z, 7d, 24h or 30m`);
  }
  return date.toISOString();
}

function refused(reason: string): VerbatimError<"SEARCH_QUERY"> {
  return new VerbatimError("SEARCH_QUERY", `the query cannot be understood: ${reason}`, { reason });
}
