/**
 * Front page: what `verbatim` alone prints on a terminal: the newest sessions, what agents are about
 * to delete, what today cost, and the commands. Reads only the sessions that it shows, and those
 * only once.
 */

import { nodeHost } from "../../core/base/node-host.ts";
import { catalogPath } from "../../core/base/node-paths.ts";
import { type FoundLog, rowLineOf, type SessionRow } from "../../dialects/session-row.ts";
import { Catalog } from "../../sessions/catalog/catalog.ts";
import { bareRow } from "../../sessions/catalog/table.ts";
import { type FoundAgent, findAgents } from "../../sessions/list/agents.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { knownRow } from "../../sessions/list/listing-row.ts";
import { groupDigits } from "../../sessions/render/phrases.ts";
import { safeText } from "../../sessions/render/text.ts";
import { rowPlaceOf, type SessionLine } from "../../sessions/store/list.ts";
import { lastLook, usageDirectory } from "../../usage/ledger/ledger-file.ts";
import type { Io } from "../command/command.ts";
import { LISTED_GROUPS } from "../commands.ts";
import { retentionText } from "./agents.ts";
import { liveAmong } from "./listing-json.ts";
import { sessionTable } from "./session-table.ts";
import { statusLine } from "./statusline.ts";

const SHOWN = 5;
/** Subagents' sessions are passed over. */
const LOOKED_AT_MAX = 20;

/** False if there is nothing to show. */
export async function printFrontPage(io: Io): Promise<boolean> {
  const nowMs = Date.now();
  const logs: { readonly log: FoundLog; readonly store: FoundStore }[] = [];
  const found = await findAgents(process.cwd(), nowMs, (log, store) => logs.push({ log, store }));
  if (logs.length === 0) return false;
  const newest = logs.sort((a, b) => b.log.mtimeMs - a.log.mtimeMs);
  const sessions = await rowsOf(newest.slice(0, LOOKED_AT_MAX));
  const shown = new Map(sessions.map((line) => [keyOf(line.place, line.id), line]));
  const lines = newest.map(({ log, store }) => {
    return shown.get(keyOf(store, log.id)) ?? lineIn(store, bareRow(log));
  });
  const live = await liveAmong(sessions, nowMs);
  const order = { sort: "updated", costs: null } as const;
  const table = sessionTable(sessions, { ...order, nowMs, found: lines, live }, io);
  const facts = safeText([...agentLines(found), costLine(nowMs)].join("\n"));
  await io.print([table.join("\n"), facts, groupLines(), NEXT].join("\n\n"));
  return true;
}

const NEXT = `Next:
  verbatim show last              print the latest session
  verbatim serve --open           read all of them in a browser
  verbatim --help                 what each command does
`;

/** How many sessions there are, and what agents are about to delete. */
function agentLines(found: readonly FoundAgent[]): string[] {
  const agents = found.filter(({ sessions }) => sessions > 0);
  const own = agents.filter(({ isGuarded }) => !isGuarded);
  const due = agents.filter(({ retention }) => retention !== null && retention.due > 0);
  const counts = own.map(({ label, sessions }) => `${label} ${groupDigits(sessions)}`);
  return [
    `Sessions: ${counts.join(", ")}`,
    ...due.map((agent) => `About to be deleted: ${retentionText(agent)}`),
    ...(due.length > 0 ? ["  `verbatim guard` keeps a copy of every session for good"] : []),
  ];
}

/** As the last look at all sessions counted it: counting them now may take long. */
function costLine(nowMs: number): string {
  const { line, error } = statusLine("", nowMs);
  if (error !== null) return `Cost: unknown; ${error}`;
  return lastLook(usageDirectory()) === 0 ? "Cost: `verbatim usage` counts it" : `Cost: ${line}`;
}

function groupLines(): string {
  const width = Math.max(...LISTED_GROUPS.map(({ heading }) => heading.length));
  return LISTED_GROUPS.map(({ heading, commands }) => {
    return `${heading.padEnd(width)}  ${commands.map(({ name }) => name).join(", ")}`;
  }).join("\n");
}

async function rowsOf(
  newest: readonly { readonly log: FoundLog; readonly store: FoundStore }[],
): Promise<SessionLine[]> {
  const catalog = await Catalog.open(catalogPath());
  const lines: SessionLine[] = [];
  try {
    for (const { log, store } of newest) {
      const row = await knownRow(nodeHost, catalog, store, log);
      if (row !== null && row.parent === null) lines.push(lineIn(store, row));
      if (lines.length === SHOWN) break;
    }
    return lines;
  } finally {
    catalog.close();
  }
}

function keyOf({ dialect, root }: FoundStore, id: string): string {
  return `${dialect}\0${root}\0${id}`;
}

function lineIn({ dialect, root }: FoundStore, row: SessionRow): SessionLine {
  const line = rowLineOf(row, "updated");
  return { id: line.id, key: line.key, line, place: rowPlaceOf(dialect, root) };
}
