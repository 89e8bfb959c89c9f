/** `verbatim render`: a session as a document: its dialect's Markdown, or HTML. */

import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { DIALECT_NAMES } from "../../dialects/registry.ts";
import { type Run, textOption, UsageError } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { giveDocument } from "../command/output.ts";
import {
  BadLines,
  markdownText,
  NOTHING_SHOWN,
  openByName,
  tellNotUnderstood,
  tellTornTail,
} from "../look/reading.ts";

export async function runRender(run: Run): Promise<number> {
  const { options, io } = run;
  const output = textOption("--output", options.output);
  if (options.html && options.metadata === false) {
    throw new UsageError("--no-metadata works only for rye's Markdown, not with --html");
  }
  const session = await openGiven(run);
  if (options.html) {
    const { giveHtmlPage } = await import("./html-page.ts");
    return giveHtmlPage(session, run, { file: output ?? null, last: null });
  }
  const { documentOf } = await import("../../sessions/list/session-document.ts");
  const { renderEntry } = await import("../../sessions/render/entry-markdown.ts");
  const badLines = new BadLines();
  const [thinking, tools] = [options.thinking === true, options.tools !== false];
  const pieces = documentOf(session, {
    thinking,
    toolDetails: tools,
    assistantMetadata: options.metadata !== false,
    renderEntry: (entry) => renderEntry(entry, { thinking, tools }),
    onBadLine: badLines.add,
  });
  // A terminal gets escaped text; a program or a file gets the exact document.
  const shown = (piece: string) => (io.isTerminal ? markdownText(piece, io) : piece);
  await giveDocument(pieces, { io, file: output, logPath: session.path, shown });
  const notice = await tellNotUnderstood(session, io);
  badLines.tell(io);
  await tellTornTail(session, io);
  return notice === null ? 0 : NOTHING_SHOWN;
}

async function openGiven(run: Run) {
  const { args, options } = run;
  const threadId = textOption("--thread-id", options.threadId);
  const [name] = args;
  if ((threadId === undefined) === (name === undefined)) {
    throw new UsageError("name one session, by itself or with --thread-id");
  }
  if (threadId === undefined) return openByName(name ?? "", run);
  // The only dialect whose sessions are called threads.
  await loadDialects(DIALECT_NAMES);
  const dialect = DIALECT_NAMES.find((each) => dialectNamed(each).reading.document !== undefined);
  if (options.dialect !== undefined && options.dialect !== dialect) {
    throw new UsageError(`--thread-id names a ${dialect} thread`);
  }
  const { findStores } = await import("../../sessions/list/find-stores.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { Store } = await import("../../sessions/store/store.ts");
  const [store] = await findStores({ ...whereOf(options), dialect: dialect ?? "" });
  return new Store(nodeHost, { dialect, root: store?.root ?? "." }).open(threadId);
}
