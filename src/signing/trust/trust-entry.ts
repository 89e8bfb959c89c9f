/**
 * Trust entry: one key that a user trusts, for what, and until when; or one that was revoked.
 * Format: docs/formats/trust.md.
 *
 * TE1  An entry is whole or it is refused. A field we do not know may be a limit that a newer
 *      version keeps, or a misspelt `revokedAt`: passing over it would trust too much.
 * TE2  The key is judged each time it is loaded, and its id is never taken on faith.
 */

import { fromBase64url } from "../../proof/bytes.ts";
import { kidOf, publicKeyFault } from "../../proof/ed25519-keys.ts";
import { LEGACY_PROFILE, type LegacyProfile } from "../../proof/envelopes.ts";
import { nodeCrypto } from "../keys/node-crypto.ts";
import { isGlob } from "./session-glob.ts";

/**
 * What a signature may be made for. `transcript`: checkpoints of a session's log. `thread`: the
 * thread.json beside it, which also says what a thread is allowed to do.
 */
export const PURPOSES = ["transcript", "thread"] as const;
export type Purpose = (typeof PURPOSES)[number];

export const OWNER_CHARS_MAX = 200;
export const REASON_CHARS_MAX = 500;
export const GLOBS_MAX = 100;

export interface TrustEntry {
  readonly kid: string;
  /** The raw key in base64url. */
  readonly publicKey: string;
  /** Who the user says it belongs to. */
  readonly owner: string;
  readonly purposes: readonly Purpose[];
  /** Globs: a session that none of them names is not covered. */
  readonly sessions: readonly string[];
  /** From this moment on; before `validBefore`. ISO 8601 in UTC, with milliseconds. */
  readonly validAfter?: string;
  readonly validBefore?: string;
  /** It may also have signed in the older format. Absent: what it signed there is not trusted. */
  readonly profile?: LegacyProfile;
  readonly addedAt: string;
  /** Since when nothing by this key is trusted any more, whatever time it claims. */
  readonly revokedAt?: string;
  readonly reason?: string;
}

type Check = (value: unknown) => boolean;

/** In the order in which they are written. */
const FIELDS: Readonly<Record<keyof TrustEntry, { isRequired: boolean; what: string; is: Check }>> =
  {
    kid: { isRequired: true, what: "a key id", is: isText(64) },
    publicKey: { isRequired: true, what: "a key in base64url", is: isText(43) },
    owner: { isRequired: true, what: `1 to ${OWNER_CHARS_MAX} plain characters`, is: isOwner },
    purposes: { isRequired: true, what: `a list of ${PURPOSES.join(", ")}`, is: isPurposes },
    sessions: { isRequired: true, what: `a list of at most ${GLOBS_MAX} globs`, is: isGlobs },
    validAfter: { isRequired: false, what: "a time", is: isTime },
    validBefore: { isRequired: false, what: "a time", is: isTime },
    profile: {
      isRequired: false,
      what: `"${LEGACY_PROFILE}"`,
      is: (value) => value === LEGACY_PROFILE,
    },
    addedAt: { isRequired: true, what: "a time", is: isTime },
    revokedAt: { isRequired: false, what: "a time", is: isTime },
    reason: { isRequired: false, what: `1 to ${REASON_CHARS_MAX} plain characters`, is: isReason },
  };

/** Why a value is no entry, naming the field and never what it holds; null when it is one (TE1). */
export function entryFault(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "it is no object";
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(FIELDS, name)) return "it has a field that this version does not know";
  }
  for (const [name, { isRequired, what, is }] of Object.entries(FIELDS)) {
    if (!Object.hasOwn(fields, name)) {
      if (isRequired) return `${name} is missing`;
    } else if (!is(fields[name])) {
      return `${name} is not ${what}`;
    }
  }
  return meaningFault(value as TrustEntry);
}

/** The same entry, its fields in the one order that is written. */
export function inOrder(entry: TrustEntry): TrustEntry {
  const names = Object.keys(FIELDS) as (keyof TrustEntry)[];
  const present = names.filter((name) => entry[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, entry[name]])) as unknown as TrustEntry;
}

/** What a person may call the owner of a key. */
export function isOwner(value: unknown): boolean {
  return isPlain(value, OWNER_CHARS_MAX);
}

/** Why a key was revoked, in a person's words. */
export function isReason(value: unknown): boolean {
  return isPlain(value, REASON_CHARS_MAX);
}

/** A time as it is kept, of a date or a time in UTC as people write it; null when it is neither. */
export function timeOf(text: string): string | null {
  const pattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,3})?Z)?$/;
  const ms = pattern.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return null;
  const time = new Date(ms).toISOString();
  return time.startsWith(text.slice(0, 19).replace("Z", "")) ? time : null; // No 31 February.
}

/** What the fields mean together (TE2). */
function meaningFault(entry: TrustEntry): string | null {
  const key = fromBase64url(entry.publicKey);
  const keyFault = key === null ? "it is not base64url" : publicKeyFault(key);
  if (key === null || keyFault !== null) return `its publicKey is refused: ${keyFault}`;
  if (entry.kid !== kidOf(nodeCrypto, key)) return "kid is not the id of publicKey";
  const { validAfter, validBefore, revokedAt, reason } = entry;
  if (validAfter !== undefined && validBefore !== undefined && validAfter >= validBefore) {
    return "validBefore is not after validAfter";
  }
  if (reason !== undefined && revokedAt === undefined) return "reason stands without revokedAt";
  return null;
}

function isText(length: number): Check {
  return (value) => typeof value === "string" && value.length === length;
}

/** One line, without what acts on a terminal. */
function isPlain(value: unknown, charsMax: number): boolean {
  return (
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= charsMax &&
    value.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(value)
  );
}

function isPurposes(value: unknown): boolean {
  return isListOf(value, PURPOSES.length, (each) => PURPOSES.some((purpose) => purpose === each));
}

function isGlobs(value: unknown): boolean {
  return isListOf(value, GLOBS_MAX, (each) => typeof each === "string" && isGlob(each));
}

/** A list without repetitions. */
function isListOf(value: unknown, lengthMax: number, is: Check): boolean {
  if (!Array.isArray(value) || value.length > lengthMax) return false;
  return value.every(is) && new Set(value).size === value.length;
}

/** Exactly as we write it, so that times compare as texts do. */
function isTime(value: unknown): boolean {
  return typeof value === "string" && value.length === 24 && timeOf(value) === value;
}
