/**
 * Trust: which signatures count, for which session and purpose. Decided by the user alone.
 *
 * - The user's own keys are trusted; any other key only if the user added it.
 * - A revoked key is never trusted, own keys included, whatever time a signature claims: a thief
 *   can write any time (`ts` is the signer's claim). Only a proof of time could decide.
 * - A retired key stays trusted for what it signed. Rotate for hygiene; revoke after theft.
 */

import type { Host } from "../../core/base/host.ts";
import { loadOwnKeys, type OwnKey, readOwnKeys, type TrustPaths } from "../keys/keys.ts";
import { nodeCrypto } from "../keys/node-crypto.ts";
import { fromBase64url, toBase64url } from "../proof/bytes.ts";
import { fpOf, type KeyAnswer, type KeyRefusal, type Keys, kidOf } from "../proof/ed25519-keys.ts";
import { LEGACY_PROFILE } from "../proof/envelopes.ts";
import { globMatches, type Purpose, type TrustEntry } from "./trust-entry.ts";
import { changeTrustFile, readTrustFile, trustRefused } from "./trust-file.ts";

const REFUSALS: Readonly<Record<Distrust, KeyRefusal>> = {
  unknown: "KEY_UNKNOWN",
  revoked: "KEY_REVOKED",
  expired: "KEY_EXPIRED",
  "not yet valid": "KEY_NOT_YET_VALID",
  purpose: "KEY_OF_OTHER_PURPOSE",
  session: "KEY_OF_OTHER_PURPOSE",
};

/**
 * The user's trust, as the lookup that judges of signatures use.
 *
 * The keys for the transcript of one session; `sessionId` as its store knows it.
 */
export function transcriptKeys(trust: Trust, sessionId: string | null): Keys {
  return keysFor("transcript", trust, sessionId);
}

/** The keys for other signed JSON, mainly a thread's metadata. */
export function threadKeys(trust: Trust, sessionId: string | null): Keys {
  return keysFor("thread", trust, sessionId);
}

function keysFor(purpose: Purpose, trust: Trust, sessionId: string | null): Keys {
  const answer = (held: HeldKey | null, kid: string | null, at: number): KeyAnswer => {
    if (!held) return { publicKey: null, kid, fp: null, owner: null, refusal: "KEY_UNKNOWN" };
    const { publicKey, fp, owner } = held;
    const judged = trust.judge({ kid: held.kid, purpose, sessionId, at });
    const refusal = judged.trusted ? null : REFUSALS[judged.why];
    // Of a key that was revoked by its id alone, there is none.
    return {
      publicKey: publicKey.length > 0 ? publicKey : null,
      kid: held.kid,
      fp,
      owner,
      refusal,
    };
  };
  return {
    byKid: (kid, ts) => answer(trust.key(kid), kid, Date.parse(ts)),
    byFp: (fp) => {
      // Two keys may share the short name; then it identifies neither.
      const [held, other] = trust.keysByFp(fp);
      const found = held && !other ? held : null;
      const answered = answer(found, null, Number.NaN);
      // Such a checkpoint signs a bare hash: any `sig` of ours over the same bytes would pass as
      // one.
      const isBarred = purpose === "transcript" && found?.entry?.profile !== LEGACY_PROFILE;
      const refusal = answered.refusal ?? (isBarred ? "KEY_NOT_FOR_OLDER_FORMAT" : null);
      return { ...answered, refusal, fp };
    },
  };
}

/** How reports name the owner of the user's own keys. */
export const SELF = "you";

/** The scope of the user's own keys: both things that we sign, in every session. */
const OWN_SCOPE: Scope = { purposes: ["transcript", "thread"], sessions: ["**"] };

export interface TrustQuestion {
  readonly kid: string;
  readonly purpose: Purpose;
  /** As the store knows it, never as a file claims it; null if unknown. */
  readonly sessionId: string | null;
  /** The signature's own time in milliseconds; NaN if it has none. */
  readonly at: number;
}

