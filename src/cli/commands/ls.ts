/** `verbatim ls`: every session of the stores found from here, without reading their logs twice. */

import type { SessionSort } from "../../catalog/session-row.ts";
import { jsonText } from "../../render/json-text.ts";
import { safeText } from "../../render/safe-text.ts";
import type { SessionSummary } from "../../store/list.ts";
import { ChunkedOutput } from "../chunked-output.ts";
import { type CliCommand, type Io, wholeNumber } from "../command.ts";
import { WHERE_OPTIONS, whereOf } from "../reading.ts";
import { type Column, formatTable } from "../table.ts";

/** A session counts as live when it was appended to within this time. */
const LIVE_MS = 60_000;

const SORTS: Readonly<Record<string, SessionSort>> = {
  updated: "updated",
  created: "created",
  cost: "spend",
  tokens: "tokens",
  turns: "turns",
  id: "id",
};

export const ls: CliCommand = {
  name: "ls",
  summary: "List the sessions of the stores found from the current directory",
  options: [
    {
      flags: "--sort <order>",
      summary: "newest or largest first; id from a to z",
      choices: Object.keys(SORTS),
      default: "updated",
    },
    { flags: "--limit <n>", summary: "at most so many" },
    { flags: "--json", summary: "one session a line, as JSON" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim ls",
    "verbatim ls --sort cost --limit 10",
    "verbatim ls --dialect rye --json | jq -r 'select(.status == \"error\").id'",
  ],

  async run({ options, io }) {
    const limit = options.limit === undefined ? Infinity : wholeNumber("--limit", options.limit, 1);
    const { findStores } = await import("../../store/find-session.ts");
    const { nodeHost } = await import("../../base/node-host.ts");
    const { Store } = await import("../../store/store.ts");
    const { sortRows } = await import("../../catalog/session-row.ts");
    const stores = findStores(whereOf(options));
    let found: SessionSummary[] = [];
    const onWarning = (warning: string) => io.err(`warning: ${warning}`);
    for (const store of stores) {
      const onProgress = (done: number, total: number) =>
        io.progress(`${store.dialect}: ${done} of ${total} sessions read`);
      found = found.concat(await new Store(nodeHost, { ...store, onWarning }).list({ onProgress }));
    }
    io.progress(null);
    const sort = SORTS[String(options.sort)] ?? "updated";
    const sessions = (sortRows(found, sort) as SessionSummary[]).slice(0, limit);
    const nowMs = Date.now();
    if (options.json) {
      const output = new ChunkedOutput(io);
      for (const session of sessions) {
        // Spliced in: to copy a session for one more field would cost as much as to print it.
        const json = safeText(jsonText(session)).slice(0, -1);
        await output.add(`${json},"live":${isLive(session, nowMs)}}\n`);
      }
      await output.flush();
    } else if (sessions.length > 0) {
      await io.print(`${describe(sessions, nowMs, io).join("\n")}\n`);
    }
    if (found.length === 0) {
      const places = stores.map(({ root }) => root).join(" and ");
      io.err(places ? `no sessions in ${places}` : "no store of sessions was found from here");
    }
    return 0;
  },
};

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

function isLive({ mtimeMs }: SessionSummary, nowMs: number): boolean {
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
