/**
 * Fault text: the one place that turns an error into a sentence: what failed, and what to do.
 *
 * For a refusal that depends on what the user wrote or on the server's files, the server has the
 * better words (OWN_WORDS). All others have words here, by code or else by status.
 */

import { VerbatimError } from "../../src/core/base/errors.ts";

const MOVED = "This session is no longer here: it may have been moved or deleted.";
const CHANGED = "The session's log was changed meanwhile: reload the page.";
const BUSY = "The server has too much to do: try again in a moment.";
const SENTENCES: Readonly<Record<string, string>> = {
  TOKEN_REQUIRED: "Your access has ended: “verbatim open” on the server's machine opens it again.",
  NOT_ALLOWED: "Your token does not allow this: ask the server's administrator for one that does.",
  ORIGIN_REFUSED: "The server refuses this address: open the one that “verbatim serve” printed.",
  SESSION_NOT_FOUND: MOVED,
  LOG_NOT_FOUND: MOVED,
  SHARE_NOT_FOUND: "There is no such share: it has expired or was revoked.",
  LOG_REWOUND: CHANGED,
  OUT_OF_RANGE: CHANGED,
  CHANGED_WHILE_READ: CHANGED,
  SESSION_BUSY: "Another program is writing this session: try again in a moment.",
  LOG_LOCKED: "Another program is writing this session: try again in a moment.",
  TOO_MANY_READERS: BUSY,
  OVERLOADED: BUSY,
  LIMIT_REACHED: "Your token has reached its limit: try again in a moment.",
  QUEUE_FULL: BUSY,
  RECOVERING: "The server has just started: try again in a moment.",
  NO_SPACE: "The server's disk is full: free some space, and try again.",
};
const OWN_WORDS: ReadonlySet<string> = new Set([
  "BAD_REQUEST",
  "SEARCH_QUERY",
  "BAD_NOTE",
  "NOTES_REFUSED",
  "BODY_TOO_LARGE",
  "CANNOT_DISCLOSE",
  "CANNOT_WITHHOLD",
  "SHARES_REFUSED",
  "TOKENS_REFUSED",
  "CATALOG_UNAVAILABLE",
  "KEY_REFUSED",
]);

const REFUSED = "The server does not know this request: reload the page.";
const FAILED = "The server failed, and its log says why: try again.";

export function faultText(cause: unknown): string {
  if (cause instanceof TypeError) return "The server does not answer: check that it still runs.";
  if (!isRefusal(cause)) return cause instanceof Error ? cause.message : "Something went wrong.";
  const { status, code, reason } = cause.details;
  if (OWN_WORDS.has(code)) return sentenceOf(reason);
  return SENTENCES[code] ?? (status >= 500 ? FAILED : REFUSED);
}

/** The status of a refusal; 0 without an answer. */
export function statusOf(cause: unknown): number {
  return isRefusal(cause) ? cause.details.status : 0;
}

export function isAbort(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === "AbortError";
}

function isRefusal(cause: unknown): cause is VerbatimError<"REQUEST_REFUSED"> {
  return cause instanceof VerbatimError && cause.code === "REQUEST_REFUSED";
}

function sentenceOf(reason: string): string {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
