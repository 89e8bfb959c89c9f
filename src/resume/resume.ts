/**
 * Resume: a session as messages that a provider accepts, from the same bytes that were verified.
 *
 * - Gate first: nothing of a session is used before its verdict is good under the policy, and no
 *   byte is read twice: entries come from what was judged (trust/judge/open-verified.ts, N1).
 * - Reads only. Nothing is written, repaired or locked.
 * - A session that another process writes is refused: later entries would be missing, and two would
 *   continue from it.
 */

import { resolve } from "node:path";
import { badOption, requireChoice } from "../core/base/choice.ts";
import { type LockHolder, VerbatimError } from "../core/base/errors.ts";
import type { Host } from "../core/base/host.ts";
import { dialectNamed, hostOf } from "../dialects/all.ts";
import {
  type BadVerifiedLine,
  type OpenVerifiedOptions,
  openVerifiedSession,
  type VerifiedEntry,
  type VerifiedSession,
} from "../evidence/verify/verified-entries.ts";
import { findSession, type Preference } from "../sessions/list/find-session.ts";
import { statOf } from "../sessions/list/find-stores.ts";
import type { FoundSession } from "../sessions/list/session-place.ts";
import type { Session } from "../sessions/store/session.ts";
import type { Policy } from "../trust/judge/policy.ts";
import type { VerifyReport } from "../trust/judge/report.ts";
import type { SignedHead } from "../trust/proof/checkpoint.ts";
import { withAdvice } from "./advice.ts";
import { Assembly } from "./assembly.ts";
import { entriesUpTo } from "./conversation.ts";
import { EntryFeed, otherWriterOf } from "./entry-feed.ts";
import type { Native } from "./fork/fork.ts";
import { Pipeline } from "./pipeline.ts";
import type { RepairReport, TargetName } from "./repair-report.ts";
import { type AiSdkMessage, aiSdk } from "./targets/ai-sdk.ts";
import { type AnthropicMessage, anthropic } from "./targets/anthropic.ts";
import {
  type ChatMessage,
  openaiChat,
  openaiResponses,
  type ResponsesItem,
} from "./targets/openai.ts";
import type { MessageTarget } from "./targets/target.ts";

/** The messages of each target. */
export interface TargetMessages {
  anthropic: AnthropicMessage;
  "openai-chat": ChatMessage;
  "openai-responses": ResponsesItem;
  "ai-sdk": AiSdkMessage;
}

export interface ResumeOptions<Name extends TargetName = TargetName>
  extends Pick<OpenVerifiedOptions, "root" | "dialect" | "requirePin" | "profile"> {
  /** The provider of the request. */
  readonly for: Name;
  /** Default: the user's settings, else `strict`. */
  readonly policy?: Policy;
  /** Accept a session without signatures. Default: false. */
  readonly allowUnsigned?: boolean;
  /** Ignore everything after the end of this turn, from 1. Continuing from there is a fork. */
  readonly upTo?: number;
  /** Accept the current state of a session that another process is writing. Default: false. */
  readonly snapshot?: boolean;
  /**
   * The user's next message. Default: "Continue.", where the session ends with an assistant
   * message. Null: none; add a user message before you send it.
   */
  readonly prompt?: string | null;
}

export interface Resumed<Name extends TargetName = TargetName> {
  /** A mutable list: the SDKs accept no readonly one. */
  readonly messages: TargetMessages[Name][];
  /** The system prompt; null when the session has none. */
  readonly system: string | null;
  readonly report: RepairReport & { readonly for: Name };
  /** The model that answered last; null when unknown. */
  readonly model: string | null;
  /** The tools that the messages call, by their names there. */
  readonly tools: readonly string[];
  /** The source of the resumed session, for `continue.ts`. */
  readonly source: ResumedSource;
}

export interface ResumedSource {
  readonly root: string;
  readonly path: string;
  /** Offset of the next append: after the log's last whole line. */
  readonly end: number;
  /** SHA-256 of the log up to there, in hex; null when not all of it was read. */
  readonly hash: string | null;
  /** Its parsed lines for a fork, up to the end of the turn; empty for a whole session. */
  readonly natives: readonly Native[];
  /** The last agent, as an id or a line names it; null where neither does. */
  readonly agent: string | null;
}

