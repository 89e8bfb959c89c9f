/**
 * Session table: the sessions of a listing as text. A terminal gets what a person looks for, cut to
 * its width; a pipe gets whole ids, paths and times.
 */

import type { SessionSort } from "../../dialects/session-row.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { agentOf, programIdOf, projectName, senderOf } from "../../sessions/list/whose.ts";
import { type SessionLine, summaryOf } from "../../sessions/store/list.ts";
import type { SessionSummary } from "../../sessions/store/store-api.ts";
import type { Io } from "../command/command.ts";
import { formatTable, type TableColumn } from "../command/table.ts";

export interface TableOptions {
  readonly sort: SessionSort;
  readonly nowMs: number;
  /** All sessions found, so that a short id means one of them. */
  readonly found: readonly SessionLine[];
  /** Those that a writer is at work on. */
  readonly live: ReadonlySet<SessionLine>;
  /** By session, if they are sorted by it: US dollars. */
  readonly costs: ReadonlyMap<SessionLine, number | null> | null;
}

export function sessionTable(
  sessions: readonly SessionLine[],
  options: TableOptions,
  io: Pick<Io, "isTerminal" | "columns">,
): string[] {
  return io.isTerminal ? forPeople(sessions, options, io.columns) : forPipes(sessions, options);
}

/** Only where costs were counted: what logs record alone would be another number. */
const COST: TableColumn = { heading: "COST", align: "right" };
/** Only where a session was received from another machine. */
const FROM: TableColumn = { heading: "FROM", widthMin: 8, droppedAs: 6 };
const PIPE_COLUMNS: readonly TableColumn[] = [
  { heading: "ID" },
  { heading: "AGENT" },
  { heading: "MODEL" },
  { heading: "STATUS" },
  { heading: "TURNS", align: "right" },
  { heading: "TOKENS", align: "right" },
  COST,
  { heading: "UPDATED" },
  FROM,
  { heading: "PROJECT" },
  { heading: "BRANCH" },
  { heading: "TITLE" },
];

function forPipes(sessions: readonly SessionLine[], { live, costs }: TableOptions): string[] {
  const isSent = areSent(sessions);
  const rows = sessions.map((line) => {
    const session = summaryOf(line);
    return [
      session.id,
      agentOf(session),
      session.model ?? NONE,
      line.isMissing ? "missing" : statusOf(session, live.has(line)),
      String(session.turns),
      tokensOf(session),
      ...(costs === null ? [] : [costText(costs.get(line) ?? null)]),
      updatedAt(session),
      ...(isSent ? [fromOf(session)] : []),
      session.project ?? NONE,
      session.branch ?? NONE,
      `${session.erased ? `[${erasedText(session.erased)}] ` : ""}${notedTitle(session)}`,
    ];
  });
  const columns = PIPE_COLUMNS.filter(
    (column) => (costs !== null || column !== COST) && (isSent || column !== FROM),
  );
  return formatTable(columns, rows);
}

const NONE = "–";

const titleOf: Cell = (session) => {
  return `${session.erased ? "[text erased] " : ""}${notedTitle(session)}`;
};

/** With the user's star before it, and the tags after it. */
function notedTitle({ title, starred, tags }: SessionSummary): string {
  return [...(starred ? ["★"] : []), title ?? NONE, ...tags.map((tag) => `#${tag}`)].join(" ");
}

function areSent(sessions: readonly SessionLine[]): boolean {
  return sessions.some(({ place }) => senderOf(place.root) !== null);
}

function fromOf({ root }: Pick<SessionSummary, "root">): string {
  const sender = senderOf(root);
  return sender === null ? NONE : `${sender.user}@${sender.machine}`;
}

/** Of the width, what a title gets at least if it is that long. */
export const TITLE_SHARE = 0.4;

/** The columns of a terminal, and what each shows. */
type Cell = (session: SessionSummary, line: SessionLine) => string;

function forPeople(
  sessions: readonly SessionLine[],
  { sort, nowMs, found, live, costs }: TableOptions,
  width: number,
): string[] {
  const short = shortIds(found.length > 0 ? found : sessions);
  const when: Cell = (session, line) => {
    if (line.isMissing) return "missing";
    if (sort === "created") return relativeTime(session.createdAt ?? updatedAt(session), nowMs);
    return live.has(line) ? "live" : relativeTime(updatedAt(session), nowMs);
  };
  const columns: (TableColumn & { readonly cell: Cell })[] = [
    { heading: sort === "created" ? "CREATED" : "WHEN", cell: when },
    { heading: "AGENT", widthMin: 11, droppedAs: 5, cell: agentOf },
    ...(areSent(sessions) ? [{ ...FROM, cell: fromOf }] : []),
    {
      heading: "PROJECT",
      widthMin: 8,
      droppedAs: 4,
      cell: ({ project }) => (project === null ? NONE : projectName(project)),
    },
    { heading: "BRANCH", widthMin: 6, droppedAs: 1, cell: ({ branch }) => branch ?? NONE },
    { heading: "MODEL", widthMin: 12, droppedAs: 2, cell: ({ model }) => shortModel(model) },
    { heading: "TURNS", align: "right", droppedAs: 3, cell: ({ turns }) => String(turns) },
    ...sortedBy(sort, costs),
    { heading: "TITLE", widthMin: Math.ceil(TITLE_SHARE * width), cell: titleOf },
    // A UUID is not cut: nothing finds a session by a cut id.
    { heading: "ID", widthMin: 36, cell: ({ id }, line) => short.get(line) ?? id },
  ];
  /** Below the table: a title is cut to its column, and would not show the reason. */
  const erased: string[] = [];
  const rows = inTrees(sessions).map(({ line, session, depth }) => {
    if (session.erased) erased.push(`${short.get(line) ?? line.id}: ${erasedText(session.erased)}`);
    const mark = depth === 0 ? "" : `${"  ".repeat(depth - 1)}└ `;
    return columns.map(({ cell }) => (cell === titleOf ? mark : "") + cell(session, line));
  });
  return [...formatTable(columns, rows, width), ...erased];
}

