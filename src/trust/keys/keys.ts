/**
 * Keys: a user's own. The current one signs. Earlier ones are retired and kept, to verify what they
 * signed and to hand a session over to the next key.
 *
 *     <key directory>/private_key.pem, public_key.pem         the current key
 *     <key directory>/retired/<kid>/private_key.pem, …        each earlier key
 *
 * - Only signing creates a key, and only if there is none. Reading never writes.
 * - Processes that create, change or import keys at once do so in turn, and so agree on the key.
 * - A key is stored among the retired ones, durably, before another replaces it: no trusted
 *   signature becomes unknown, even if the process is killed.
 */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, ioError, VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import type { UserPaths } from "../../core/base/node-paths.ts";
import { userDirectoryFault } from "../../core/base/node-user-files.ts";
import { fpOf, isKid, kidOf } from "../proof/ed25519-keys.ts";
import { readTrustFile } from "../trusted-keys/trust-file.ts";
import {
  type KeyPair,
  keyRefused,
  readKeyPair,
  withLockedDirectory,
  writeKeyPair,
} from "./key-files.ts";
import { nodeCrypto } from "./node-crypto.ts";
import { rawPublicKey } from "./pem.ts";

/** Each earlier key has a directory in this one. */
export const RETIRED = "retired";
/** `keys.lock`: held while keys are created or changed. */
const LOCK_NAME = "keys";

/** Where a user's own keys and list of trusted keys are. */
export type TrustPaths = Pick<UserPaths, "keyDirectory" | "trustPath">;

export interface OwnKey {
  readonly kid: string;
  readonly fp: string;
  readonly publicKey: Uint8Array;
  readonly state: "current" | "retired";
  /** The directory of its two files. */
  readonly directory: string;
  /** Null if only its public part was kept: it verifies, and no longer signs. */
  readonly signer: Signer | null;
}

/** The user's own keys, the current one first. Creates none, and writes nothing. */
export async function loadOwnKeys(places: TrustPaths): Promise<readonly OwnKey[]> {
  return readOwnKeys(places);
}

/** Like `loadOwnKeys`, at once. */
export function readOwnKeys({ keyDirectory }: TrustPaths): readonly OwnKey[] {
  refuseOpenDirectory(keyDirectory);
  // The current one first: a key that is retired meanwhile is then found twice, never missed.
  const current = currentKey(keyDirectory);
  const ownKeys = current === null ? [] : [current];
  for (const kid of retiredKids(keyDirectory)) {
    const directory = join(keyDirectory, RETIRED, kid);
    const pair = readKeyPair(directory);
    if (pair === null || kid === current?.kid) continue;
    const key = ownKey(pair, "retired", directory);
    if (key.kid !== kid) throw keyRefused(directory, "it holds another key than its name says");
    ownKeys.push(key);
  }
  return ownKeys;
}

/**
 * The current key, ready to sign; created if there is none. Refuses a revoked one.
 *
 * @example const signer = await loadSigner(nodeHost, userPaths());
 */
export async function loadSigner(host: Host, places: TrustPaths): Promise<Signer> {
  refuseOpenDirectory(places.keyDirectory);
  const { kid, signer } = currentKey(places.keyDirectory) ?? (await makeFirstKey(host, places)).key;
  const entry = readTrustFile(places.trustPath).find((each) => each.kid === kid);
  if (entry?.revokedAt !== undefined) {
    throw keyRefused(
      places.keyDirectory,
      `your key ${kid} was revoked on ${entry.revokedAt}; make another: verbatim keys rotate`,
    );
  }
  if (signer === null) throw new TypeError("a current key has its private part");
  return signer;
}

/** A user's keys that can sign: a continued session needs them to hand over (log-signer.ts). */
export interface OwnKeys {
  readonly current: Signer;
  /** All by `kid`, including retired keys. No revoked key: its signature counts for nothing. */
  readonly signers: ReadonlyMap<string, Signer>;
}

/**
 * The user's keys as they are now; `before` signs if there are none any more. Creates none. A
 * revoked current key is included: what it signs is judged by its own trust.
 */
export async function loadOwnSigners(places: TrustPaths, before: Signer): Promise<OwnKeys> {
  const ownKeys = await loadOwnKeys(places);
  const revoked = new Set(
    readTrustFile(places.trustPath).flatMap((each) => (each.revokedAt ? [each.kid] : [])),
  );
  const usable = ownKeys.filter(({ kid, signer }) => signer !== null && !revoked.has(kid));
  const signers = new Map(usable.flatMap(({ kid, signer }) => (signer ? [[kid, signer]] : [])));
  const current = ownKeys.find(({ state }) => state === "current")?.signer ?? before;
  return { current, signers };
}

/** Creates the first key, unless another process has created one by then. */
export function makeFirstKey(
  host: Host,
  places: TrustPaths,
): Promise<{ readonly key: OwnKey; readonly isNew: boolean }> {
  return change(host, places, async (put) => {
    const present = currentKey(places.keyDirectory);
    if (present !== null) return { key: present, isNew: false };
    return { key: await put(newPrivateKey(), "current"), isNew: true };
  });
}

