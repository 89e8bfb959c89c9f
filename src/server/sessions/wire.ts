/**
 * Wire: sessions and entries as JSON.
 *
 * Stored content is data: it is in JSON strings, and no answer is HTML. Values are printed without
 * recursion, because a line can be nested deeper than the stack.
 */

import type { ServerResponse } from "node:http";
import type { SessionItem, SessionUsage } from "../../client/session-shapes.ts";
import { exactJson } from "../../core/base/print-json.ts";
import type { Summary } from "../../core/model/summary.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { guardState } from "../../dialects/files/guarded.ts";
import { labelOf } from "../../dialects/registry.ts";
import { toolViews } from "../../dialects/tool-table.ts";
import { type PageRow, readRowFacts } from "../../sessions/catalog/page-rows.ts";
import type { WindowEntry } from "../../sessions/list/session-window.ts";
import { agentOf, senderOf } from "../../sessions/list/whose.ts";
import { jsonText } from "../../sessions/render/text.ts";
import type { Session } from "../../sessions/store/session.ts";
import { type AnswerRoom, answerText, type Headers, newHeaders } from "../http/answer.ts";
import type { Query } from "./query.ts";
import { type ServedStore, urlIdOf } from "./roots.ts";
import type { KnownSession, ServedSession, SessionService } from "./service.ts";

/** On every answer: a browser runs nothing of a session. */
export function sessionHeaders(): Headers {
  const headers = newHeaders();
  headers.push("Content-Security-Policy", "default-src 'none'; sandbox");
  headers.push("Cache-Control", "no-store");
  return headers;
}

export function answerJsonText(response: ServerResponse, text: string, room: AnswerRoom): void {
  room.hold(response, text.length);
  answerText(response, 200, "application/json", text, sessionHeaders());
}

/** A session in the list and on its own. */
export function sessionItem(
  { sendersBelow, notes }: Pick<SessionService, "sendersBelow" | "notes">,
  store: ServedStore,
  { row, isCurrent, cost, verdict }: ItemFacts,
  { isLive, isMissing = false }: { readonly isLive: boolean; readonly isMissing?: boolean },
): SessionItem {
  const { id, logPath, mtimeMs, size, ...summary } = notes.book.row(store, row);
  const state = guardState(store.dialect, store.root, logPath);
  const { path = "" } = store;
  const sender = senderOf(store.root);
  return {
    id: urlIdOf(store, id),
    session: id,
    dialect: store.dialect,
    root: store.root,
    program: programOf(store.dialect),
    sender: sender && { ...sender, folder: folderIn(path), tokens: [...sendersBelow(path)] },
    ...summary,
    starred: summary.starred === true,
    recordedTitle: row.title,
    agentLabel: agentOf({ dialect: store.dialect, agent: row.agent }),
    cost,
    verdict,
    bytes: size,
    modifiedAt: new Date(mtimeMs).toISOString(),
    isLive: isLive && !state.isKept,
    isCurrent,
    isMissing,
    ...state,
  };
}

/** Of `/sessions/<folder>/…` (docs/formats/remote.md). */
function folderIn(path: string): string {
  return path.split("/")[2] ?? "";
}

/** A session on its own, as the list has it. */
export async function itemOf(service: SessionService, served: ServedSession): Promise<SessionItem> {
  const { store, session } = served;
  const facts = await service.known(served);
  const catalog = await service.catalog().catch(() => null);
  const rowFacts = catalog && (await readRowFacts(catalog, store.dialect, store.root, session.id));
  const { cost, verdict } = { cost: facts.row.spend, verdict: null, ...rowFacts };
  const isLive = await service.isLive(store, facts.row);
  return sessionItem(service, store, { ...facts, cost, verdict }, { isLive });
}

/** A row, and what else is known of its session. */
export type ItemFacts = KnownSession & Pick<PageRow, "cost" | "verdict">;

/** As its users call it; null for a dialect of our own. */
export function programOf(dialect: string): string | null {
  return labelOf(dialect);
}

/** The recorded usage of a session. */
export function usageItem(store: ServedStore, { row, isCurrent }: KnownSession): SessionUsage {
  const { id, turns, inputTokens, outputTokens, totalTokens, spend, model } = row;
  const times = { createdAt: row.createdAt, updatedAt: row.updatedAt };
  const counted = { turns, inputTokens, outputTokens, totalTokens, spend };
  return { id: urlIdOf(store, id), session: id, model, ...times, ...counted, isCurrent };
}

export interface EntryForm {
  /** Whether the parsed line is included. */
  readonly native: boolean;
  /** Whether integers that a double cannot represent are numbers, and not strings of digits. */
  readonly exact: boolean;
}

export function entryFormOf(query: Query): EntryForm {
  return { native: query.flag("native", true), exact: query.flag("exact", false) };
}

/** The JSON of one line. */
export function entryJson(
  { start, end, entry, fault }: WindowEntry,
  form: EntryForm,
  { dialect, id }: Session,
): string {
  const place = { start, end, bytes: end - start };
  const description = {
    kind: entry?.kind ?? "other",
    role: entry?.role ?? null,
    at: entry?.at ?? null,
  };
  const aside = entry === null ? null : (dialect.reading.asideOf?.(entry.native, id) ?? null);
  const tools = toolViews(dialect.reading.tools, entry?.parts ?? []);
  const results = (entry && dialect.reading.resultViews?.(entry.native)) ?? [];
  const head = JSON.stringify({ ...place, ...description, fault, aside, tools, results });
  return `${head.slice(0, -1)},"entry":${entry === null ? "null" : neutralJson(entry, form)}}`;
}

function neutralJson(entry: NonNullable<WindowEntry["entry"]>, form: EntryForm): string {
  const print = form.exact ? exactJson : jsonText;
  if (form.native) return print(entry);
  const { native: _, ...neutral } = entry;
  return print(neutral);
}

/**
 * What continues a session in its own program, to be pasted into a shell. Null for a subagent, and
 * for programs that continue no session by its id.
 *
 * Ids and directories come from files of others: an id with anything but plain characters gives no
 * command, and a directory is quoted, or left out if a terminal could take it for keys.
 */
export function resumeCommandOf(
  dialect: string,
  id: string,
  { directory, parent }: Pick<Summary, "directory" | "parent">,
): string | null {
  const { naming, program } = dialectNamed(dialect);
  if (program?.resume === undefined) return null;
  if (parent !== null && program.hasForks !== true) return null;
  const name = naming.nameOf?.(id) ?? id;
  if (!/^\w[\w.-]*$/.test(name)) return null;
  const command = program.resume(name);
  return directory === null || !/^\/[^\p{C}\p{Zl}\p{Zp}]*$/u.test(directory)
    ? command
    : `cd ${quoted(directory)} && ${command}`;
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
