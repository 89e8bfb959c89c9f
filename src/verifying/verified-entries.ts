/**
 * Verified entries: a session's entries from the very bytes that were verified, and nothing else.
 *
 * Strict unless the user's policy says otherwise: with `lenient`, lines that nobody has signed or
 * vouched for are given too, and marked. Whatever else is wrong is refused either way.
 */

import { dirname, relative } from "node:path";
import { checkChoice, checkKind, checkOptions, type OptionKinds } from "../base/choice.ts";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { userPlaces } from "../base/node-places.ts";
import type { ByteOffset } from "../base/offset.ts";
import { dialectNamed, hostOf } from "../dialects/all.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { decodeWhole } from "../dialects/files/spill-files.ts";
import { inOrder } from "../dialects/files/stored-entries.ts";
import { findSession } from "../listing/find-session.ts";
import { badLineWarning, checkOnBadLine, type OnBadLine } from "../log/bad-line-warning.ts";
import { decodeLine } from "../log/json.ts";
import type { Entry } from "../model/entry.ts";
import { LEGACY_PROFILE, type LegacyProfile } from "../proof/envelopes.ts";
import { openVerifiedLog, type VerifiedLine } from "../signing/judging/open-verified.ts";
import {
  POLICY_VARIABLE,
  type Policy,
  type PolicyInForce,
  policyFor,
  readProjectPolicies,
  readUserPolicy,
} from "../signing/judging/policy.ts";
import type { VerifyReport } from "../signing/judging/report.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { streamJudgingBy } from "./data-directories.ts";
import { isSignedFork, openVerifiedFork } from "./open-fork.ts";
import { UserJudging } from "./user-judging.ts";

export interface OpenVerifiedOptions {
  /** The store to look in: a project, or HomeAgent's base. Default: those found from here. */
  readonly root?: string;
  readonly dialect?: string;
  /** Default: what the user's settings say, and `strict` when they say nothing. */
  readonly policy?: Policy;
  /** Refuse a session of which no head is remembered. Default: false. */
  readonly requiresPin?: boolean;
  /** Read checkpoints of the Python original, too, by keys that the user allowed that format. */
  readonly profile?: LegacyProfile;
  /** Puts strings back that are kept beside the log. Default: a short text stands for each. */
  readonly restoresSpilled?: boolean;
  /** Takes a session in which nothing is signed, every entry marked as such. Default: false. */
  readonly admitsUnsigned?: boolean;
  /**
   * Default: `throw`. Otherwise lines that are no entries are skipped, the torn end of a log included:
   * each is given to the function, or one process warning has the numbers of all.
   */
  readonly onBadLine?: OnBadLine<BadVerifiedLine>;
}

const OPTIONS: OptionKinds<OpenVerifiedOptions> = {
  root: "text",
  dialect: "any",
  policy: "any",
  requiresPin: "boolean",
  profile: "any",
  restoresSpilled: "boolean",
  admitsUnsigned: "boolean",
  onBadLine: "any",
};