/** Replaces the current key, which is retired. */
export function rotateKey(
  host: Host,
  places: TrustPaths,
): Promise<{ readonly key: OwnKey; readonly retired: OwnKey }> {
  return change(host, places, async (put) => {
    const retired = currentKey(places.keyDirectory);
    if (retired === null) throw noKey(places.keyDirectory);
    return { key: await put(newPrivateKey(), "current"), retired };
  });
}

/** Imports a key as the current one, which retires the previous one, or as a retired one. */
export function importKey(
  host: Host,
  places: TrustPaths,
  privateKey: KeyObject,
  state: OwnKey["state"],
): Promise<OwnKey> {
  return change(host, places, async (put) => {
    const kid = kidOf(nodeCrypto, rawPublicKey(privateKey));
    const present = currentKey(places.keyDirectory);
    // It is already there, and a current key can do more than a retired one.
    if (present?.kid === kid) return present;
    return put(privateKey, state);
  });
}

/** Refuses with KEY_NOT_FOUND, saying how to get a key. */
export function noKey(directory: string): VerbatimError<"KEY_NOT_FOUND"> {
  return new VerbatimError(
    "KEY_NOT_FOUND",
    `there is no key in ${directory}; make one: verbatim keys init`,
    { key: "current" },
  );
}

/** Writes a key to disk in the given state. */
type Put = (privateKey: KeyObject, state: OwnKey["state"]) => Promise<OwnKey>;

/** One process at a time. */
async function change<T>(
  host: Host,
  { keyDirectory }: TrustPaths,
  work: (put: Put) => Promise<T>,
): Promise<T> {
  refuseOpenDirectory(keyDirectory);
  const keep = async (privateKey: KeyObject, kid: string): Promise<string> => {
    const path = join(keyDirectory, RETIRED, kid);
    const directory = await host.files.openDirectory(path, { create: true, root: keyDirectory });
    try {
      await writeKeyPair(directory, privateKey);
    } finally {
      directory.close();
    }
    return path;
  };
  return withLockedDirectory(host, keyDirectory, LOCK_NAME, (directory) =>
    work(async (privateKey, state) => {
      const pair = { publicKey: rawPublicKey(privateKey), privateKey };
      if (state === "retired") {
        return ownKey(pair, state, await keep(privateKey, kidOf(nodeCrypto, pair.publicKey)));
      }
      const before = readKeyPair(keyDirectory);
      if (before?.privateKey) {
        // Kept durably before it is replaced.
        await keep(before.privateKey, kidOf(nodeCrypto, before.publicKey));
      }
      await writeKeyPair(directory, privateKey);
      return ownKey(pair, state, keyDirectory);
    }),
  );
}

function newPrivateKey(): KeyObject {
  return generateKeyPairSync("ed25519").privateKey;
}

function currentKey(keyDirectory: string): OwnKey | null {
  const pair = readKeyPair(keyDirectory);
  if (pair === null) return null;
  if (pair.privateKey !== null) return ownKey(pair, "current", keyDirectory);
  // A new key here would overwrite the only trace of the previous one, and orphan its signatures.
  const kid = kidOf(nodeCrypto, pair.publicKey);
  throw keyRefused(
    keyDirectory,
    `it holds a public key without its private key; bring that back, ` +
      `or move public_key.pem to ${join(RETIRED, kid)}/`,
  );
}

function ownKey(pair: KeyPair, state: OwnKey["state"], directory: string): OwnKey {
  const { publicKey, privateKey } = pair;
  const names = { kid: kidOf(nodeCrypto, publicKey), fp: fpOf(nodeCrypto, publicKey), publicKey };
  const signer = privateKey && {
    ...names,
    // In this thread: it takes 50 µs, and another thread would take longer.
    sign: async (message: Uint8Array) => new Uint8Array(sign(null, message, privateKey)),
  };
  return { ...names, state, directory, signer };
}

/** Other names are not ours. Sorted, so that every listing is the same. */
function retiredKids(keyDirectory: string): string[] {
  const path = join(keyDirectory, RETIRED);
  try {
    return readdirSync(path).filter(isKid).sort();
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return [];
    throw ioError(path, "listing", cause);
  }
}

function refuseOpenDirectory(keyDirectory: string): void {
  const fault = userDirectoryFault(keyDirectory);
  if (fault !== null) throw keyRefused(keyDirectory, fault);
}

/**
 * Holds a private key. An interface, so that the key can live in a file, an agent or
 * another process.
 */
export interface Signer {
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** SHA-256 of the raw public key, in hex: the name under which a key is trusted. */
  readonly kid: string;
  /** The seed's name for it: the first 16 hex digits of SHA-256 over the public key's PEM. */
  readonly fp: string;
  /** An Ed25519 signature, 64 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}
