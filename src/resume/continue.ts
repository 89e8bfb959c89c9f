/**
 * Continue: opens a resumed session for appending, and records the report.
 *
 * - The report is written to the log before the next message, as an entry that no provider sees;
 *   signed where the store signs.
 * - A session that changed since it was resumed is refused, whether it grew or its bytes differ:
 *   the messages do not come from it. A repaired end is not a change. It is refused before it is
 *   opened to append, which repairs; and checked again with the lock held (in `shared` mode, the
 *   lock is free again by then). A refused session gets no checkpoint from us.
 * - Continuing from a turn is a fork: a new session with the parent's lines up to there, which
 *   names the parent and the signed head, also in its genesis. The parent gets no line. If it is
 *   signed and we may write it, it gets a checkpoint that names the fork (resume/fork/fork.ts).
 * - Unsigned lines are not copied into a fork of a signed session: a new signature would cover
 *   them, and they could no longer be told apart.
 */

import { VerbatimError } from "../core/base/errors.ts";
import type { Host } from "../core/base/host.ts";
import type { NewEntry } from "../core/model/entry.ts";
import { dialectNamed } from "../dialects/all.ts";
import { programSessionError } from "../dialects/files/foreign-log.ts";
import type { Session } from "../sessions/store/session.ts";
import type { Store } from "../sessions/store/store.ts";
import type { Session as PublishedSession } from "../sessions/store/store-api.ts";
import { mendedLog } from "../trust/judge/open-verified.ts";
import { nodeCrypto } from "../trust/keys/node-crypto.ts";
import { forkInto, linkSession } from "./fork/fork.ts";
import { REPORT_TYPE } from "./gather.ts";
import type { RepairAction, RepairReport } from "./repair-report.ts";
import type { Resumed, ResumedSource } from "./resume.ts";

/** Actions recorded in the log; further ones are counted. Silent lines are only counted. */
export const RECORDED_ACTIONS_MAX = 1000;

export interface ContinueOptions {
  /** The id of the fork. Default: one in the dialect's style. */
  readonly id?: string;
}

export interface Continued {
  /** Open to append, with the report in it. */
  readonly session: PublishedSession;
  /** Of a fork: lines of the parent that were not copied, such as checkpoints. */
  readonly leftBehind: number;
  /** Of a fork of a signed session: why the parent does not name it; null when it does. */
  readonly notLinked: string | null;
}

/** Opens the session to continue, or creates the fork; refuses with SESSION_BUSY, NOT_VERIFIED. */
export async function continueResumed(
  host: Host,
  store: Store,
  { report, source }: Resumed,
  { id }: ContinueOptions = {},
): Promise<Continued> {
  const { session: name } = report;
  if (name === null) throw noStore(source.path);
  const { program } = dialectNamed(report.dialect);
  if (program) throw programSessionError(program.label, name, report.dialect);
  const entry = reportEntry(report);
  const { agent } = source;
  if (report.upTo !== null) {
    if (report.head && report.unverified > 0) throw unsignedLines(source.path, report);
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

/** Whether the log, its end repaired, is still the one that was verified. */
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

/** How often each action was taken; `left_out: silent` counts lines. */
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
    `${path} is not in a store, so it cannot be continued there; copy it into one`,
    { session: path },
  );
}

function unsignedLines(path: string, { verdict, unverified }: RepairReport): VerbatimError {
  const lines = unverified === 1 ? "1 line" : `${unverified} lines`;
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} has ${lines} before the fork that are not signed, and a fork would sign them; ` +
      "vouch for them with `verbatim doctor --fix --vouch`, or fork from an earlier turn",
    { path, verdict },
  );
}
