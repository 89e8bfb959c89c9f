/**
 * Trust entry: one key that a user trusts, for what, and until when; or a revoked key. Format:
 * docs/formats/trust.md.
 *
 * An entry with any fault is refused. An unknown field may be a limit of a newer version, or a
 * misspelt `revokedAt`: ignoring it would trust too much. The key is checked each time it is
 * loaded, and its id is computed, never taken from the file.
 */

import { nodeCrypto } from "../keys/node-crypto.ts";
import { fromBase64url } from "../proof/bytes.ts";
import { kidOf, publicKeyFault } from "../proof/ed25519-keys.ts";
import { type CheckpointProfile, LEGACY_PROFILE } from "../proof/envelopes.ts";

export const GLOB_CHARS_MAX = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const GLOB = /^[^\u0000-\u001f\u007f-\u009f]+$/;

/**
 * Which sessions a pattern matches. `*` matches any run of characters except `/`,
 * `**` any run at all; all other characters match themselves.
 *
 * Matching reads the id once and keeps the set of all possible glob positions, so there is no
 * backtracking and no input takes long.
 *
 * Whether a text is a valid glob: not empty, not too long, no control characters.
 */
export function isGlob(text: string): boolean {
  return text.length <= GLOB_CHARS_MAX && GLOB.test(text);
}

/** Whether the glob matches this session. A session without an id is matched by `**` alone. */
export function globMatches(glob: string, sessionId: string | null): boolean {
  if (sessionId === null) return glob === "**";
  const tokens = glob.match(/\*\*+|[\s\S]/g) ?? [];
  let places = withEmptyRuns(tokens, new Set([0]));
  for (let at = 0; at < sessionId.length && places.size > 0; at++) {
    const character = sessionId[at] ?? "";
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token === undefined) continue;
      if (token.startsWith("*")) {
        if (token.length > 1 || character !== "/") next.add(place);
      } else if (token === character) {
        next.add(place + 1);
      }
    }
    places = withEmptyRuns(tokens, next);
  }
  return places.has(tokens.length);
}

/** A star may match nothing, so a position at a star is also a position after it. */
function withEmptyRuns(tokens: readonly string[], places: Set<number>): Set<number> {
  // A set is iterated in insertion order, including elements added during the iteration.
  for (const place of places) {
    if (tokens[place]?.startsWith("*")) places.add(place + 1);
  }
  return places;
}

/**
 * What a key may sign. `transcript`: checkpoints of a session's log. `thread`: the file next to it
 * that also says what a thread is allowed to do.
 */
export const PURPOSES = ["transcript", "thread"] as const;
export type Purpose = (typeof PURPOSES)[number];

export const OWNER_CHARS_MAX = 200;
export const REASON_CHARS_MAX = 500;
export const GLOBS_MAX = 100;

export interface TrustEntry {
  readonly kid: string;
  /** The raw key in base64url; empty if only the id of a revoked key is known. */
  readonly publicKey: string;
  /** The owner, as named by the user. */
  readonly owner: string;
  readonly purposes: readonly Purpose[];
  /** Globs: a session that matches none of them is not covered. */
  readonly sessions: readonly string[];
  /** From this time on; until before `validBefore`. ISO 8601 in UTC, with milliseconds. */
  readonly validAfter?: string;
  readonly validBefore?: string;
  /** The key may also have signed in the older format. Absent: such signatures are not trusted. */
  readonly profile?: CheckpointProfile;
  readonly addedAt: string;
  /** Since when nothing by this key is trusted, whatever time a signature claims. */
  readonly revokedAt?: string;
  readonly reason?: string;
}

type Check = (value: unknown) => boolean;

/** In the order in which they are written. */
const FIELDS: Readonly<Record<keyof TrustEntry, { isRequired: boolean; what: string; is: Check }>> =
  {
    kid: { isRequired: true, what: "a key id", is: isText(64) },
    publicKey: { isRequired: true, what: "a key in base64url", is: isKeyText },
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

/** Why a value is not an entry, naming the field but never its content; null if it is one. */
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

/** The same entry, with its fields in the written order. */
export function orderFields(entry: TrustEntry): TrustEntry {
  const names = Object.keys(FIELDS) as (keyof TrustEntry)[];
  const present = names.filter((name) => entry[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, entry[name]])) as unknown as TrustEntry;
}

export function isOwner(value: unknown): boolean {
  return isPlain(value, OWNER_CHARS_MAX);
}

export function isReason(value: unknown): boolean {
  return isPlain(value, REASON_CHARS_MAX);
}

/** A date or time in UTC, as people write it, in the stored form; null if it is neither. */
export function parseTrustTime(text: string): string | null {
  const pattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,3})?Z)?$/;
  const ms = pattern.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return null;
  const time = new Date(ms).toISOString();
  return time.startsWith(text.slice(0, 19).replace("Z", "")) ? time : null; // Refuses 31 February.
}

/** Checks that depend on several fields. */
function meaningFault(entry: TrustEntry): string | null {
  if (entry.publicKey === "") return withoutKeyFault(entry);
  const key = fromBase64url(entry.publicKey);
  const keyFault = key === null ? "it is not base64url" : publicKeyFault(key);
  if (key === null || keyFault !== null) return `its publicKey is refused: ${keyFault}`;
  if (entry.kid !== kidOf(nodeCrypto, key)) return "kid is not the id of publicKey";
  const { validAfter, validBefore, revokedAt, reason } = entry;
  if (validAfter !== undefined && validBefore !== undefined && validAfter >= validBefore) {
    return "validBefore is not after validAfter";
  }
  if (reason !== undefined && revokedAt === undefined) return "it has a reason, but no revokedAt";
  return null;
}

/** Only a revocation needs no key. */
function withoutKeyFault({ kid, revokedAt, purposes, sessions }: TrustEntry): string | null {
  if (!/^[0-9a-f]{64}$/.test(kid)) return "kid is not a key id";
  const isBare = revokedAt !== undefined && purposes.length === 0 && sessions.length === 0;
  return isBare ? null : "it has no publicKey, and is not only a revocation";
}

function isKeyText(value: unknown): boolean {
  return value === "" || isText(43)(value);
}

function isText(length: number): Check {
  return (value) => typeof value === "string" && value.length === length;
}

/** One line, without terminal control characters. */
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

/** A list without duplicates. */
function isListOf(value: unknown, lengthMax: number, is: Check): boolean {
  if (!Array.isArray(value) || value.length > lengthMax) return false;
  return value.every(is) && new Set(value).size === value.length;
}

/** Exactly in our form, so that times compare as strings. */
function isTime(value: unknown): boolean {
  return typeof value === "string" && value.length === 24 && parseTrustTime(value) === value;
}
