/**
 * Listing: the sessions of the stores found from somewhere, printed for people or for programs.
 *
 * LI1  Loaded for each `verbatim ls`, so it loads little itself: what reads sessions comes only
 *      when one has to be read (store/list.ts, LS1).
 * LI2  All that is printed is escaped here, whatever the catalog says.
 */

import { catalogPath } from "../base/node-places.ts";
import { type RowLine, type SessionSort, sortLines } from "../catalog/session-row.ts";
import { safeText } from "../render/safe-text.ts";
import { type FoundStore, findStores, type Where } from "../store/find-stores.ts";
import {
  type Listed,
  listLines,
  type SessionLine,
  type SessionSummary,
  summaryOf,
  unclosedJson,
} from "../store/list.ts";
import type { Io } from "./command.ts";
import { type Column, formatTable } from "./table.ts";

export interface ListingOptions {
  readonly sort: SessionSort;
  readonly limit: number;
  /** One session a line, as JSON. */
  readonly isJson: boolean;
}

/** A session counts as live when it was appended to within this time. */
const LIVE_MS = 60_000;

/** About 64 KB: few writes, and no text so large that the collector treats it apart. */
const LINES_PER_PRINT = 120;

export async function printListing(
  where: Where,
  { sort, limit, isJson }: ListingOptions,
  io: Io,
): Promise<void> {
  const stores = findStores(where);
  let found: SessionLine[] = [];
  for (const store of stores) {
    const onProgress = (done: number, total: number) =>
      io.progress(`${store.dialect}: ${done} of ${total} sessions read`);
    found = found.concat(await listLines(listed(store, io), { sort, onProgress }));
  }
  io.progress(null);
  const sessions = sortLines(found).slice(0, limit);
  const nowMs = Date.now();
  if (isJson) {
    for (let at = 0; at < sessions.length; at += LINES_PER_PRINT) {
      const lines = sessions
        .slice(at, at + LINES_PER_PRINT)
        .map((session) => `${unclosedJson(session)},"live":${isLive(session.line, nowMs)}}\n`);
      await io.print(safeText(lines.join("")));
    }
  } else if (sessions.length > 0) {
    await io.print(`${describe(sessions.map(summaryOf), nowMs, io).join("\n")}\n`);
  }
  if (found.length === 0) {
    const places = stores.map(({ root }) => root).join(" and ");
    io.err(places ? `no sessions in ${places}` : "no store of sessions was found from here");
  }
}

/** The store, with what reads its sessions loaded when it is asked for (LI1). */
function listed({ dialect, root }: FoundStore, io: Io): Listed {
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const summaries = async () => {
    const { nodeHost } = await import("../base/node-host.ts");
    const { Store } = await import("../store/store.ts");
    return new Store(nodeHost, { dialect, root, onWarning }).summaries();
  };
  return { dialect, root, catalogPath: catalogPath(), summaries, onWarning };
}

const COLUMNS: readonly Column[] = [
  { heading: "ID", widthMin: 16 },
  { heading: "AGENT", widthMin: 8 },
  { heading: "MODEL", widthMin: 8 },
  { heading: "STATUS" },
  { heading: "TURNS", align: "right" },
  { heading: "TOKENS", align: "right" },
  { heading: "COST", align: "right" },
  { heading: "UPDATED" },
];

function describe(sessions: readonly SessionSummary[], nowMs: number, io: Io): string[] {
  const rows = sessions.map((session) => [
    session.id,
    session.agent ?? "–",
    session.model ?? "–",
    [session.status, isLive(session, nowMs) ? "live" : null].filter(Boolean).join(" ") || "–",
    String(session.turns),
    session.totalTokens === null ? "–" : String(session.totalTokens),
    session.spend === null ? "–" : `$${session.spend.toFixed(4)}`,
    updated(session, io.isTerminal ? nowMs : null),
  ]);
  return formatTable(COLUMNS, rows, io.isTerminal ? io.columns : null);
}

function isLive({ mtimeMs }: Pick<RowLine, "mtimeMs">, nowMs: number): boolean {
  return nowMs - mtimeMs < LIVE_MS;
}

/** How long ago, or with null when exactly. */
function updated({ updatedAt, mtimeMs }: SessionSummary, nowMs: number | null): string {
  const at = updatedAt ?? new Date(mtimeMs).toISOString();
  if (nowMs === null) return at;
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(at)) / 1000));
  for (const [unit, length] of [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
  ] as const) {
    if (seconds >= length) return `${Math.floor(seconds / length)} ${unit} ago`;
  }
  return `${seconds} s ago`;
}
