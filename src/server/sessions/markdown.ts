/**
 * Markdown: a session as a document, sent in pieces as its reader takes them.
 *
 * It is sent as Markdown source: no HTML of an agent or a tool is ever served.
 */

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { documentOf } from "../../sessions/list/session-document.ts";
import { renderEntry } from "../../sessions/render/entry-markdown.ts";
import { Query } from "./query.ts";
import type { ServedSession } from "./service.ts";
import { sessionHeaders } from "./wire.ts";

export const MARKDOWN_PARAMETERS = ["thinking", "tools", "metadata"] as const;

/** Small pieces are joined up to about this size. */
const WRITE_CHARS = 64 * 1024;

export async function answerMarkdown(
  { session }: ServedSession,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const query = new Query(request.url ?? "/", MARKDOWN_PARAMETERS);
  const thinking = query.flag("thinking", false);
  const toolDetails = query.flag("tools", true);
  const assistantMetadata = query.flag("metadata", true);
  const headers = sessionHeaders();
  headers.push("Content-Type", "text/markdown; charset=utf-8");
  response.writeHead(200, headers);
  if (request.method === "HEAD") return void response.end();
  const left = new AbortController();
  response.once("close", () => left.abort());
  let badLines = 0;
  const pieces = documentOf(session, {
    thinking,
    toolDetails,
    assistantMetadata,
    renderEntry: (entry) => renderEntry(entry, { thinking, tools: toolDetails }),
    onBadLine: ({ reason }) => {
      if (reason !== "blank") badLines++;
    },
    signal: left.signal,
  });
  await send(pieces, response, left.signal);
  if (!left.signal.aborted) response.end(badLines === 0 ? "" : unreadable(badLines));
}

async function send(
  pieces: AsyncIterable<string>,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let text = "";
  const flush = async () => {
    const hasRoom = response.write(text);
    text = "";
    if (!hasRoom) await once(response, "drain", { signal });
  };
  try {
    for await (const piece of pieces) {
      text += piece;
      if (text.length >= WRITE_CHARS) await flush();
    }
    if (text !== "") await flush();
  } catch (cause) {
    if (!signal.aborted) throw cause; // Otherwise the reader has left.
  }
}

/** The head was sent before, so the document itself reports it. */
function unreadable(badLines: number): string {
  const lines = badLines === 1 ? "1 line" : `${badLines} lines`;
  return `\n> ${lines} of this session could not be read and ${badLines === 1 ? "is" : "are"} not shown.\n`;
}
