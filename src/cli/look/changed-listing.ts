/**
 * Changed listing: brings a kept listing up to date after few sessions changed, without SQLite: reads
 * their logs and replaces their lines (docs/decisions/0010-kept-listing.md).
 *
 * Only for `ls --json` of all sessions, the last updated first: there, a line depends on its session
 * alone. The catalog is not changed; it finds the same logs changed when it is used next.
 *
 * What was read of these sessions is kept in a file next to the listing, so that the next listing
 * reads only what they grew by. A cache like the listing.
 */

import { nodeHost } from "../../core/base/node-host.ts";
import { keptListingPath } from "../../core/base/node-paths.ts";
import { compareRows, rowLineOf, type SessionRow } from "../../dialects/session-row.ts";
import { bareRow, CATALOG_VERSION } from "../../sessions/catalog/table.ts";
import { keepText, readCachedText } from "../../sessions/catalog/text-cache.ts";
import { withNotes } from "../../sessions/list/list-page.ts";
import { rowPlaceOf, type SessionLine } from "../../sessions/store/list.ts";
import type { KeptSummary } from "../../sessions/summary/grown-summary.ts";
import type { ChangedLog } from "./changed-logs.ts";
import { fullerGenerations, jsonLines, liveAmong, mark } from "./listing-json.ts";

/** More changed sessions, or more bytes, are read by way of the catalog, which shows progress. */
export const CHANGED_MAX = 8;
const CHANGED_BYTES_MAX = 256 * 2 ** 20;

const LF = 0x0a;

/** Changes when a summary is kept in another form; the catalog's, when lines are read differently. */
const FORM_VERSION = 1;
/** Sessions in the file, and characters of each. */
const KEPT_MAX = 16;
const CHARS_MAX = 2 ** 18;

type KeptSummaries = ReadonlyMap<string, KeptSummary>;

const summariesPath = () => `${keptListingPath()}.summaries`;
const SUMMARIES = JSON.stringify([CATALOG_VERSION, FORM_VERSION]);

export interface ChangedListing {
  readonly text: Uint8Array;
  readonly sessions: readonly SessionLine[];
  readonly live: ReadonlySet<SessionLine>;
}

/** Null if something is not as expected, such as a log that cannot be read: use the catalog. */
export async function changedListing(
  kept: Buffer,
  changed: readonly ChangedLog[],
  nowMs: number,
): Promise<ChangedListing | null> {
  try {
    const sessions: SessionLine[] = [];
    const before = readSummaries(nowMs);
    const now = new Map<string, KeptSummary>();
    const noted = await withNotes("updated", (warning) => {
      throw new Error(warning);
    });
    for (const each of changed) {
      const of = JSON.stringify([each.store.dialect, each.store.root, each.log.id]);
      const read = await sessionOf(each, before.get(of));
      if (read === null) return null;
      sessions.push(noted(read.session));
      if (read.kept !== null) now.set(of, read.kept);
    }
    keepSummaries(now, before);
    const live = await liveAmong(sessions, nowMs);
    const flags = { live, fuller: fullerGenerations(sessions) };
    let text = kept;
    for (const session of sessions) text = replaced(text, session, jsonLines([session], flags));
    return { text, sessions, live };
  } catch {
    return null; // The catalog's listing reports it.
  }
}

/** Null if too much of it would have to be read. */
async function sessionOf(
  { store: { dialect, root }, log }: ChangedLog,
  before: KeptSummary | undefined,
): Promise<{ session: SessionLine; kept: KeptSummary | null } | null> {
  const { Store } = await import("../../sessions/store/store.ts");
  const { grownSummary } = await import("../../sessions/summary/grown-summary.ts");
  const onWarning = (warning: string) => {
    throw new Error(warning);
  };
  const store = new Store(nodeHost, { dialect, root, onWarning });
  const read = await grownSummary(nodeHost, store, log, before, CHANGED_BYTES_MAX);
  if (read === null) return null;
  const line = rowLineOf({ ...bareRow(log), ...read.summary }, "updated");
  const session = { id: line.id, key: line.key, line, place: rowPlaceOf(dialect, root) };
  return { session, kept: read.kept };
}

/** The text with another line for this session, where the order puts it. */
function replaced(text: Buffer, session: SessionLine, line: string): Buffer {
  const at = text.indexOf(mark(session));
  if (at < 0) throw new Error("the session has no line");
  const start = at === 0 ? 0 : text.lastIndexOf(LF, at) + 1;
  const others = Buffer.concat([text.subarray(0, start), text.subarray(text.indexOf(LF, at) + 1)]);
  const place = placeIn(others, session);
  return Buffer.concat([others.subarray(0, place), Buffer.from(line), others.subarray(place)]);
}

/** Where the line of a session belongs, by halves. */
function placeIn(text: Buffer, { key, id, place }: SessionLine): number {
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const start = middle === 0 ? 0 : text.lastIndexOf(LF, middle - 1) + 1;
    const end = text.indexOf(LF, middle) + 1;
    const row = JSON.parse(text.toString("utf8", start, end)) as SessionRow & { dialect: string };
    const order = compareRows(rowLineOf(row, "updated"), { key, id });
    if (order < 0 || (order === 0 && row.dialect < place.dialect)) low = end;
    else high = start;
  }
  return low;
}

function readSummaries(nowMs: number): KeptSummaries {
  const kept = readCachedText(summariesPath(), { question: SUMMARIES, nowMs });
  try {
    return new Map(JSON.parse(kept?.text.toString("utf8") ?? "[]") as [string, KeptSummary][]);
  } catch {
    return new Map();
  }
}

/** Stores these, and as many of the older ones as there is room for. */
function keepSummaries(now: KeptSummaries, before: KeptSummaries): void {
  const others = [...before].filter(([of]) => !now.has(of));
  const texts = [...now, ...others].slice(0, KEPT_MAX).map((each) => JSON.stringify(each));
  const text = `[${texts.filter(({ length }) => length <= CHARS_MAX).join(",")}]`;
  keepText(summariesPath(), { question: SUMMARIES, untilMs: null }, "", text);
}
