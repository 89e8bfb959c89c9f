/**
 * Continue: going on from what was resumed, with a record of how that came about.
 *
 * CO1  The report goes into the log before anything that is said next, as an entry that no provider
 *      sees; signed where the store signs.
 * CO2  A session that has changed since it was resumed is refused, whether it has grown or other bytes
 *      are in their place: the messages do not come from it. A mended end is no change. It is refused
 *      before it is opened to append, which repairs; and checked again with the lock held (`shared`
 *      mode: which is free again by then). A refused session gets no checkpoint from us.
 * CO3  Going on from a turn is a fork: a session of its own that holds the parent's lines up to there
 *      and names the parent and the signed head, its genesis too. The parent gets no line. Where it is
 *      signed and ours to write, it gets a checkpoint that names the fork (resume/fork/link.ts).
 * CO4  What nobody signed is not carried into a fork of a signed session: there a new signature would
 *      cover it, and nobody could tell any more.
 */

import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import type { NewEntry } from "../model/entry.ts";
import { mendedLog } from "../signing/judging/open-verified.ts";
import { nodeCrypto } from "../signing/keys/node-crypto.ts";
import type { Session } from "../store/session.ts";
import type { Store } from "../store/store.ts";
import { forkInto } from "./fork/fork.ts";
import { linkSession } from "./fork/link.ts";
import { REPORT_TYPE } from "./gather.ts";
import type { RepairAction, RepairReport } from "./repair-report.ts";
import type { Resumed, ResumedSource } from "./resume.ts";

/** Actions that are kept in the log; of more, how many there were. Silent lines are only counted. */
export const RECORDED_ACTIONS_MAX = 1000;

export interface ContinueOptions {
  /** The new session's id, of a fork. Default: one after the dialect's fashion. */
  readonly id?: string;
}

export interface Continued {
  /** Open to append, the report in it. */
  readonly session: Session;
  /** Of a fork: lines of the parent that were not carried over, such as checkpoints. */
  readonly leftBehind: number;
  /** Of a fork of a signed session: why the parent does not name it; null when it does. */
  readonly notLinked: string | null;
}

/** Opens the session to go on, or begins the fork; refuses with SESSION_BUSY, NOT_VERIFIED. */
export async function continueResumed(
  host: Host,
  store: Store,
  { report, source }: Resumed,
  { id }: ContinueOptions = {},
): Promise<Continued> {
  const { session: name } = report;
  if (name === null) throw noStore(source.path);
  const entry = reportEntry(report);
  const { agent } = source;
  if (report.upTo !== null) {
    if (report.head && report.unverified > 0) throw unsignedLines(source.path, report); // CO4
    const { natives } = source;
    const parts = { parent: name, head: report.head, natives, entry, agent };
    const forked = await forkInto(host, store, { ...parts, ...(id === undefined ? {} : { id }) });
    return { ...forked, notLinked: await link(store, name, report, forked.session) };
  }
  const session = await store.open(name, agent === null ? {} : { agent });
  const isUnchanged = (await isSame(host, session, source)) && (await session.openToAppend());
  if (!isUnchanged || !(await isSame(host, session, source))) {
    await session.abandon();
    throw hasChanged(name);
  }
  await session.append(entry);
  return { session, leftBehind: 0, notLinked: null };
}

/** Whether the log, its end repaired, is still what was judged (CO2). */
async function isSame(host: Host, session: Session, { hash, end }: ResumedSource) {
  const found = await mendedLog(host, session, nodeCrypto);
  return found.end === end && found.hash === hash;
}

/** Why the parent of a fork does not name it; null when it does, or neither is signed. */
async function link(
  store: Store,
  parent: string,
  { head, verdict }: RepairReport,
  { id, signedLog: log }: Session,
): Promise<string | null> {
  if (head === null || log === null) return head === null ? null : "the fork is not signed";
  if (verdict !== "verified") return `${parent} is ${verdict}`;
  return linkSession(store, parent, { id, log }, head.log);
}

/** A report as an entry of a session. */
export function reportEntry(report: RepairReport): NewEntry {
  const { session, upTo, head, actions, messages, system: _, ...rest } = report;
  const fork = upTo === null ? {} : { fork: { parent: session, turn: upTo } };
  const told = actions.filter(({ why }) => why !== "silent");
  const native = {
    ...rest,
    type: REPORT_TYPE,
    session,
    ...fork,
    head,
    messages: messages.length,
    counts: countsOf(actions),
    actions: told.slice(0, RECORDED_ACTIONS_MAX),
    ...(told.length > RECORDED_ACTIONS_MAX ? { actionsInAll: told.length } : {}),
  };
  return { kind: "message", role: "system", parts: [{ type: "other", native }] };
}

/** How often each thing was done, `left_out: silent` counted by lines. */
export function countsOf(actions: readonly RepairAction[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { why, lines = 1 } of actions) counts[why] = (counts[why] ?? 0) + lines;
  return counts;
}

function hasChanged(session: string): VerbatimError {
  return new VerbatimError(
    "SESSION_BUSY",
    `${session} has changed since it was resumed: another process wrote to it; resume it again`,
    { session, holder: "unknown" },
  );
}

function noStore(path: string): VerbatimError {
  return new VerbatimError(
    "SESSION_NOT_FOUND",
    `${path} lies in no store and cannot be gone on with there; copy it into one`,
    { session: path },
  );
}

function unsignedLines(path: string, { verdict, unverified }: RepairReport): VerbatimError {
  const lines = unverified === 1 ? "1 line" : `${unverified} lines`;
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} has ${lines} before the fork that nobody has signed, and a fork would sign them; ` +
      "vouch for them with `verbatim repair --vouch`, or fork from an earlier turn",
    { path, verdict },
  );
}
