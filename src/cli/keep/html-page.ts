/**
 * Html page: a session as one HTML page, written in pieces as its entries are read.
 *
 * A whole session is read twice, because the page's head has totals. For only the last entries, the
 * rest is not read, and the head says what these entries say.
 */

import { nodeHost } from "../../core/base/node-host.ts";
import type { SessionStatus, Summary } from "../../core/model/summary.ts";
import { usageOnce } from "../../core/model/usage-once.ts";
import { listedAside } from "../../dialects/facets/reading.ts";
import type { BadEntry, StoredEntry } from "../../dialects/files/stored-entries.ts";
import { toolViews } from "../../dialects/tool-table.ts";
import { OutlineFold } from "../../sessions/outline/outline-fold.ts";
import { type BadLineRun, SessionPage, UNSCANNED } from "../../sessions/render/html/page.ts";
import { editPlaces } from "../../sessions/render/html/placed-entry.ts";
import type { Session } from "../../sessions/store/session.ts";
import { NOTHING_KNOWN, SummaryFold } from "../../sessions/summary/summary.ts";
import { tellUnshown, tornBytesOf } from "../look/named-session.ts";
import type { ExportSource } from "./export-formats.ts";
import { type ExportedNotes, exportedNotes } from "./exported-notes.ts";
import { maskedItems } from "./masked-items.ts";

/** Maximum consecutive bad lines listed; further ones are counted. */
export const BAD_LINES_IN_A_ROW_MAX = 100;

/** The session as a page; reports what the page does not show. */
export async function* htmlPieces(source: ExportSource): AsyncGenerator<string> {
  const { session, run, badLines, last, notice } = source;
  const { options, io } = run;
  const lastItems = last === null ? null : await itemsFromEnd(session, last, badLines.add);
  const summary = lastItems ? await summaryOfLast(session, lastItems) : await summarise(session);
  const notes = await exportedNotes(session, run, "html");
  const masked = await maskedItems(source);
  const { id, dialect } = session;
  const unscanned = masked === null ? { notice } : { ...UNSCANNED, notice: masked.notice };
  const facts = { ...summary, session: id, dialect: dialect.name, last, ...unscanned };
  const pageFacts = lastItems ? { ...facts, turns: null, lines: null } : facts;
  source.onFacts?.(pageFacts);
  const outline = new OutlineFold(dialect.reading);
  const page = new SessionPage(
    pageFacts,
    { thinking: options.thinking === true, tools: options.tools !== false },
    (start, part) => editPlaces(outline.marks, start, part),
  );
  const items = masked?.items() ?? lastItems ?? itemsInOrder(session, badLines.add);
  yield* piecesOf(page, items, session, outline, notes);
  tellUnshown(page.unshown, io);
}

type Item = StoredEntry | BadLineRun;
type Items = AsyncIterable<Item> | readonly Item[];

async function* piecesOf(
  page: SessionPage,
  items: Items,
  session: Session,
  outline: OutlineFold,
  notes: ExportedNotes,
) {
  const { dialect } = session;
  yield page.head() + notes.head;
  for await (const item of usageOnce<Item>(items)) {
    if ("kind" in item) {
      const tools = toolViews(dialect.reading.tools, item.parts);
      const results = dialect.reading.resultViews?.(item.native) ?? [];
      outline.add(item, item.start, null); // First: the page asks it for the lines of edits.
      yield page.entry({ ...item, tools, results }) + notes.after(item.start);
    } else yield page.badLines(item);
  }
  yield page.foot({ tornBytes: await tornBytesOf(session) });
}

/** The session's entries, and the bad lines between them. */
async function* itemsInOrder(
  session: Session,
  onBadLine: (bad: BadEntry) => void,
): AsyncGenerator<Item> {
  const run = new BadRun();
  const take = (bad: BadEntry) => {
    onBadLine(bad);
    run.add(bad);
  };
  for await (const entry of session.entries({ onBadLine: take })) {
    if (run.count > 0) yield run.take();
    yield entry;
  }
  if (run.count > 0) yield run.take();
}

/** The same for the last entries, which are read from the end and held in memory. */
async function itemsFromEnd(
  session: Session,
  last: number,
  onBadLine: (bad: BadEntry) => void,
): Promise<Item[]> {
  const run = new BadRun();
  const take = (bad: BadEntry) => {
    onBadLine(bad);
    run.add(bad);
  };
  const entries = await session.last(last, { onBadLine: take });
  const { listed, more } = run.take();
  const badLines = listed.map((bad) => ({ at: bad.offset, item: { listed: [bad], more: 0 } }));
  const ordered: Item[] = [...badLines, ...entries.map((item) => ({ at: item.start, item }))]
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
  // The lines that were only counted come first.
  return more > 0 ? [{ listed: [], more }, ...ordered] : ordered;
}

/** Consecutive bad lines. */
class BadRun {
  #listed: BadEntry[] = [];
  count = 0;

  add(bad: BadEntry): void {
    if (bad.reason === "blank") return; // An empty line.
    if (this.count++ < BAD_LINES_IN_A_ROW_MAX) this.#listed.push(bad);
  }

  take(): BadLineRun & { readonly listed: readonly BadEntry[] } {
    const run = { listed: this.#listed, more: this.count - this.#listed.length };
    this.#listed = [];
    this.count = 0;
    return run;
  }
}

async function summarise(session: Session): Promise<Summary> {
  const fold = new SummaryFold();
  let agentName: string | null = null;
  for await (const entry of session.entries({ onBadLine: () => fold.addBadLine() })) {
    const mark = session.dialect.turns.turnMark(entry.native, session.id);
    fold.add(entry, listedAside(session.dialect.reading, entry.native, session.id), mark);
    agentName ??= session.dialect.reading.agentSaidIn?.(entry.native) ?? null;
  }
  return fold.summary({ agent: agentOf(session, agentName), status: await standing(session) });
}

/** The summary if only the end was read. */
async function summaryOfLast(session: Session, items: readonly Item[]): Promise<Summary> {
  const fold = new SummaryFold();
  let agentName: string | null = null;
  for (const item of items) {
    if (!("kind" in item)) continue;
    fold.add(item, listedAside(session.dialect.reading, item.native, session.id));
    agentName ??= session.dialect.reading.agentSaidIn?.(item.native) ?? null;
  }
  const details = { agent: agentOf(session, agentName), status: await standing(session) };
  const { agent, model, status, updatedAt } = fold.summary(details);
  return { ...NOTHING_KNOWN, agent, model, status, updatedAt };
}

/** The agent, from the lines or else from the id; null if neither has it. */
function agentOf({ id, dialect }: Session, agentName: string | null): string | null {
  if (dialect.reading.agentSaidIn) return agentName;
  return id.includes("/") ? (dialect.naming.agentOf?.(id) ?? null) : null;
}

/** The status of a session that has not ended, from its dialect's files. */
async function standing({ root, logId, dialect }: Session): Promise<SessionStatus | null> {
  const id = dialect.naming.layout.idAt(logId.split("/"));
  const files = await dialect.files?.load?.();
  if (id === null || !files?.standingOf) return null;
  return (await files.standingOf(nodeHost, root, id)).status;
}
