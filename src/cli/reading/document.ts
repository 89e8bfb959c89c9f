/** Document: a session as the Markdown that `render` prints. */

import { type DocumentOptions, documentOf as documentIn } from "../../listing/session-document.ts";
import { renderEntry } from "../../render/entry-markdown.ts";
import type { Session } from "../../store/session.ts";

export function documentOf(
  session: Session,
  options: Omit<DocumentOptions, "renderEntry">,
): AsyncGenerator<string> {
  const { thinking, toolDetails } = options;
  return documentIn(session, {
    ...options,
    renderEntry: (entry) => renderEntry(entry, { thinking, tools: toolDetails }),
  });
}