export const TARGETS: { readonly [Name in TargetName]: MessageTarget<TargetMessages[Name]> } = {
  anthropic,
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  "ai-sdk": aiSdk,
};

export const TARGET_NAMES = Object.keys(TARGETS) as readonly TargetName[];

/**
 * Refuses with NOT_VERIFIED, SESSION_BUSY, TURN_NOT_FOUND, SESSION_NOT_FOUND, RESUME_TOO_LARGE,
 * BAD_SETTING.
 */
export async function resumeSession<Name extends TargetName>(
  host: Host,
  named: string | Session,
  options: ResumeOptions<Name>,
  onLine?: OnLine,
): Promise<Resumed<Name>> {
  requireChoice("for", options.for, TARGET_NAMES);
  const { upTo = 1 } = options;
  if (!Number.isSafeInteger(upTo) || upTo < 1) {
    throw badOption("upTo", "must be the number of a turn, counted from 1");
  }
  const pipeline = new Pipeline();
  const asked = sessionRequestOf(named, options);
  const preference = options.allowUnsigned === true ? "fuller" : "signed";
  if (options.snapshot !== true) await refuseWhenBusy(host, asked, preference);
  const onBadLine = (bad: BadVerifiedLine) => {
    onLine?.(bad);
    pipeline.addBadLine(bad);
  };
  const session = await openGate(host, asked, options, onBadLine);
  try {
    const { source, at, feed } = await readInto(pipeline, session, options.upTo ?? null, onLine);
    refuseOthers(session, feed);
    const { verdict } = session.report;
    const head = headOf(session.report, at);
    const { policy } = session.policy;
    const { id, dialect } = session;
    const gated = { id, dialect, verdict, policy, head };
    return resumedFrom(pipeline, new Assembly(TARGETS[options.for]), options, gated, source);
  } finally {
    session.close();
  }
}

/** What the gate said about a session. */
export interface GateResult {
  readonly id: string | null;
  readonly dialect: string;
  readonly verdict: string;
  readonly policy: Policy;
  readonly head: SignedHead | null;
}

/** The messages of everything that was fed into the pipeline. */
export function resumedFrom<Name extends TargetName>(
  pipeline: Pipeline,
  assembly: Assembly<TargetMessages[Name]>,
  options: Pick<ResumeOptions<Name>, "for" | "upTo" | "prompt">,
  { id, dialect, verdict, policy, head }: GateResult,
  source: ResumedSource,
): Resumed<Name> {
  const piped = pipeline.finish(assembly, options.prompt);
  const { messages, system, tools, made, madeSystem, actions } = piped;
  const report: Resumed<Name>["report"] = {
    schema: "verbatim.resume/1",
    session: id,
    dialect,
    for: options.for,
    verdict,
    policy,
    upTo: options.upTo ?? null,
    head,
    entries: pipeline.entries,
    unverified: pipeline.unverified,
    system: madeSystem,
    messages: made,
    actions,
  };
  return { messages, system, report, model: pipeline.model, tools, source };
}

/** Refuses with NOTHING_UNDERSTOOD a log that has lines, and none of a message. */
function refuseOthers(
  session: VerifiedSession,
  { messages, lines, isUnderstood }: EntryFeed,
): void {
  // A stream may hold anything, also a line that is an entry and no message.
  const hasNone = dialectNamed(session.dialect).reading.holdsAnything
    ? messages === 0
    : lines > 0 && !isUnderstood;
  if (hasNone) throw nothingUnderstood(session, lines);
}

function nothingUnderstood(
  { id, path, dialect }: VerifiedSession,
  lines: number,
): VerbatimError<"NOTHING_UNDERSTOOD"> {
  const session = id ?? path;
  return new VerbatimError(
    "NOTHING_UNDERSTOOD",
    `${session} has ${lines} line${lines === 1 ? "" : "s"}, and none is a message of the dialect ` +
      `${dialect}: perhaps it is another program's file; look at it, and say which with --dialect`,
    { session, lines },
  );
}