export type Distrust = "unknown" | "revoked" | "expired" | "not yet valid" | "purpose" | "session";

export type Judgement =
  | { readonly trusted: true; readonly owner: string }
  | { readonly trusted: false; readonly why: Distrust };

export type Scope = Pick<TrustEntry, "purposes" | "sessions" | "validAfter" | "validBefore">;

/** A key that we hold, trusted or not: it can tell a valid signature from a forged one. */
export interface HeldKey {
  readonly kid: string;
  readonly fp: string;
  readonly publicKey: Uint8Array;
  readonly owner: string;
  readonly isOwn: boolean;
  readonly scope: Scope;
  /** Its entry in the user's list; null for an own key without one. */
  readonly entry: TrustEntry | null;
}

export class Trust {
  readonly #held: ReadonlyMap<string, HeldKey>;

  constructor(ownKeys: readonly OwnKey[], entries: readonly TrustEntry[]) {
    const held = new Map<string, HeldKey>();
    for (const { kid, fp, publicKey } of ownKeys) {
      const scope = OWN_SCOPE;
      held.set(kid, { kid, fp, publicKey, owner: SELF, isOwn: true, scope, entry: null });
    }
    for (const entry of entries) {
      const present = held.get(entry.kid);
      held.set(entry.kid, present ? { ...present, entry } : heldKey(entry));
    }
    this.#held = held;
  }

  /** The user's own keys and those they added. Creates nothing. */
  static async load(places: TrustPaths): Promise<Trust> {
    return Trust.read(places);
  }

  /** Like `load`, at once. */
  static read(places: TrustPaths): Trust {
    return new Trust(readOwnKeys(places), readTrustFile(places.trustPath));
  }

  judge({ kid, purpose, sessionId, at }: TrustQuestion): Judgement {
    const key = this.#held.get(kid);
    if (key === undefined) return distrusted("unknown");
    if (key.entry?.revokedAt !== undefined) return distrusted("revoked");
    const { purposes, sessions, validAfter, validBefore } = key.scope;
    if (!purposes.includes(purpose)) return distrusted("purpose");
    if (!sessions.some((glob) => globMatches(glob, sessionId))) return distrusted("session");
    // Written so that an unknown time (NaN) is outside every limit.
    if (validAfter !== undefined && !(at >= Date.parse(validAfter))) {
      return distrusted("not yet valid");
    }
    if (validBefore !== undefined && !(at < Date.parse(validBefore))) return distrusted("expired");
    return { trusted: true, owner: key.owner };
  }

