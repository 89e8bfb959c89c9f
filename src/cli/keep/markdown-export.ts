/** Markdown export: a session as its dialect's document. */

import { documentOf } from "../../sessions/list/session-document.ts";
import { renderEntry } from "../../sessions/render/entry-markdown.ts";
import type { ExportSource } from "./export-source.ts";

export async function* markdownPieces(source: ExportSource): AsyncGenerator<string> {
  const { session, run, badLines, isFirst, isOneOfMany } = source;
  const { options } = run;
  const [thinking, tools] = [options.thinking === true, options.tools !== false];
  if (isOneOfMany) yield `${isFirst ? "" : "\n"}# ${session.id}\n\n`;
  yield* documentOf(session, {
    thinking,
    toolDetails: tools,
    assistantMetadata: options.metadata !== false,
    renderEntry: (entry) => renderEntry(entry, { thinking, tools }),
    onBadLine: badLines.add,
  });
}