/** The requested session, and where to look for it. */
export interface SessionRequest {
  readonly name: string;
  readonly root: string | undefined;
  readonly dialect: string | undefined;
}

/**
 * An open session is found by its path: no search is needed. Refuses with SESSION_NOT_FOUND a root
 * that does not exist.
 */
export function sessionRequestOf(
  named: string | Session,
  { root, dialect }: Pick<ResumeOptions, "root" | "dialect">,
): SessionRequest {
  if (typeof named === "string") {
    if (root !== undefined && !statOf(resolve(root))?.isDirectory()) {
      throw noStore(named, `there is no directory ${resolve(root)}; check the root`);
    }
    return { name: named, root, dialect };
  }
  if (!statOf(named.root)?.isDirectory()) {
    throw noStore(named.id, `its store ${named.root} does not exist yet; append to it first`);
  }
  return { name: named.path, root: named.root, dialect: named.dialect.name };
}

function noStore(session: string, why: string): VerbatimError<"SESSION_NOT_FOUND"> {
  return new VerbatimError("SESSION_NOT_FOUND", `there is no session ${session}: ${why}`, {
    session,
  });
}

async function openGate(
  host: Host,
  { name, root, dialect }: SessionRequest,
  options: ResumeOptions,
  onBadLine: (bad: BadVerifiedLine) => void,
): Promise<VerifiedSession> {
  const { policy, allowUnsigned = false, requirePin = false, profile } = options;
  try {
    return await openVerifiedSession(host, name, {
      ...(root === undefined ? {} : { root }),
      ...(dialect === undefined ? {} : { dialect }),
      ...(policy === undefined ? {} : { policy }),
      ...(profile === undefined ? {} : { profile }),
      requirePin,
      allowUnsigned,
      restoresSpilled: true,
      onBadLine,
    });
  } catch (cause) {
    throw withAdvice(cause);
  }
}

/** Checked first: a session that is being written is `incomplete` for no other reason. */
export async function refuseWhenBusy(
  host: Host,
  { name, root, dialect }: SessionRequest,
  preference: Preference,
  otherwise = ", or use its current state (snapshot, --snapshot)",
): Promise<FoundSession> {
  const where = { cwd: process.cwd(), root, dialect };
  const found = await findSession(host, name, where, preference);
  const holder = await otherWriterOf(hostOf(host, found), found);
  if (holder !== null) throw busy(found.id ?? found.path, holder, otherwise);
  return found;
}

function busy(
  session: string,
  holder: LockHolder,
  otherwise: string,
): VerbatimError<"SESSION_BUSY"> {
  const who = holder === "unknown" ? "" : ` (pid ${holder.pid}, since ${holder.started})`;
  return new VerbatimError(
    "SESSION_BUSY",
    `${session} is being written by another process${who}; wait until that ends${otherwise}`,
    { session, holder },
  );
}

/** Hears of each line that is read, in order. */
export type OnLine = (line: VerifiedEntry | BadVerifiedLine) => void;

interface ReadSession {
  readonly source: ResumedSource;
  readonly at: number;
  readonly feed: EntryFeed;
}

/** Reads the entries, up to the end of a turn; returns where that was. */
async function readInto(
  pipeline: Pipeline,
  session: VerifiedSession,
  upTo: number | null,
  onLine: OnLine | undefined,
): Promise<ReadSession> {
  const dialect = dialectNamed(session.dialect);
  const feed = new EntryFeed(pipeline, dialect, session.id);
  let natives: Native[] = [];
  const onCut = (next: Native) => {
    natives = dialect.turns.cutBefore?.(natives, next) ?? natives;
  };
  const read = upTo === null ? session.entries() : entriesUpTo(session, upTo, onCut);
  let at = 0;
  for await (const entry of read) {
    onLine?.(entry);
    feed.add(entry);
    if (upTo !== null) natives.push(entry.native);
    at = entry.end;
  }
  feed.finish();
  const { root, path, end } = session;
  const source = { root, path, end, hash: session.hash(), natives, agent: feed.agent };
  return { source, at, feed };
}

function headOf({ signed_through: through, log }: VerifyReport, at: number): SignedHead | null {
  return through && log !== null ? { log, seq: through.seq, line: through.line, at } : null;
}
