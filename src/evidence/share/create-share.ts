/**
 * Create share: scans a session and writes its copy, of what was scanned and nothing after; then makes
 * the share that shows it. The copy of a signed session is disclosed; that of another one is masked.
 *
 * Also: which shares still show something, before it is erased.
 *
 * A scan that fails, or that could not search a line, shows nothing: CANNOT_DISCLOSE. Values that
 * are split over lines are found by the scan of the whole session (evidence/scan/deltas.ts).
 */

import { join } from "node:path";
import type { Readable } from "node:stream";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { dialectNamed, hostOf } from "../../dialects/all.ts";
import { SessionWindow } from "../../sessions/list/session-window.ts";
import type { Session } from "../../sessions/store/session.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import { LF } from "../../trust/proof/bytes.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import { allOf, type Finder } from "../redact/hits.ts";
import { type MaskedResult, writeMaskedCopy } from "../redact/masked-copy.ts";
import { isUnsigned, type RedactionResult, redactLog } from "../redact/redact.ts";
import { findsIn, findsOfRules } from "../redact/scan-finds.ts";
import { entriesNumbered, MATCH, matching } from "../redact/text-matches.ts";
import { allRules, SecretFinder } from "../scan/find-secrets.ts";
import { type ScannedSession, scanSession } from "../scan/scan-session.ts";
import { UserJudging } from "../verify/user-judging.ts";
import {
  type CopyOut,
  DEFAULT_REASON,
  isShareOf,
  logName,
  type MakeOptions,
  type NewShare,
  newShareId,
  newShareToken,
  SHARE_LIMITS,
  type Share,
  type ShareCopy,
  type SharedSession,
  type Shares,
  shareHash,
  shareState,
  tooLongToPreview,
  type Withholding,
} from "./share.ts";

/** A share without a copy; `token` is returned once and not stored. */
export async function addShare(
  shares: Pick<Shares, "add">,
  { session, withholding, expiresAtMs, isLive = false }: NewShare,
  nowMs: number,
): Promise<{ readonly token: string; readonly share: Share }> {
  if (!(expiresAtMs > nowMs && expiresAtMs <= nowMs + SHARE_LIMITS.expiresMsMax)) {
    const reason = "a share expires in the future, within 366 days";
    const details = { setting: "expires", from: "options" as const, reason };
    throw new VerbatimError("BAD_SETTING", `expires: ${reason}`, details);
  }
  const token = newShareToken();
  const { rules, texts = [], entries = [] } = withholding;
  const share: Share = {
    id: newShareId(),
    sha256: shareHash(token),
    session: session.id,
    log: logName({ ...session, path: join(session.root, session.logId) }),
    // Texts and entries are not named: they may be what is withheld.
    rules: [
      ...rules,
      ...(texts.length > 0 ? ["match"] : []),
      ...(entries.length > 0 ? ["entry"] : []),
    ],
    createdAt: new Date(nowMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
    revokedAt: null,
    isLive,
    version: 0,
    bytes: 0,
  };
  await shares.add(share);
  return { token, share };
}

interface CreateOptions extends MakeOptions {
  /** Sees what was made, and may throw: then there is no share. */
  readonly check?: (copy: ShareCopy) => Promise<void>;
}

/** A share with its copy; `token` is returned once and not stored. If no copy can be made, there is no share. */
export async function createShare(
  host: Host,
  shares: Shares,
  asked: NewShare,
  { check, ...options }: CreateOptions,
): Promise<{ readonly token: string; readonly share: Share; readonly redacted: ShareCopy }> {
  const { token, share } = await addShare(shares, asked, options.nowMs());
  try {
    const redacted = await shares.publish(share.id, async (out) => {
      const made = await writeCopy(host, asked.session, asked.withholding, out, options);
      await check?.(made);
      return made;
    });
    return { token, share, redacted };
  } catch (cause) {
    await shares.drop(share.id);
    throw cause;
  }
}

/** A copy in memory. */
export interface CopyPreview {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
}

/** The copy that a share of the same would show. */
export function previewCopy(
  host: Host,
  session: SharedSession,
  withholding: Withholding,
  options: MakeOptions,
): Promise<CopyPreview> {
  return inMemory(session, (out) => writeCopy(host, session, withholding, out, options));
}

/** A masked copy of any session, with all rules. */
export function maskedPreview(
  host: Host,
  { dialect, root, logId, id }: Session,
  signal: AbortSignal,
): Promise<CopyPreview> {
  const session = { dialect: dialect.name, root, logId, id };
  const withholding = { rules: [DEFAULT_RULES], reason: DEFAULT_REASON };
  return inMemory(session, async (out) => {
    const finds = await withheldFinds(host, session, withholding, { signal });
    await maskFinds(host, session, finds, DEFAULT_REASON, out, { signal });
  });
}

async function inMemory(
  { id }: SharedSession,
  fill: (out: CopyOut) => Promise<unknown>,
): Promise<CopyPreview> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  await fill({
    write(piece) {
      bytes += piece.length;
      if (bytes > SHARE_LIMITS.previewBytesMax) throw tooLongToPreview(id);
      pieces.push(Buffer.from(piece)); // A copy: its buffer is reused.
    },
  });
  return { pieces, bytes };
}

/**
 * The valid shares of a session that show what is found in their copies, masks included. Without a
 * finder all of them: what is found by its number cannot be looked for in a copy.
 */
