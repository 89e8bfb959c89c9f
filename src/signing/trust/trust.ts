/**
 * Trust: whose signature counts, for which session and purpose. Decided by the user alone.
 *
 * TR1  The user's own keys are trusted; no other key ever is unless the user added it.
 * TR2  Revoked is revoked, one's own keys included, whatever time a signature claims: a stolen key
 *      can write any time (`ts` is the signer's word). Only a proof of time could tell.
 * TR3  A retired key stays trusted for what it signed. Rotating is hygiene; revoking is for theft.
 */

import type { Host } from "../../base/host.ts";
import { fromBase64url, toBase64url } from "../../proof/bytes.ts";
import { fpOf, kidOf } from "../../proof/ed25519-keys.ts";
import { loadOwnKeys, type OwnKey, type TrustPlaces } from "../keys/keys.ts";
import { nodeCrypto } from "../keys/node-crypto.ts";
import { globMatches } from "./session-glob.ts";
import type { Purpose, TrustEntry } from "./trust-entry.ts";
import { changeTrustFile, readTrustFile, trustRefused } from "./trust-file.ts";

/** How reports name the owner of the user's own keys. */
export const SELF = "you";

/** What the user's own keys are trusted for: the two things that we sign, in every session. */
const OWN_SCOPE: Scope = { purposes: ["transcript", "thread"], sessions: ["**"] };

export interface TrustQuestion {
  readonly kid: string;
  readonly purpose: Purpose;
  /** As the store knows it, never as a file claims it; null when nobody knows. */
  readonly sessionId: string | null;
  /** When the signature says it was made, in milliseconds; NaN when it does not say. */
  readonly at: number;
}

export type Distrust = "unknown" | "revoked" | "expired" | "not yet valid" | "purpose" | "session";

export type Judgement =
  | { readonly trusted: true; readonly owner: string }
  | { readonly trusted: false; readonly why: Distrust };

/** How far a key is trusted. */
export type Scope = Pick<TrustEntry, "purposes" | "sessions" | "validAfter" | "validBefore">;

/** A key that we hold, trusted or not: with it a signature can be told from a false one. */
export interface HeldKey {
  readonly kid: string;
  readonly fp: string;
  readonly publicKey: Uint8Array;
  readonly owner: string;
  readonly isOwn: boolean;
  readonly scope: Scope;
  /** What the user's list says of it; null for an own key of which it says nothing. */
  readonly entry: TrustEntry | null;
}

export class Trust {
  readonly #held: ReadonlyMap<string, HeldKey>;

  constructor(own: readonly OwnKey[], entries: readonly TrustEntry[]) {
    const held = new Map<string, HeldKey>();
    for (const { kid, fp, publicKey } of own) {
      const scope = OWN_SCOPE;
      held.set(kid, { kid, fp, publicKey, owner: SELF, isOwn: true, scope, entry: null });
    }
    for (const entry of entries) {
      const present = held.get(entry.kid);
      held.set(entry.kid, present ? { ...present, entry } : heldKey(entry));
    }
    this.#held = held;
  }

  /** The user's own keys and those they added. Makes nothing. */
  static async load(places: TrustPlaces): Promise<Trust> {
    return new Trust(await loadOwnKeys(places), readTrustFile(places.trustPath));
  }

