/**
 * `verbatim-log/signing`: is this transcript what was recorded?
 *
 * A store signs with `openStore({ …, sign: true })`. Here is the other half: verifying, reading only
 * what verifies, signing what others wrote, and JSON objects with a `_signature`. Keys, trust and
 * remembered heads are the user's own; nothing is taken from a project or a transcript.
 *
 * @example
 * const report = await verifySession("hello_world-1739012630");
 * if (report.verdict !== "verified") throw new Error(report.findings[0]?.message);
 */

import { resolve } from "node:path";
import {
  badArgument,
  checkChoice,
  checkKind,
  checkOptions,
  type OptionKinds,
} from "./base/choice.ts";
import { nodeHost } from "./base/node-host.ts";
import { userPlaces } from "./base/node-places.ts";
import { DIALECT_NAMES } from "./dialects/all.ts";
import { bringInHooks } from "./listing/bring-in-hooks.ts";
import { LEGACY_PROFILE, type LegacyProfile } from "./proof/envelopes.ts";
import type { VerifyReport } from "./signing/judging/report.ts";
import { loadSigner as loadUserSigner } from "./signing/keys/keys.ts";
import type { Signer } from "./signing/keys/signer.ts";
import { Trust } from "./signing/trust/trust.ts";
import { dataDirectoriesAmong, streamJudgingBy } from "./verifying/data-directories.ts";
import { SessionVerifier } from "./verifying/session-verifier.ts";
import { inspectJsonObject, type JsonIntegrity, signJsonObject } from "./verifying/signed-json.ts";
import {
  type OpenVerifiedOptions,
  openVerifiedSession,
  type VerifiedSession,
} from "./verifying/verified-entries.ts";
import { verifyDataDirectory } from "./verifying/verify-directory.ts";

export interface VerifyOptions {
  /** The store to look in: a project, or HomeAgent's base. Default: those found from here. */
  readonly root?: string;
  readonly dialect?: string;
  /** Check every signature and line, also of files over 64 MiB. */
  readonly deep?: boolean;
  /** A session of which no head is remembered is `unpinned`. */
  readonly requirePin?: boolean;
  /** Remember the heads of sessions that are verified; throws when they cannot be written. */
  readonly pin?: boolean;
  /** A file of heads that another machine exported: they count too. */
  readonly against?: string;
  /** Read checkpoints of the Python original, too. */
  readonly profile?: LegacyProfile;
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
 * Reports on the sessions that are named: by ids, beginnings of ids, paths of logs, or directories.
 * For a server's data directory, on every stream in it. Without names, on all sessions found from
 * the current directory. Bad files never make it throw: the reports say what is wrong with them.
 * Throws SESSION_NOT_FOUND for a name that means nothing, and for bad keys or trust of the user's.
 *
 * @example
 * for (const { session, verdict } of await verify([".ai/threads"])) console.log(session, verdict);
 */
export async function verify(
  names: readonly string[] = [],
  options: VerifyOptions = {},
): Promise<VerifyReport[]> {
  if (!Array.isArray(names)) throw badArgument("verify", "takes its names as a list");
  for (const name of names) checkKind("name", name, "string");
  checkOptions("verify", options, VERIFY_OPTIONS);
  checkChoice("dialect", options.dialect, DIALECT_NAMES);
  checkChoice("profile", options.profile, [LEGACY_PROFILE]);
  const verifier = await SessionVerifier.open(nodeHost, {
    where: { cwd: process.cwd(), root: options.root, dialect: options.dialect },
    isDeep: options.deep === true,
    requiresPin: options.requirePin === true,
    isLegacyProfile: options.profile === LEGACY_PROFILE,
    pins: options.pin === true,
    against: options.against ?? null,
    onWarning: options.onWarning ?? processWarning,
  });
  try {
    const flags = { isDeep: options.deep === true, requiresPin: options.requirePin === true };
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
    return reports;
  } finally {
    await verifier.close();
  }
}

/**
 * The report on one session. Only the verdict `verified` says that it is what was recorded; that
 * nothing is signed (`unsigned`) says nothing at all.
 *
 * @example const { verdict, findings } = await verifySession("hello_world-1739012630");
 */
export async function verifySession(
  name: string,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  const reports = await verify([name], options);
  const [report, ...others] = reports;
  if (report && others.length === 0) return report;
  throw new TypeError(`${name} names ${reports.length} sessions; verify() reports on all of them`);
}

/**
 * Opens a session to read what verifies, from the very bytes that were verified. Strict by default:
 * throws NOT_VERIFIED for anything but `verified`. With the policy `lenient`, lines that nobody has
 * signed or vouched for are given too, with `verified: false`; all else is refused just the same.
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
 * Signs a JSON object with the user's key, which is made when there is none: a copy with the field
 * `_signature`, over Python-compatible canonical JSON. Refuses with UNSIGNABLE_JSON what readers
 * would not all read alike. Nothing in it says what the object is for: put that into the object.
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
 * Whether a JSON object is as it was signed, by a key that the user trusts with such (purpose
 * `thread`). Give the text of a file as it is: parsing turns Python's 1.0 into 1. Never throws;
 * `inspectJson` says why it is false.
 *
 * @example
 * const text = readFileSync("graph.json", "utf8");
 * if (!(await verifyJson(text))) throw new Error("graph.json is not as it was signed");
 */
export async function verifyJson(value: SignedJson): Promise<boolean> {
  return (await inspectJsonObject(value)).valid;
}

/**
 * As `verifyJson`, with the reason. It resolves to an object, which is true in an `if` whatever it
 * says: look at `valid`. Never throws.
 *
 * @example
 * const { valid, reason } = await inspectJson(readFileSync("graph.json", "utf8"));
 * if (!valid) throw new Error(`graph.json: ${reason}`);
 */
export function inspectJson(value: SignedJson): Promise<JsonIntegrity> {
  return inspectJsonObject(value);
}

/**
 * The user's current key, ready to sign; made when there is none. Refuses one that was revoked.
 *
 * @example const { kid, fp } = await loadSigner();
 */
export function loadSigner(): Promise<Signer> {
  return loadUserSigner(nodeHost, userPlaces());
}

/**
 * Whom the user trusts, and with what: their own keys, and those they added (`verbatim trust add`).
 *
 * @example
 * const trust = await loadTrust();
 * trust.judge({ kid, purpose: "transcript", sessionId: "nightly/1", at: Date.now() });
 */
export function loadTrust(): Promise<Trust> {
  return Trust.load(userPlaces());
}

function processWarning(warning: string): void {
  process.emitWarning(warning, "VerbatimWarning");
}

export {
  type TranscriptIntegrity,
  TranscriptSigner,
  type TranscriptSignerOptions,
} from "./dialects/rye/door/transcript-signer.ts";
export { EXIT_CODES, type FindingCode, VERDICTS, type Verdict } from "./proof/verdict.ts";
export type { Policy, PolicyInForce } from "./signing/judging/policy.ts";
export type { VerifyReport } from "./signing/judging/report.ts";
export type { Signer } from "./signing/keys/signer.ts";
export type { Judgement, Trust, TrustQuestion } from "./signing/trust/trust.ts";
export type { JsonIntegrity } from "./verifying/signed-json.ts";
export type {
  OpenVerifiedOptions,
  VerifiedEntry,
  VerifiedSession,
} from "./verifying/verified-entries.ts";