  /** Every key that we hold, the user's own first. */
  get keys(): readonly HeldKey[] {
    return [...this.#held.values()];
  }

  /** A key by its id; null if we do not hold it. */
  key(kid: string): HeldKey | null {
    return this.#held.get(kid) ?? null;
  }

  /** The keys with this short name (`fp`); two keys may share one. */
  keysByFp(fp: string): readonly HeldKey[] {
    return this.keys.filter((key) => key.fp === fp);
  }
}

/** What a user states when adding a key. */
export interface Grant extends Scope, Pick<TrustEntry, "profile"> {
  readonly publicKey: Uint8Array;
  readonly owner: string;
}

/**
 * Adds a key; refuses one that is already there or was revoked. The user's own keys are trusted
 * anyway: adding one only allows it the older format, and the rest of the grant is ignored.
 */
export async function addTrust(
  host: Host,
  places: TrustPaths,
  grant: Grant,
  nowMs: number,
): Promise<TrustEntry> {
  const { publicKey, ...said } = grant;
  const kid = kidOf(nodeCrypto, publicKey);
  const addedAt = new Date(nowMs).toISOString();
  const ownKey = (await loadOwnKeys(places)).find((key) => key.kid === kid);
  const { profile } = said;
  if (ownKey && profile === undefined) {
    throw trustRefused(places.trustPath, "the key is your own, and trusted as such");
  }
  const entry: TrustEntry = ownKey
    ? { ...bareEntry(ownKey, addedAt), ...(profile && { profile }) }
    : { kid, publicKey: toBase64url(publicKey), ...said, addedAt };
  await changeTrustFile(host, places.trustPath, (entries) => {
    const present = entries.find((each) => each.kid === kid);
    if (present?.revokedAt !== undefined) {
      throw trustRefused(places.trustPath, "the key was revoked; remove that entry first");
    }
    if (present) {
      const reason = `it has the key already; \`verbatim keys trust remove ${kid}\` removes it`;
      throw trustRefused(places.trustPath, reason);
    }
    return [...entries, entry];
  });
  return entry;
}

/** Stops trusting a key; returns null if it is not there. */
export async function removeTrust(
  host: Host,
  places: TrustPaths,
  kid: string,
): Promise<TrustEntry | null> {
  const isOwn = (await loadOwnKeys(places)).some((key) => key.kid === kid);
  let removed: TrustEntry | null = null;
  await changeTrustFile(host, places.trustPath, (entries) => {
    removed = entries.find((each) => each.kid === kid) ?? null;
    // Removing a revocation would trust a stolen key again; permission for the older format may be
    // removed.
    if (isOwn && (!removed || removed.revokedAt !== undefined)) {
      throw trustRefused(places.trustPath, "your own keys cannot be removed from it, only revoked");
    }
    return entries.filter((each) => each !== removed);
  });
  return removed;
}

/**
 * Revokes a key, also an own one, for good; the first revocation is kept. Null: unknown key. With
 * `publicKey`, an unknown key is revoked in advance; null: only its id is known.
 */
export async function revokeTrust(
  host: Host,
  places: TrustPaths,
  { kid, reason, publicKey }: Revocation,
  nowMs: number,
): Promise<TrustEntry | null> {
  const ownKey = (await loadOwnKeys(places)).find((key) => key.kid === kid);
  const now = new Date(nowMs).toISOString();
  let revoked: TrustEntry | null = null;
  await changeTrustFile(host, places.trustPath, (entries) => {
    const unknown = publicKey === undefined ? undefined : unknownEntry(kid, publicKey, now);
    const listed = entries.find((each) => each.kid === kid);
    const present = listed ?? (ownKey ? bareEntry(ownKey, now) : unknown);
    if (present === undefined) return entries;
    const change = { revokedAt: now, ...(reason === undefined ? {} : { reason }) };
    const entry: TrustEntry = present.revokedAt === undefined ? { ...present, ...change } : present;
    revoked = entry;
    return [...entries.filter((each) => each.kid !== kid), entry];
  });
  return revoked;
}

export interface Revocation {
  readonly kid: string;
  readonly reason?: string | undefined;
  readonly publicKey?: Uint8Array | null;
}

/** Whose key it is, is not known. */
export const UNKNOWN_OWNER = "unknown";

function unknownEntry(kid: string, publicKey: Uint8Array | null, addedAt: string): TrustEntry {
  const key = publicKey === null ? "" : toBase64url(publicKey);
  return { kid, publicKey: key, owner: UNKNOWN_OWNER, purposes: [], sessions: [], addedAt };
}

/** An entry that grants nothing, to hold the revocation of an own key. */
function bareEntry({ kid, publicKey }: OwnKey, addedAt: string): TrustEntry {
  const key = toBase64url(publicKey);
  return { kid, publicKey: key, owner: SELF, purposes: [], sessions: [], addedAt };
}

function heldKey(entry: TrustEntry): HeldKey {
  const { kid, owner } = entry;
  const publicKey = fromBase64url(entry.publicKey) ?? new Uint8Array(0); // Checked on loading.
  const fp = publicKey.length === 0 ? "" : fpOf(nodeCrypto, publicKey);
  return { kid, fp, publicKey, owner, isOwn: false, scope: entry, entry };
}

function distrusted(why: Distrust): Judgement {
  return { trusted: false, why };
}
