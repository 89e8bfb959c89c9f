/**
 * `verbatim-log/signing`: is this transcript what was recorded?
 *
 * A store signs with `openStore({ …, sign: true })`. This entry point verifies sessions, reads only
 * what verifies, signs logs of other writers, and signs JSON objects with a `_signature`. Keys,
 * trust and pinned heads are the user's own; nothing is taken from a project or a transcript.
 *
 * @example
 * const report = await verify("hello_world-1739012630");
 * if (report.verdict !== "verified") throw new Error(report.findings[0]?.message);
 */

import { resolve } from "node:path";
import {
  badArgument,
  checkChoice,
  checkKind,
  checkOptions,
  type OptionKinds,
} from "../core/base/choice.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { userPaths } from "../core/base/node-paths.ts";
import { DIALECT_NAMES } from "../dialects/registry.ts";
import { dataDirectoriesAmong, streamJudgingBy } from "../evidence/verify/data-directories.ts";
import { ExpectedPins } from "../evidence/verify/expected-pins.ts";
import { SessionVerifier } from "../evidence/verify/session-verifier.ts";
import {
  inspectJsonObject,
  type JsonIntegrity,
  signJsonObject,
} from "../evidence/verify/signed-json.ts";
import {
  type OpenVerifiedOptions,
  openVerifiedSession,
  type VerifiedSession,
} from "../evidence/verify/verified-entries.ts";
import { verifyDataDirectory } from "../evidence/verify/verify-directory.ts";
import { bringInHooks } from "../sessions/list/waiting-hooks.ts";
import type { VerifyReport } from "../trust/judge/report.ts";
import { loadSigner as loadUserSigner, type Signer } from "../trust/keys/keys.ts";
import { type CheckpointProfile, LEGACY_PROFILE } from "../trust/proof/envelopes.ts";
import {
  type HeldKey,
  type Judgement,
  type TrustQuestion,
  Trust as UserTrust,
} from "../trust/trusted-keys/trust.ts";

export interface VerifyOptions {
  /** The store to look in: a project, or HomeAgent's base. Default: those found from here. */
  readonly root?: string;
  readonly dialect?: string;
  /** Check every signature and line, even in files over 64 MiB. */
  readonly deep?: boolean;
  /** The verdict on a session without a pinned head is `unpinned`. */
  readonly requirePin?: boolean;
  /** Pin the heads of verified sessions; throws if the pins cannot be written. */
  readonly pin?: boolean;
  /**
   * A file of heads exported on another machine, used in addition to your pins. Without names
   * or with a store's directory, every session in it must be found; with a data directory, every
   * stream. A missing one is reported as `rollback`.
   */
  readonly against?: string;
  /** Also read checkpoints of the Python original. */
  readonly profile?: CheckpointProfile;
  readonly onWarning?: (warning: string) => void;
}

const VERIFY_OPTIONS: OptionKinds<VerifyOptions> = {
  root: "text",
  dialect: "any",
  deep: "boolean",
  requirePin: "boolean",
  pin: "boolean",
  against: "text",
  profile: "any",
  onWarning: "function",
};

/**
 * Reports on one session, or on a list of them: by ids, beginnings of ids, paths of logs, or
 * directories. For a server's data directory, reports on every stream in it. Without names, reports
 * on all sessions found from the current directory. Only the verdict `verified` means that a session
 * is what was recorded; `unsigned` proves nothing either way. Bad files never make it throw: the
 * reports say what is wrong with them. Throws SESSION_NOT_FOUND for an unknown name, BAD_SETTING if
 * one name means several sessions; also throws if the user's keys or trust are invalid.
 *
 * @example
 * const { verdict, findings } = await verify("hello_world-1739012630");
 * for (const { session, verdict } of await verify([".ai/threads"])) console.log(session, verdict);
 */
export function verify(name: string, options?: VerifyOptions): Promise<VerifyReport>;
export function verify(names?: readonly string[], options?: VerifyOptions): Promise<VerifyReport[]>;
export async function verify(
  names: string | readonly string[] = [],
  options: VerifyOptions = {},
): Promise<VerifyReport | VerifyReport[]> {
  const list = typeof names === "string" ? [names] : names;
  if (!Array.isArray(list)) throw badArgument("verify", "takes a name, or a list of names");
  for (const name of list) checkKind("name", name, "text");
  checkOptions("verify", options, VERIFY_OPTIONS);
  const reports = await reportsOn(list, options);
  if (list === names) return reports;
  const [report, ...others] = reports;
  if (report && others.length === 0) return report;
  throw badArgument("verify", `found ${reports.length} sessions by one name; pass it in a list`);
}

async function reportsOn(
  names: readonly string[],
  options: VerifyOptions,
): Promise<VerifyReport[]> {
  checkChoice("dialect", options.dialect, DIALECT_NAMES);
  checkChoice("profile", options.profile, [LEGACY_PROFILE]);
  const verifier = await SessionVerifier.open(nodeHost, {
    where: { cwd: process.cwd(), root: options.root, dialect: options.dialect },
    isDeep: options.deep === true,
    requirePin: options.requirePin === true,
    isLegacyProfile: options.profile === LEGACY_PROFILE,
    pins: options.pin === true,
    against: options.against ?? null,
    onWarning: options.onWarning ?? processWarning,
  });
  try {
    const flags = { isDeep: options.deep === true, requirePin: options.requirePin === true };
    const judging = streamJudgingBy(verifier.judging, flags);
    const directories = await dataDirectoriesAmong(nodeHost, names, judging);
    const others = names.filter((name) => !directories.includes(name));
    const reports: VerifyReport[] = [];
    for (const directory of directories) {
      const verifying = verifyDataDirectory(nodeHost, resolve(directory), judging);
      for await (const report of verifying) reports.push(report);
    }
    const targets = names.length === 0 || others.length > 0 ? await verifier.find(others) : [];
    for (const directory of directories) targets.push(...(await verifier.findIn(directory)));
    for (const target of targets) reports.push(await verifier.verify(target));
    const asked = { sessions: verifier.isWhole, streams: directories.length > 0 };
    const { dialect } = options;
    const expected = new ExpectedPins(verifier.judging.against, { ...asked, dialect });
    for (const report of reports) expected.see(report);
    return [...reports, ...expected.missing()];
  } finally {
    await verifier.close();
  }
}

