/**
 * Session document: a session as Markdown, piece by piece, in constant memory. rye has a text of its
 * own (`dialects/rye/markdown.ts`), to the letter of its document; other dialects get the neutral
 * one, which the caller brings: rendering is no part of the store.
 */

import type { BadEntry, StoredEntry } from "../dialects/files/stored-entries.ts";
import { readEnvelope } from "../dialects/rye/envelope.ts";
import { type MarkdownOptions, renderEvent } from "../dialects/rye/markdown.ts";
import { usageOnce } from "../model/usage-once.ts";
import type { Session } from "../store/session.ts";

export interface DocumentOptions extends Required<MarkdownOptions> {
  /** The neutral text of an entry. */
  readonly renderEntry: (entry: StoredEntry) => string;
  readonly onBadLine: (bad: BadEntry) => void;
  readonly signal?: AbortSignal;
}

export function documentOf(session: Session, options: DocumentOptions): AsyncGenerator<string> {
  return session.dialect.name === "rye" ? ryeDocument(session, options) : neutral(session, options);
}

async function* ryeDocument(session: Session, options: DocumentOptions): AsyncGenerator<string> {
  const { onBadLine } = options;
  for await (const { value, start, number } of session.reader(reading(options)).forward()) {
    const { event, fault } = readEnvelope(value);
    if (event) yield renderEvent(event, options);
    else onBadLine({ line: number === null ? null : number + 1, offset: start, reason: fault });
  }
}

async function* neutral(session: Session, options: DocumentOptions): AsyncGenerator<string> {
  const entries = usageOnce(session.entries(reading(options)));
  for await (const entry of entries) yield options.renderEntry(entry);
}

function reading({ onBadLine, signal }: DocumentOptions) {
  return { onBadLine, ...(signal ? { signal } : {}) };
}
