/**
 * Document: a session as Markdown, piece by piece, in constant memory. rye has a text of its own
 * (`dialects/rye/markdown.ts`), to the letter of its document; other dialects get the neutral one.
 */

import { readEnvelope } from "../dialects/rye/envelope.ts";
import { type MarkdownOptions, renderEvent } from "../dialects/rye/markdown.ts";
import { renderEntry } from "../render/entry-markdown.ts";
import type { BadEntry, Session } from "../store/session.ts";

export interface DocumentOptions extends Required<MarkdownOptions> {
  readonly onBadLine: (bad: BadEntry) => void;
}

export function documentOf(session: Session, options: DocumentOptions): AsyncGenerator<string> {
  return session.dialect.name === "rye" ? ryeDocument(session, options) : neutral(session, options);
}

async function* ryeDocument(session: Session, options: DocumentOptions): AsyncGenerator<string> {
  const { onBadLine } = options;
  for await (const { value, start, number } of session.reader({ onBadLine }).forward()) {
    const { event, fault } = readEnvelope(value);
    if (event) yield renderEvent(event, options);
    else onBadLine({ line: number === null ? null : number + 1, offset: start, reason: fault });
  }
}

async function* neutral(session: Session, options: DocumentOptions): AsyncGenerator<string> {
  const { thinking, toolDetails, onBadLine } = options;
  for await (const entry of session.entries({ onBadLine })) {
    yield renderEntry(entry, { thinking, tools: toolDetails });
  }
}