/**
 * Opens a session to read what verifies, from the same bytes that were verified. Strict by default:
 * throws NOT_VERIFIED for anything but `verified`. With the policy `lenient`, lines that are
 * neither signed nor vouched for are returned too, with `verified: false`; other faults still
 * throw.
 *
 * @example
 * const session = await openVerified("hello_world-1739012630");
 * for await (const entry of session.entries()) console.log(entry.kind, entry.verified);
 * session.close();
 */
export async function openVerified(
  name: string,
  options: OpenVerifiedOptions = {},
): Promise<VerifiedSession> {
  if (typeof name === "string") {
    const { root } = options ?? {};
    await bringInHooks(nodeHost, { cwd: process.cwd(), root }, [name]);
  }
  return openVerifiedSession(nodeHost, name, options);
}

/**
 * Signs a JSON object with the user's key, which is created if there is none: returns a copy with
 * the field `_signature`, over Python-compatible canonical JSON. Throws UNSIGNABLE_JSON for JSON
 * that readers interpret differently. The signature has no purpose field: put that into the object.
 *
 * @example writeFileSync("graph.json", JSON.stringify(await signJson({ step: 3, state: "done" })));
 */
export function signJson<T extends Readonly<Record<string, unknown>>>(
  value: T,
): Promise<T & { readonly _signature: string }> {
  return signJsonObject(nodeHost, value);
}

/** A signed object, or the text of one. */
export type SignedJson = string | Uint8Array | Readonly<Record<string, unknown>>;

/**
 * Whether a JSON object is unchanged since it was signed, by a key that the user trusts for it
 * (purpose `thread`). Not a promise, which an `if` would take for true. Pass a file's text unparsed:
 * parsing turns Python's 1.0 into 1. Never throws; `inspectJson` returns the reason.
 *
 * @example
 * const text = readFileSync("graph.json", "utf8");
 * if (!verifyJson(text)) throw new Error("graph.json is not as it was signed");
 */
export function verifyJson(value: SignedJson): boolean {
  return inspectJsonObject(value).valid;
}

/**
 * Like `verifyJson`, with the reason. An object is always true in an `if`: check `valid`. Never
 * throws.
 *
 * @example
 * const { valid, reason } = inspectJson(readFileSync("graph.json", "utf8"));
 * if (!valid) throw new Error(`graph.json: ${reason}`);
 */
export function inspectJson(value: SignedJson): JsonIntegrity {
  return inspectJsonObject(value);
}

/**
 * The user's current key, ready to sign; created if there is none. Throws if it was revoked.
 *
 * @example const { kid, fp } = await loadSigner();
 */
export function loadSigner(): Promise<Signer> {
  return loadUserSigner(nodeHost, userPaths());
}

/**
 * The user's trusted keys, and for what: their own, and those they added (`verbatim keys trust add`).
 *
 * @example
 * const trust = await loadTrust();
 * trust.judge({ kid, purpose: "transcript", sessionId: "nightly/1", at: Date.now() });
 */
export function loadTrust(): Promise<Trust> {
  return UserTrust.load(userPaths());
}

/** The keys that the user holds, and which signatures count. */
export interface Trust {
  /** Every key, the user's own first. */
  readonly keys: readonly HeldKey[];
  /** Whether a signature by this key counts, for this session and purpose. */
  judge(question: TrustQuestion): Judgement;
  /** A key by its id; null if there is none. */
  key(kid: string): HeldKey | null;
  /** The keys with this short name (`fp`); two keys may share one. */
  keysByFp(fp: string): readonly HeldKey[];
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}

export type { DirectoryErrors, VerifyErrors } from "../core/base/errors.ts";
export { VerifyError as VerbatimError } from "../core/base/published-errors.ts";
export type { Erasure } from "../core/model/erasure.ts";
export type { JsonIntegrity } from "../evidence/verify/signed-json.ts";
export type {
  BadVerifiedLine,
  OpenVerifiedOptions,
  VerifiedEntry,
  VerifiedSession,
} from "../evidence/verify/verified-entries.ts";
export {
  type TranscriptIntegrity,
  TranscriptSigner,
  type TranscriptSignerOptions,
} from "../integrations/rye/transcript-signer.ts";
export type { Policy, PolicyInForce } from "../trust/judge/policy.ts";
export type { VerifyReport } from "../trust/judge/report.ts";
export type { Signer } from "../trust/keys/keys.ts";
export type { FoundRange as Found, SignedHead } from "../trust/proof/checkpoint.ts";
export type { CheckpointProfile } from "../trust/proof/envelopes.ts";
export type { Freshness } from "../trust/proof/pins.ts";
export {
  EXIT_CODES,
  type Finding,
  type FindingCode,
  VERDICTS,
  type Verdict,
} from "../trust/proof/verdict.ts";
export type {
  Distrust,
  HeldKey,
  Judgement,
  Scope,
  TrustQuestion,
} from "../trust/trusted-keys/trust.ts";
export type { Purpose, TrustEntry } from "../trust/trusted-keys/trust-entry.ts";
