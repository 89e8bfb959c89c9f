/**
 * Changed listing: brings a kept listing up to date after few sessions changed, without SQLite: reads
 * their logs and replaces their lines (docs/decisions/0010-kept-listing.md).
 *
 * Only for `ls --json` of all sessions, the last updated first: there, a line depends on its session
 * alone. The catalog is not changed; it finds the same logs changed when it is used next.
 */

import { nodeHost } from "../../base/node-host.ts";
import { compareRows, lineOf, type SessionRow } from "../../catalog/session-row.ts";
import { bareRow } from "../../catalog/table.ts";
import { placeOf, type SessionLine } from "../../store/list.ts";
import type { ChangedLog } from "./changed-logs.ts";
import { fullerGenerations } from "./fuller-generations.ts";
import { jsonLines, mark } from "./listing-json.ts";
import { liveAmong } from "./live-sessions.ts";

/** More changed sessions, or longer ones, are read by way of the catalog, which shows progress. */
export const CHANGED_MAX = 8;
const CHANGED_BYTES_MAX = 4 * 2 ** 20;

const LF = 0x0a;

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
  if (changed.reduce((sum, { log }) => sum + log.size, 0) > CHANGED_BYTES_MAX) return null;
  try {
    const sessions: SessionLine[] = [];
    for (const each of changed) sessions.push(await sessionOf(each));
    const live = await liveAmong(sessions, nowMs);
    const flags = { live, fuller: fullerGenerations(sessions) };
    let text = kept;
    for (const session of sessions) text = replaced(text, session, jsonLines([session], flags));
    return { text, sessions, live };
  } catch {
    return null; // The catalog's listing reports it.
  }
}

async function sessionOf({ store: { dialect, root }, log }: ChangedLog): Promise<SessionLine> {
  const { Store } = await import("../../store/store.ts");
  const onWarning = (warning: string) => {
    throw new Error(warning);
  };
  const summary = await new Store(nodeHost, { dialect, root, onWarning })
    .summaries()
    .summarise(log.id);
  const line = lineOf({ ...bareRow(log), ...summary }, "updated");
  return { id: line.id, key: line.key, line, place: placeOf(dialect, root) };
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
    const order = compareRows(lineOf(row, "updated"), { key, id });
    if (order < 0 || (order === 0 && row.dialect < place.dialect)) low = end;
    else high = start;
  }
  return low;
}
