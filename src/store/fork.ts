/**
 * Fork: a new session that begins as a prefix of another one, its parent.
 *
 * FO1  Lines are carried over in the dialect's own shape: what the writer adds (times, ids, the chain)
 *      is the new session's own, everything else is as it was.
 * FO2  It says at its beginning whose fork it is: rye in the `parent_thread_id` of its `thread_start`,
 *      every dialect in the entry that is given here, which stands first, or right after that event.
 * FO3  Lines that no caller may write (checkpoints, other programs' rows) are not carried over. They
 *      are counted.
 */

import { VerbatimError } from "../base/errors.ts";
import type { DialectName, Native } from "../dialects/dialect.ts";
import { without } from "../dialects/fields.ts";
import { readEnvelope } from "../dialects/rye/envelope.ts";
import type { NewEntry } from "../model/entry.ts";
import type { Session } from "./session.ts";
import type { Store } from "./store.ts";

export type { DialectName, Native };

/** Lines that are under way at once: they share syncs, and fit the log's queue. */
const LINES_AT_ONCE = 64;

export interface ForkParts {
  readonly parent: string;
  readonly natives: readonly Native[];
  /** What is said of the fork, as an entry. */
  readonly entry: NewEntry;
  readonly id?: string;
}

export interface Forked {
  readonly session: Session;
  /** Lines that were not carried over (FO3). */
  readonly leftBehind: number;
}

export async function forkInto(store: Store, parts: ForkParts): Promise<Forked> {
  const { parent, entry, id } = parts;
  const agent = agentIn(store.dialect, parent, parts.natives.at(-1) ?? null);
  const session = await store.create({
    ...(id === undefined ? {} : { id }),
    ...(agent === null ? {} : { agent }),
    wait: true,
  });
  const [start, ...rest] =
    store.dialect === "rye" ? startingWith(parent, parts.natives) : [null, ...parts.natives];
  if (start) await session.appendNative(start);
  await session.append(entry);
  let leftBehind = 0;
  for (let at = 0; at < rest.length; at += LINES_AT_ONCE) {
    const lines = rest.slice(at, at + LINES_AT_ONCE).filter((line) => line !== null);
    const told = await Promise.allSettled(lines.map((line) => session.appendNative(line)));
    for (const each of told) if (each.status === "rejected") leftBehind += refusedBy(each.reason);
  }
  return { session, leftBehind };
}

/** Who is at work, as a session's id or a line of it has it; null where neither says so. */
export function agentIn(dialect: DialectName, id: string, native: Native | null): string | null {
  if (dialect === "homeagent") return id.slice(0, id.indexOf("/"));
  if (dialect !== "rye" || native === null) return null;
  return readEnvelope(native).event?.directive ?? null;
}

/** A thread's own start, which names the parent, and the rest of its lines. */
function startingWith(parent: string, natives: readonly Native[]): readonly Native[] {
  const [first = {}] = natives;
  const { event } = readEnvelope(first);
  const isStart = event?.meaning === "thread_start";
  const data = isStart && event ? without(event.data, ["type", "event_type"]) : {};
  const start = { ...data, type: "thread_start", parent_thread_id: parent };
  return [start, ...(isStart ? natives.slice(1) : natives)];
}

/** One line that is not carried over; anything but a refusal of the line is thrown (FO3). */
function refusedBy(reason: unknown): number {
  if (reason instanceof VerbatimError && reason.code === "INVALID_ENTRY") return 1;
  throw reason;
}
