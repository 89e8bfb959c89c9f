/**
 * Front page: what `verbatim` alone prints on a terminal: the agents found, their newest sessions,
 * and what to do next. Reads only the sessions that it shows, and those only once.
 */

import { nodeHost } from "../../core/base/node-host.ts";
import { catalogPath } from "../../core/base/node-paths.ts";
import { type FoundLog, rowLineOf, type SessionRow } from "../../dialects/session-row.ts";
import { Catalog } from "../../sessions/catalog/catalog.ts";
import { bareRow } from "../../sessions/catalog/table.ts";
import { findAgents } from "../../sessions/list/agents.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { knownRow } from "../../sessions/list/known-row.ts";
import { safeText } from "../../sessions/render/text.ts";
import { rowPlaceOf, type SessionLine } from "../../sessions/store/list.ts";
import type { Io } from "../command/command.ts";
import { retentionText, sessionsText, shortPath } from "./agents.ts";
import { liveAmong } from "./listing-json.ts";
import { sessionTable } from "./session-table.ts";

const SHOWN = 3;
/** Subagents' sessions are passed over. */
const LOOKED_AT_MAX = 12;

const NEXT = `Next:
  verbatim serve --open           read them in a browser
  verbatim show last              print the latest one
  verbatim guard                  keep a copy of all of them for good

\`verbatim ls\` lists them, \`verbatim --help\` lists the commands.
`;

/** False if there is nothing to show. */
export async function printFrontPage(io: Io): Promise<boolean> {
  const nowMs = Date.now();
  const logs: { readonly log: FoundLog; readonly store: FoundStore }[] = [];
  const found = await findAgents(process.cwd(), nowMs, (log, store) => logs.push({ log, store }));
  if (logs.length === 0) return false;
  const agents = found
    .filter(({ sessions }) => sessions > 0)
    .flatMap((agent) => [
      `${agent.label}: ${sessionsText(agent.sessions)} in ${shortPath(agent.root)}`,
      ...(agent.retention?.due ? [`  ${retentionText(agent)}`] : []),
    ]);
  const newest = logs.sort((a, b) => b.log.mtimeMs - a.log.mtimeMs);
  const sessions = await rowsOf(newest.slice(0, LOOKED_AT_MAX));
  const shown = new Map(sessions.map((line) => [keyOf(line.place, line.id), line]));
  const lines = newest.map(({ log, store }) => {
    return shown.get(keyOf(store, log.id)) ?? lineIn(store, bareRow(log));
  });
  const live = await liveAmong(sessions, nowMs);
  const table = sessionTable(sessions, { sort: "updated", nowMs, found: lines, live }, io);
  await io.print(`${safeText(agents.join("\n"))}\n\n${table.join("\n")}\n\n${NEXT}`);
  return true;
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