export async function sharesShowing(
  shares: Shares,
  session: SharedSession,
  finder: Finder | null,
  nowMs: number,
): Promise<Share[]> {
  const log = { ...session, path: join(session.root, session.logId) };
  const holders: Share[] = [];
  for (const share of await shares.list()) {
    if (!isShareOf(share, log) || shareState(share, nowMs) !== "valid") continue;
    const copy = finder && (await shares.copyOf(share));
    if (finder === null || (copy && (await hasFinds(copy, finder)))) holders.push(share);
  }
  return holders;
}

/** Each line of a copy that is not a record is a line of the log. */
async function hasFinds(copy: Readable, finder: Finder): Promise<boolean> {
  let hasSome = false;
  const whole = new WholeLines((bytes) => {
    for (let start = 0; start < bytes.length && !hasSome; ) {
      const end = bytes.indexOf(LF, start);
      hasSome = finder(bytes.subarray(start, end), 0).length > 0;
      start = end + 1;
    }
  });
  for await (const chunk of copy) {
    whole.feed(chunk as Uint8Array);
    if (hasSome) break;
  }
  return hasSome;
}

export const DEFAULT_RULES = "default";

/** What is withheld of a session, and where it ended when it was scanned. */
export interface WithheldFinds {
  readonly finder: Finder;
  readonly end: number;
}

async function withheldFinds(
  host: Host,
  log: SharedSession,
  { rules, texts = [], entries = [] }: Withholding,
  { matches, signal }: Pick<MakeOptions, "matches" | "signal">,
): Promise<WithheldFinds> {
  const finders: Finder[] = [entriesNumbered(new Set(entries))];
  if (texts.length > 0) finders.push(matching(texts, MATCH, matches));
  const { dialect, root, logId } = log;
  const session = { dialect: dialectNamed(dialect), root, logId, path: join(root, logId) };
  const { finder, end } = await findsOfSession(host, session, rules, signal);
  return { finder: allOf(...finders, finder), end };
}

/** Disclosed if the session is signed, else masked. */
async function writeCopy(
  host: Host,
  session: SharedSession,
  withholding: Withholding,
  out: CopyOut,
  options: MakeOptions,
): Promise<ShareCopy> {
  const finds = await withheldFinds(host, session, withholding, options);
  const { reason } = withholding;
  try {
    const redacted = await discloseFinds(host, session, finds, reason, out, options);
    return { kind: "disclosed", ...redacted };
  } catch (cause) {
    if (!isUnsigned(cause)) throw cause;
    return { kind: "masked", ...(await maskFinds(host, session, finds, reason, out, options)) };
  }
}

function maskFinds(
  host: Host,
  session: SharedSession,
  finds: WithheldFinds,
  reason: string,
  out: CopyOut,
  { signal, onPlace = () => {} }: Pick<MakeOptions, "signal" | "onPlace">,
): Promise<MaskedResult> {
  const write = (bytes: Uint8Array) => out.write(bytes);
  const mask = { ...finds, reason, signal, onPlace, out: write };
  return writeMaskedCopy(hostOf(host, session), session, mask);
}

/** A disclosed copy. */
export async function makeCopy(
  host: Host,
  log: SharedSession,
  withholding: Withholding,
  out: CopyOut,
  options: MakeOptions,
): Promise<RedactionResult> {
  const finds = await withheldFinds(host, log, withholding, options);
  return discloseFinds(host, log, finds, withholding.reason, out, options);
}

async function discloseFinds(
  host: Host,
  log: SharedSession,
  finds: WithheldFinds,
  reason: string,
  out: CopyOut,
  options: MakeOptions,
): Promise<RedactionResult> {
  const { delay = 0, onPlace = () => {}, decided = (finder) => finder } = options;
  const { onWarning, nowMs, signal } = options;
  const judging = await UserJudging.load(host, { onWarning });
  const finder = decided(finds.finder);
  const onProgress = () => signal?.throwIfAborted();
  return redactLog(hostOf(host, log), log, {
    verify: { ...(await judging.optionsFor(log)), onProgress },
    finder,
    reason,
    nowMs,
    onPlace,
    signer: await loadSigner(host, userPaths()),
    out: (bytes) => out.write(bytes),
    until: { turnsBack: delay, endMax: finds.end },
  });
}

/** The finds of these rules in the session, also in texts of ours, and where it ended then. */
export async function findsOfSession(
  host: Host,
  session: ScannedSession,
  rulesAsked: readonly string[],
  signal?: AbortSignal,
): Promise<WithheldFinds> {
  const names = rulesAsked.map((name) => (name === DEFAULT_RULES ? "all" : name));
  const window = await SessionWindow.open(host, session);
  try {
    const { end } = window;
    if (names.length === 0) return { finder: () => [], end };
    const inText = await findsOfRules(names);
    const all = await allRules();
    const rules = names.includes("all") ? all : all.filter((rule) => names.includes(rule.id));
    const how = { finder: new SecretFinder(rules), own: null, signal };
    const { finds, unscanned } = await scanSession(host, session, window, how);
    const missed = unscanned.find(({ entry }) => entry !== null);
    if (missed) throw notScanned(session.path, missed.entry ?? 0, missed.reason);
    return { finder: allOf(inText, findsIn(finds)), end };
  } finally {
    window.close();
  }
}

function notScanned(path: string, entry: number, why: string): VerbatimError {
  const reason = `line ${entry} could not be scanned: ${why}`;
  const message = `${path} is not shown: ${reason}; leave out the rules, or mend the session`;
  return new VerbatimError("CANNOT_DISCLOSE", message, { path, reason });
}