interface TreeRow {
  readonly line: SessionLine;
  readonly session: SessionSummary;
  /** How many of the sessions above it in its tree. */
  readonly depth: number;
}

/** Each session with those that it started below it; otherwise in the order of the list. */
function inTrees(sessions: readonly SessionLine[]): TreeRow[] {
  const all = sessions.map((line) => ({ line, session: summaryOf(line) }));
  const keyOf = ({ dialect, root }: SessionSummary, id: string) => `${dialect}\0${root}\0${id}`;
  const ids = new Set(all.map(({ session }) => keyOf(session, session.id)));
  const children = new Map<string | null, typeof all>();
  for (const each of all) {
    const { session } = each;
    const isChild = session.parent !== null && session.parent !== session.id;
    const key = isChild ? keyOf(session, session.parent ?? "") : null;
    const parent = key !== null && ids.has(key) ? key : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(each);
    else children.set(parent, [each]);
  }
  const rows = new Map<SessionLine, TreeRow>();
  const add = (of: string | null, depth: number) => {
    for (const each of children.get(of) ?? []) {
      if (rows.has(each.line)) continue;
      rows.set(each.line, { ...each, depth });
      add(keyOf(each.session, each.session.id), depth + 1);
    }
  };
  add(null, 0);
  // Sessions that name each other as parents are below none.
  for (const each of all) if (!rows.has(each.line)) rows.set(each.line, { ...each, depth: 0 });
  return [...rows.values()];
}

/** The column that the sessions are sorted by, if it is not among the others. */
function sortedBy(
  sort: SessionSort,
  costs: TableOptions["costs"],
): (TableColumn & { readonly cell: Cell })[] {
  if (sort === "tokens") return [{ heading: "TOKENS", align: "right", cell: tokensOf }];
  if (costs === null) return [];
  const cell: Cell = (_, line) => costText(costs.get(line) ?? null);
  return [{ heading: "COST", align: "right", cell }];
}

function tokensOf({ totalTokens, inputTokens, outputTokens }: SessionSummary): string {
  if (totalTokens === null) return NONE;
  const isLeast = inputTokens === null && outputTokens !== null;
  return isLeast ? `${totalTokens} + ?` : String(totalTokens);
}

function costText(cost: number | null): string {
  return cost === null ? NONE : `$${cost.toFixed(4)}`;
}

function statusOf({ status }: SessionSummary, isLive: boolean): string {
  return [status, isLive ? "live" : null].filter(Boolean).join(" ") || NONE;
}

/** That text is gone from a session, when and why. */
function erasedText({ at, reason }: NonNullable<SessionSummary["erased"]>): string {
  return `text erased${at === null ? "" : ` ${at.slice(0, 10)}`}: ${reason}`;
}

/** Without the date of a release, which says nothing next to the name. */
function shortModel(model: string | null): string {
  return model?.replace(/-20\d{6}$|-20\d\d-\d\d-\d\d$/, "") ?? NONE;
}

function updatedAt({ updatedAt: at, mtimeMs }: SessionSummary): string {
  return at ?? new Date(mtimeMs).toISOString();
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"].concat(
  "Jul",
  "Aug",
  "Sep",
  "Oct",
  "Nov",
  "Dec",
);

/** At most 8 characters: `3h ago`, a day of the last year, or a month. */
export function relativeTime(at: string, nowMs: number): string {
  const atMs = Date.parse(at);
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 60) return "now";
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h ago`;
  if (seconds < 30 * 86_400) return `${Math.floor(seconds / 86_400)}d ago`;
  const date = new Date(atMs);
  const month = MONTHS[date.getMonth()] ?? "";
  return seconds < 330 * 86_400 ? `${month} ${date.getDate()}` : `${month} ${date.getFullYear()}`;
}

interface NamedSession {
  readonly id: string;
  readonly place: Pick<FoundStore, "dialect">;
}

/** Shorter ones are easy to mistake. */
const SHORT_MIN = 8;

/**
 * For each session the shortest beginning of its name that `findSession` takes for no other. A name
 * that several sessions have is no use: then it is the whole id.
 */
export function shortIds<Named extends NamedSession>(found: readonly Named[]): Map<Named, string> {
  const names = found.flatMap((line) => {
    const name = lastPart(line);
    const own = { text: name, line, isName: true };
    return name === line.id ? [own] : [own, { text: line.id, line, isName: false }];
  });
  names.sort((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)));
  const short = new Map<Named, string>();
  for (const [at, { text, line, isName }] of names.entries()) {
    if (!isName) continue;
    const common = Math.max(sharedWith(names, at, -1), sharedWith(names, at, 1));
    const isTaken = [names[at - 1], names[at + 1]].some(
      (each) => each?.isName && each.text === text && each.line !== line,
    );
    short.set(line, isTaken ? line.id : text.slice(0, Math.max(SHORT_MIN, common + 1)));
  }
  return short;
}

/** How many characters a name has in common with the nearest of another session. */
function sharedWith(
  names: readonly { readonly text: string; readonly line: NamedSession }[],
  at: number,
  step: 1 | -1,
): number {
  const own = names[at];
  let other = at + step;
  while (names[other] !== undefined && names[other]?.line === own?.line) other += step;
  const [a, b] = [own?.text ?? "", names[other]?.text ?? ""];
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function lastPart({ id, place }: NamedSession): string {
  const name = programIdOf(place.dialect, id);
  return name.slice(name.lastIndexOf("/") + 1);
}
