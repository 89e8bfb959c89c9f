/**
 * Verified entries: a session's entries from exactly the bytes that were verified.
 *
 * Strict unless the user's policy says otherwise: with `lenient`, lines that are neither signed nor
 * vouched for are returned too, marked. Any other fault is refused either way.
 *
 * Open fork: the lines of a signed fork, from exactly the bytes that were judged: those inherited
 * from its sources, then its own.
 *
 * The checkpoints of each stream cover only its own file, so each is judged by itself, and a source
 * up to the fork point (judge-streams.ts, JS1). The lines are then read from the whole stream, and
 * used only if they have the digests of what was judged (trust/judge/open-verified.ts, N1).
 */

import { dirname, relative } from "node:path";
import { checkChoice, checkKind, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import { badLineWarning, checkOnBadLine, type OnBadLine } from "../../core/log/bad-line-warning.ts";
import { decodeLine } from "../../core/log/json.ts";
import type { Entry } from "../../core/model/entry.ts";
import { dialectNamed, hostOf } from "../../dialects/all.ts";
import type { DecodedValue } from "../../dialects/facets/reading.ts";
import { decodeWhole } from "../../dialects/files/spill-files.ts";
import { adjustedEntries } from "../../dialects/files/stored-entries.ts";
import { POLICY_FILES } from "../../dialects/registry.ts";
import { findSession } from "../../sessions/list/find-session.ts";
import { streamsIn } from "../../streams/files/reading/stream-list.ts";
import { streamPathToFilename } from "../../streams/files/stream-path.ts";
import { changedWhileRead } from "../../trust/judge/inspect.ts";
import {
  type OpenVerifiedOptions as OpenLogOptions,
  openJudged,
  Pieces,
  type VerifiedLine,
  type VerifiedLog,
} from "../../trust/judge/open-verified.ts";
import {
  POLICY_VARIABLE,
  type Policy,
  type PolicyInForce,
  policyFor,
  readProjectPolicies,
  readUserPolicy,
} from "../../trust/judge/policy.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { type CheckpointProfile, LEGACY_PROFILE, STREAMS } from "../../trust/proof/envelopes.ts";
import { type SessionLog, sidecarOf } from "../../trust/session-log.ts";
import { streamJudgingBy } from "./data-directories.ts";
import { openWithCopy } from "./erased-copy.ts";
import type { KnownStreamState, StreamJudging } from "./judge-streams.ts";
import { UserJudging } from "./user-judging.ts";
import { judgeStream } from "./verify-directory.ts";

export interface OpenVerifiedOptions {
  /** The store to look in: a project, or HomeAgent's base. Default: those found from here. */
  readonly root?: string;
  readonly dialect?: string;
  /** Default: the user's setting, or `strict` without one. */
  readonly policy?: Policy;
  /** Refuse a session without a pinned head. Default: false. */
  readonly requirePin?: boolean;
  /** Also accept checkpoints of the Python original, by keys that the user allowed that format. */
  readonly profile?: CheckpointProfile;
  /** Restores long strings from spill files. Default: each is replaced by a short text. */
  readonly restoresSpilled?: boolean;
  /** Accepts an unsigned session, every entry marked as such. Default: false. */
  readonly allowUnsigned?: boolean;
  /**
   * Default: `throw`. Otherwise lines that are not entries are skipped, including a torn end: the
   * function is called for each, or one process warning lists their numbers.
   */
  readonly onBadLine?: OnBadLine<BadVerifiedLine>;
}

const OPTIONS: OptionKinds<OpenVerifiedOptions> = {
  root: "text",
  dialect: "any",
  policy: "any",
  requirePin: "boolean",
  profile: "any",
  restoresSpilled: "boolean",
  allowUnsigned: "boolean",
  onBadLine: "any",
};

/** A line that is not an entry. */
export interface BadVerifiedLine {
  readonly start: number;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** An entry, its position, and whether a trusted signature covers it. */
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
  /** Offset of the next append, after torn-tail repair. */
  readonly end: ByteOffset;
  /** SHA-256, in hex, of the bytes up to `end`, once all entries were read; null before. */
  hash(): string | null;
  /** The policy it was opened under, and its source. */
  readonly policy: PolicyInForce;
  /**
   * Iterate once. Refuses with CHANGED_WHILE_READ, and with BAD_LINE for a line that is not an
   * entry.
   */
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
  const { root: within, dialect: only, requirePin = false, onBadLine = "throw" } = options;
  const where = { cwd: process.cwd(), root: within, dialect: only };
  const preference = options.allowUnsigned === true ? "fuller" : "signed";
  const found = await findSession(host, name, where, preference);
  const { dialect, root, id, path } = found;
  const disk = hostOf(host, found);
  const target: SessionLog = { dialect, root, id, logId: relative(root, path) };
  const policy = policyIn(root, options.policy);
  const judging = await UserJudging.load(host, { onWarning: () => {} });
  const how = {
    requirePin,
    isLegacyProfile: options.profile !== undefined,
    isLenient: policy.policy === "lenient",
    allowUnsigned: options.allowUnsigned === true,
    takesUnterminated: onBadLine !== "throw",
    skipsLongLines: onBadLine !== "throw",
  };
  const isStream = dialectNamed(dialect).reading.holdsAnything;
  const isFork = isStream && id !== null && (await isSignedFork(host, root, id));
  const opened = isFork
    ? await openVerifiedFork(host, { root, id }, streamJudgingBy(judging, { requirePin }), how)
    : await openWithCopy(disk, target, { ...(await judging.optionsFor(target)), ...how });
  const openDirectory = () => disk.files.openDirectory(dirname(path), { create: false, root });
  const log = { dialect: dialectNamed(dialect), path, openDirectory };
  const decode = options.restoresSpilled
    ? (value: unknown) => decodeWhole(log, value)
    : dialectNamed(dialect).reading.decode;
  return {
    id: id ?? opened.report.session,
    dialect,
    root,
    path,
    report: opened.report,
    end: opened.end,
    hash: () => opened.hash(),
    policy,
    entries: () =>
      adjustedEntries(dialectNamed(dialect), entriesOf(path, opened.lines, decode, onBadLine)),
    close: () => opened.close(),
  };
}

/** The policy on unsigned lines in a project (policy.ts). */
export function policyIn(root: string, flag?: string): PolicyInForce {
  return policyFor({
    flag,
    env: process.env[POLICY_VARIABLE],
    user: readUserPolicy(userPaths().configPath),
    project: readProjectPolicies(root, POLICY_FILES),
  });
}

/** The entries of verified lines. Refuses with BAD_LINE unless told otherwise. */
export async function* entriesOf(
  path: string,
  lines: AsyncGenerator<VerifiedLine>,
  decode: (value: unknown) => DecodedValue | Promise<DecodedValue>,
  onBadLine: OnBadLine<BadVerifiedLine>,
): AsyncGenerator<VerifiedEntry> {
  const warning = badLineWarning(path);
  const tell = (bad: BadVerifiedLine) => {
    if (onBadLine === "throw") throw badLine(path, bad);
    if (onBadLine === "skip") warning.add({ ...bad, offset: bad.start });
    else onBadLine(bad);
  };
  let number = 0;
  for await (const { line, start, isVerified, tooLong } of lines) {
    number++;
    if (tooLong) {
      tell({ start, line: number, reason: "too long" });
      continue;
    }
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

/** Whether a stream begins in another one and has checkpoints of its own. */
async function isSignedFork(host: Host, root: string, id: string): Promise<boolean> {
  const stream = streamsIn(root).get(id);
  if (stream === undefined || stream.base === 0) return false;
  const logs = await host.files.openDirectory(`${root}/logs`, { create: false, root });
  try {
    return logs.names().includes(sidecarOf(stream.file));
  } finally {
    logs.close();
  }
}

/** Refuses with NOT_VERIFIED, also while the journal has bytes that the files lack. */
async function openVerifiedFork(
  host: Host,
  { root, id }: { readonly root: string; readonly id: string },
  judging: StreamJudging,
  options: Omit<OpenLogOptions, "crypto" | "keys">,
): Promise<VerifiedLog> {
  const chain = chainOf(streamsIn(root), id);
  const parts = new Map(chain.map(({ path, upTo }) => [path, new CappedPieces(upTo)]));
  const onBytes = ({ path }: KnownStreamState, bytes: Uint8Array) => parts.get(path)?.add(bytes);
  const report = await judgeStream(host, root, id, { judging, onBytes });
  const pieces = new Pieces(nodeCrypto);
  for (const part of parts.values()) {
    part.end();
    pieces.append(part);
  }
  const base = streamsIn(root).get(id)?.base ?? 0;
  if (report.signed_through && pieces.bytes !== base + report.file.bytes) {
    throw changedWhileRead(report.path, pieces.bytes);
  }
  const isVerified =
    report.signed_through !== null &&
    !report.findings.some(({ code }) => code === "SOURCE_NOT_VERIFIED");
  const log = await openWhole(host, root, id);
  try {
    const all = { ...options, crypto: nodeCrypto } as OpenLogOptions;
    return await openJudged(log, pieces, report, all, { bytes: base, isVerified });
  } catch (cause) {
    log.close();
    throw cause;
  }
}

/** Keeps only the part of a source that the fork inherits. */
class CappedPieces extends Pieces {
  readonly #max: number;

  constructor(max: number) {
    super(nodeCrypto);
    this.#max = max;
  }

  override add(bytes: Uint8Array): void {
    super.add(bytes.subarray(0, Math.max(0, this.#max - this.bytes)));
  }
}

/** The streams that make up a fork, the first source first, and how much of each file. */
function chainOf(
  streams: ReturnType<typeof streamsIn>,
  id: string,
): { readonly path: string; readonly upTo: number }[] {
  const chain: { path: string; upTo: number }[] = [];
  let end = Infinity;
  for (let at = streams.get(id); at !== undefined; ) {
    if (at.base < end) chain.unshift({ path: at.path, upTo: end - at.base });
    end = Math.min(end, at.base);
    const { source } = at;
    const isSeen = chain.some(({ path }) => path === source);
    at = end === 0 || source === null || isSeen ? undefined : streams.get(source);
  }
  return chain;
}

async function openWhole(host: Host, root: string, id: string): Promise<OpenFile> {
  const path = `${root}/logs`;
  const logs = await hostOf(host, { dialect: STREAMS, root: root }).files.openDirectory(path, {
    create: false,
    root,
  });
  try {
    return logs.open(streamPathToFilename(id), "read");
  } finally {
    logs.close();
  }
}
