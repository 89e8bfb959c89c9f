/**
 * Session document: a session as Markdown, piece by piece, in constant memory. A dialect may have
 * its own text (`document`); for others the caller passes the neutral one.
 */

import { usageOnce } from "../../core/model/usage-once.ts";
import type { DocumentOptions as MarkdownOptions, Reading } from "../../dialects/facets/reading.ts";
import type { BadEntry, StoredEntry } from "../../dialects/files/stored-entries.ts";
import type { Session } from "../store/session.ts";

export interface SessionDocumentOptions extends MarkdownOptions {
  /** The neutral text of an entry. */
  readonly renderEntry: (entry: StoredEntry) => string;
  /** What follows the entry that begins here. */
  readonly after?: (start: number) => string;
  readonly onBadLine: (bad: BadEntry) => void;
  readonly signal?: AbortSignal;
}

export function documentOf(
  session: Session,
  options: SessionDocumentOptions,
): AsyncGenerator<string> {
  const { document } = session.dialect.reading;
  return document ? ownDocument(session, document, options) : neutral(session, options);
}

async function* ownDocument(
  session: Session,
  document: NonNullable<Reading["document"]>,
  options: SessionDocumentOptions,
): AsyncGenerator<string> {
  const { onBadLine } = options;
  for await (const { value, bytes, start, number } of session.reader(reading(options)).forward()) {
    const { text, fault } = document(value, options, bytes);
    if (text !== null) yield text + (options.after?.(start) ?? "");
    else onBadLine({ line: number === null ? null : number + 1, offset: start, reason: fault });
  }
}

async function* neutral(session: Session, options: SessionDocumentOptions): AsyncGenerator<string> {
  const entries = usageOnce(session.entries(reading(options)));
  for await (const entry of entries) {
    yield options.renderEntry(entry) + (options.after?.(entry.start) ?? "");
  }
}

function reading({ onBadLine, signal }: SessionDocumentOptions) {
  return { onBadLine, ...(signal ? { signal } : {}) };
}