  judge({ kid, purpose, sessionId, at }: TrustQuestion): Judgement {
    const key = this.#held.get(kid);
    if (key === undefined) return distrusted("unknown");
    if (key.entry?.revokedAt !== undefined) return distrusted("revoked");
    const { purposes, sessions, validAfter, validBefore } = key.scope;
    if (!purposes.includes(purpose)) return distrusted("purpose");
    if (!sessions.some((glob) => globMatches(glob, sessionId))) return distrusted("session");
    // So written that a time nobody knows lies outside every limit.
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

  /** A key by its id, looked up among those we hold; null for a key that we do not know. */
  key(kid: string): HeldKey | null {
    return this.#held.get(kid) ?? null;
  }

  /** The keys with the seed's name for one. It is short: two keys may share it. */
  keysByFp(fp: string): readonly HeldKey[] {
    return this.keys.filter((key) => key.fp === fp);
  }
}

/** What a user says of a key they add. */
export interface Grant extends Scope, Pick<TrustEntry, "profile"> {
  readonly publicKey: Uint8Array;
  readonly owner: string;
}

/**
 * Adds a key; refuses one that is there or was revoked. The user's own keys are trusted as they are:
 * they are added only to allow them the older format, and of the grant nothing else counts.
 */
export async function addTrust(
  host: Host,
  places: TrustPlaces,
  grant: Grant,
  nowMs: number,
): Promise<TrustEntry> {
  const { publicKey, ...said } = grant;
  const kid = kidOf(nodeCrypto, publicKey);
  const addedAt = new Date(nowMs).toISOString();
  const own = (await loadOwnKeys(places)).find((key) => key.kid === kid);
  const { profile } = said;
  if (own && profile === undefined) {
    throw trustRefused(places.trustPath, "the key is your own, and trusted as such");
  }
  const entry: TrustEntry = own
    ? { ...bareEntry(own, addedAt), ...(profile && { profile }) }
    : { kid, publicKey: toBase64url(publicKey), ...said, addedAt };
  await changeTrustFile(host, places.trustPath, (entries) => {
    const present = entries.find((each) => each.kid === kid);
    if (present?.revokedAt !== undefined) {
      throw trustRefused(places.trustPath, "the key was revoked; remove that entry first");
    }
    if (present) throw trustRefused(places.trustPath, "the key is there; remove its entry first");
    return [...entries, entry];
  });
  return entry;
}

/** Takes a key out, which is then as unknown as any; null when it is not there. */
export async function removeTrust(
  host: Host,
  places: TrustPlaces,
  kid: string,
): Promise<TrustEntry | null> {
  const isOwn = (await loadOwnKeys(places)).some((key) => key.kid === kid);
  let removed: TrustEntry | null = null;
  await changeTrustFile(host, places.trustPath, (entries) => {
    removed = entries.find((each) => each.kid === kid) ?? null;
    // Taking a revocation out would trust a stolen key again; allowing the older format may end.
    if (isOwn && (!removed || removed.revokedAt !== undefined)) {
      throw trustRefused(places.trustPath, "your own keys cannot be removed from it, only revoked");
    }
    return entries.filter((each) => each !== removed);
  });
  return removed;
}

/** Revokes a key, one's own too, for good; the first revocation stays. Null: nobody knows it. */
export async function revokeTrust(
  host: Host,
  places: TrustPlaces,
  { kid, reason }: { readonly kid: string; readonly reason?: string | undefined },
  nowMs: number,
): Promise<TrustEntry | null> {
  const own = (await loadOwnKeys(places)).find((key) => key.kid === kid);
  const now = new Date(nowMs).toISOString();
  let revoked: TrustEntry | null = null;
  await changeTrustFile(host, places.trustPath, (entries) => {
    const present = entries.find((each) => each.kid === kid) ?? (own && bareEntry(own, now));
    if (present === undefined) return entries;
    const change = { revokedAt: now, ...(reason === undefined ? {} : { reason }) };
    const entry: TrustEntry = present.revokedAt === undefined ? { ...present, ...change } : present;
    revoked = entry;
    return [...entries.filter((each) => each.kid !== kid), entry];
  });
  return revoked;
}

/** An entry that grants nothing: what a revocation of one's own key is written into. */
function bareEntry({ kid, publicKey }: OwnKey, addedAt: string): TrustEntry {
  const key = toBase64url(publicKey);
  return { kid, publicKey: key, owner: SELF, purposes: [], sessions: [], addedAt };
}

function heldKey(entry: TrustEntry): HeldKey {
  const { kid, owner } = entry;
  const publicKey = fromBase64url(entry.publicKey) ?? new Uint8Array(0); // Checked on loading.
  const fp = fpOf(nodeCrypto, publicKey);
  return { kid, fp, publicKey, owner, isOwn: false, scope: entry, entry };
}

function distrusted(why: Distrust): Judgement {
  return { trusted: false, why };
}