/** A line that is no entry. */
export interface BadVerifiedLine {
  readonly start: number;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** An entry, where it stands, and whether a trusted signature answers for it. */
export interface VerifiedEntry extends Entry {
  readonly start: number;
  /** The offset after its line. */
  readonly end: number;
  /** From 1. */
  readonly line: number;
  readonly verified: boolean;
}

export interface VerifiedSession {
  readonly id: string | null;
  readonly dialect: string;
  /** The store's root, and the log below it. */
  readonly root: string;
  readonly path: string;
  readonly report: VerifyReport;
  /** Where whoever goes on appends, what a crash left of a line mended. */
  readonly end: ByteOffset;
  /** SHA-256 of what ends there, in hex, once all entries were taken; null before. */
  hash(): string | null;
  /** Under which policy it was opened, and who decided that. */
  readonly policy: PolicyInForce;
  /** To be taken once. Refuses with CHANGED_WHILE_READ, and BAD_LINE for a line that is no entry. */
  entries(): AsyncGenerator<VerifiedEntry>;
  close(): void;
}

/** Opens the session that `name` means; refuses with NOT_VERIFIED. */
export async function openVerifiedSession(
  host: Host,
  name: string,
  options: OpenVerifiedOptions = {},
): Promise<VerifiedSession> {
  checkKind("name", name, "string");
  checkOptions("openVerified", options, OPTIONS);
  checkChoice("profile", options.profile, [LEGACY_PROFILE]);
  checkOnBadLine(options.onBadLine);
  const { root: within, dialect: only, requiresPin = false, onBadLine = "throw" } = options;
  const where = { cwd: process.cwd(), root: within, dialect: only };
  const found = await findSession(host, name, where);
  const { dialect, root, id, path } = found;
  const disk = hostOf(host, found);
  const target: SessionLog = { dialect, root, id, logId: relative(root, path) };
  const policy = policyIn(root, options.policy);
  const judging = await UserJudging.load(host, { onWarning: () => {} });
  const how = {
    requiresPin,
    isLegacyProfile: options.profile !== undefined,
    isLenient: policy.policy === "lenient",
    admitsUnsigned: options.admitsUnsigned === true,
    takesUnterminated: onBadLine !== "throw",
  };
  const isStream = dialectNamed(dialect).hostFor !== undefined;
  const isFork = isStream && id !== null && (await isSignedFork(host, root, id));
  const opened = isFork
    ? await openVerifiedFork(host, { root, id }, streamJudgingBy(judging, { requiresPin }), how)
    : await openVerifiedLog(disk, target, { ...(await judging.optionsFor(target)), ...how });
  const openDirectory = () => disk.files.openDirectory(dirname(path), { create: false, root });
  const decode = options.restoresSpilled
    ? (value: unknown) => decodeWhole(dialectNamed(dialect), value, openDirectory)
    : dialectNamed(dialect).decode;
  return {
    id: id ?? opened.report.session,
    dialect,
    root,
    path,
    report: opened.report,
    end: opened.end,
    hash: () => opened.hash(),
    policy,
    entries: () => inOrder(dialectNamed(dialect), entriesOf(path, opened.lines, decode, onBadLine)),
    close: () => opened.close(),
  };
}

/** What decides about lines that nobody signed, in a project (policy.ts). */
export function policyIn(root: string, flag?: string): PolicyInForce {
  return policyFor({
    flag,
    env: process.env[POLICY_VARIABLE],
    user: readUserPolicy(userPlaces().configPath),
    project: readProjectPolicies(root),
  });
}

type Decoded = ReturnType<Dialect["decode"]>;

/** The entries of lines that were verified. Refuses with BAD_LINE, unless told otherwise. */
export async function* entriesOf(
  path: string,
  lines: AsyncGenerator<VerifiedLine>,
  decode: (value: unknown) => Decoded | Promise<Decoded>,
  onBadLine: OnBadLine<BadVerifiedLine>,
): AsyncGenerator<VerifiedEntry> {
  const warning = badLineWarning(path);
  const tell = (bad: BadVerifiedLine) => {
    if (onBadLine === "throw") throw badLine(path, bad);
    if (onBadLine === "skip") warning.add({ ...bad, offset: bad.start });
    else onBadLine(bad);
  };
  let number = 0;
  for await (const { line, start, isVerified } of lines) {
    number++;
    const { value, fault } = decodeLine(Buffer.from(line), 0, line.length);
    const { entry, fault: foreign } = fault === null ? await decode(value) : { entry: null, fault };
    if (!entry) {
      tell({ start, line: number, reason: String(foreign) });
      continue;
    }
    const end = start + line.length + 1;
    yield Object.assign(entry, { start, end, line: number, verified: isVerified });
  }
  warning.emit();
}

function badLine(path: string, { line, start, reason }: BadVerifiedLine): VerbatimError {
  const details = { path, line, offset: start, reason };
  return new VerbatimError("BAD_LINE", `line ${line} of ${path} is bad: ${reason}`, details);
}
