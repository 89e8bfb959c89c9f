/**
 * Fork: a new session that begins as a prefix of another one, its parent.
 *
 * FO1  Lines are carried over in the dialect's own shape: what the writer adds (times, ids, the chain)
 *      is the new session's own, everything else is as it was. What counts only with lines that are left
 *      behind was made to count without them before (`cutBefore` of the dialect).
 * FO2  It says at its beginning whose fork it is: rye in the `parent_thread_id` of its `thread_start`,
 *      every dialect in the entry that is given here, which stands first, or right after that event.
 *      Where it is signed, its genesis names the parent's signed head too.
 * FO3  Lines that no caller may write (checkpoints, other programs' rows) are not carried over. They
 *      are counted.
 * FO4  It is there whole, or not at all (whole-session.ts).
 */

import { randomUUID } from "node:crypto";
import { VerbatimError } from "../../base/errors.ts";
import type { Host } from "../../base/host.ts";
import { keyOf, sessionIdOf } from "../../dialects/claude/session-id.ts";
import type { Dialect, DialectName, Native } from "../../dialects/dialect.ts";
import { without } from "../../dialects/fields.ts";
import { readEnvelope } from "../../dialects/rye/envelope.ts";
import type { NewEntry } from "../../model/entry.ts";
import type { ForeignHead } from "../../proof/checkpoint.ts";
import type { Session } from "../../store/session.ts";
import type { Store } from "../../store/store.ts";
import { GroupedAppends } from "./grouped-appends.ts";
import { createWhole } from "./whole-session.ts";

export type { Dialect, DialectName, Native };

export interface ForkParts {
  readonly parent: string;
  /** The parent's signed head, and where the carried lines end; null where nothing is signed. */
  readonly head: ForeignHead | null;
  readonly natives: readonly Native[];
  /** Who was at work (`agentIn`); null: the store says. */
  readonly agent: string | null;
  /** What is said of the fork, as an entry. */
  readonly entry: NewEntry;
  readonly id?: string;
}

export interface Forked {
  readonly session: Session;
  /** Lines that were not carried over (FO3). */
  readonly leftBehind: number;
}

/** Refuses with SESSION_EXISTS, and with what the disk says; then nothing of it is there (FO4). */
export async function forkInto(host: Host, store: Store, parts: ForkParts): Promise<Forked> {
  const { head, agent } = parts;
  const id = parts.id ?? besideSubagent(store.dialect, parts.parent);
  const { session, filled: leftBehind } = await createWhole(
    host,
    store,
    {
      ...(id === undefined ? {} : { id }),
      ...(agent === null ? {} : { agent }),
      wait: true,
      from: head,
    },
    (fork) => fill(fork, parts),
  );
  return { session, leftBehind };
}

/**
 * Where a fork of a subagent's own log goes: beside it, since elsewhere its rows would be beside the
 * conversation (dialects/claude/aside.ts). Of any other session: undefined, and the dialect says.
 */
function besideSubagent(dialect: DialectName, parent: string): string | undefined {
  const key = dialect === "claude" ? keyOf(parent) : null;
  if (key?.subpath === undefined) return undefined;
  const directory = key.subpath.slice(0, key.subpath.lastIndexOf("/") + 1);
  return sessionIdOf({ ...key, subpath: `${directory}agent-${randomUUID()}` });
}

/** Answers how many lines were not carried over. */
async function fill(session: Session, { parent, entry, natives }: ForkParts): Promise<number> {
  const isRye = session.dialect.name === "rye";
  const { start, rest } = isRye ? startOf(parent, natives) : { start: null, rest: natives };
  if (start) await session.appendNative(start);
  await session.append(entry);
  let leftBehind = 0;
  const appends = new GroupedAppends(session, (reason) => {
    leftBehind += refusedBy(reason);
  });
  for (const native of rest) await appends.add(native);
  await appends.settle();
  return leftBehind;
}

/** Who is at work, as a session's id or a line of it has it; null where neither says so. */
export function agentIn(dialect: DialectName, id: string | null, native: Native): string | null {
  if (dialect === "homeagent" || dialect === "sdk")
    return id === null ? null : id.slice(0, id.indexOf("/"));
  if (dialect === "claude") return id === null ? null : (keyOf(id)?.projectKey ?? null);
  if (dialect !== "rye") return null;
  return readEnvelope(native).event?.directive ?? null;
}

/** A thread's own start, which names the parent, and the rest of its lines. */
function startOf(parent: string, natives: readonly Native[]) {
  const [first = {}] = natives;
  const { event } = readEnvelope(first);
  const isStart = event?.meaning === "thread_start";
  const data = isStart && event ? without(event.data, ["type", "event_type"]) : {};
  const start = { ...data, type: "thread_start", parent_thread_id: parent };
  return { start, rest: isStart ? natives.slice(1) : natives };
}

/** One line that is not carried over; anything but a refusal of the line is thrown (FO3). */
function refusedBy(reason: unknown): number {
  if (reason instanceof VerbatimError && reason.code === "INVALID_ENTRY") return 1;
  throw reason;
}
