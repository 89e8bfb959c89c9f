/**
 * Key files: one key pair as two PEM files in a directory, as rye keeps its own, so that copying
 * them in imports them. Format: docs/formats/keys.md.
 *
 * - A private key that others can read, or that is not clearly ours, is not used: others may have
 *   read it and could sign as us.
 * - The private file decides; the public one can be derived from it. The public file may be missing
 *   (if the process writing the pair was killed). If the two contradict each other, neither is
 *   used.
 * - Written atomically, mode 0600 from the first byte, the private file first.
 */

import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import { errnoOf, ioError, VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readUserFile, type UserFileRules } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { LogLock } from "../../core/log/lock.ts";
import { publicKeyPem } from "../proof/ed25519-keys.ts";
import {
  PEM_BYTES_MAX,
  type PemResult,
  parsePrivatePem,
  parsePublicPem,
  privateKeyPem,
  rawPublicKey,
} from "./pem.ts";

/** Changes take milliseconds; a longer wait means that the holder hangs. */
const LOCK_WAIT_MS = 10_000;

/**
 * Changes to a user's small files, one process at a time. Files are read with the
 * lock held, so no concurrent change is lost.
 *
 * Runs `work` with `<name>.lock` held in the directory, which is created if missing.
 */
export async function withLockedDirectory<T>(
  host: Host,
  path: string,
  name: string,
  work: (directory: Directory) => Promise<T>,
): Promise<T> {
  try {
    const directory = await host.files.openDirectory(path, { create: true });
    try {
      const lock = new LogLock(host, directory, name);
      try {
        await lock.acquire(LOCK_WAIT_MS);
        lock.sayHeld(); // So that a process that waits in vain can name the holder.
        return await work(directory);
      } finally {
        lock.close();
      }
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw errnoOf(cause) === "UNKNOWN" ? cause : ioError(path, "changing", cause);
  }
}

/** A shorter prefix is a typo or a guess. */
export const KEY_PREFIX_MIN = 8;

interface KeyName {
  readonly kid: string;
  readonly fp: string;
}

/**
 * Finds the key a user names, and formats ids to be compared by eye.
 *
 * The one key with this id, id prefix or short name (fp); else KEY_NOT_FOUND.
 */
export function findKey<K extends KeyName>(name: string, keys: readonly K[]): K {
  const wantedId = name.replaceAll(" ", "").toLowerCase(); // Ids are shown in groups.
  const isName = /^[0-9a-f]+$/.test(wantedId) && wantedId.length >= KEY_PREFIX_MIN;
  const matches = isName
    ? keys.filter(({ kid, fp }) => kid.startsWith(wantedId) || fp === wantedId)
    : [];
  const [key, another] = matches;
  if (key && !another) return key;
  const why = another
    ? `${matches.length} keys have this name: ${matches.map(({ kid }) => kid).join(", ")}`
    : `give the id of a key, or its first ${KEY_PREFIX_MIN} hex digits or more`;
  throw new VerbatimError(
    "KEY_NOT_FOUND",
    `no single key is named ${JSON.stringify(name)}; ${why}`,
    {
      key: name,
    },
  );
}

export function inGroups(kid: string): string {
  return kid.match(/.{1,4}/g)?.join(" ") ?? "";
}

export const PRIVATE_NAME = "private_key.pem";
export const PUBLIC_NAME = "public_key.pem";

export interface KeyPair {
  readonly publicKey: Uint8Array;
  /** Null if only the public part was kept. */
  readonly privateKey: KeyObject | null;
}

type ReadFile = typeof readUserFile;

/** The pair in this directory, or null. Refuses with KEY_REFUSED. */
export function readKeyPair(directory: string, read: ReadFile = readUserFile): KeyPair | null {
  const [privatePath, publicPath] = [join(directory, PRIVATE_NAME), join(directory, PUBLIC_NAME)];
  for (;;) {
    const privateKey = readKey(privatePath, "secret", parsePrivatePem, read);
    const given = readKey(publicPath, "own", parsePublicPem, read);
    if (privateKey === null) {
      if (given === null) return null;
      // The private key is written first: one written between the two reads is there now.
      if (readKey(privatePath, "secret", parsePrivatePem, read) !== null) continue;
      return { publicKey: given, privateKey };
    }
    const publicKey = rawPublicKey(privateKey);
    if (given === null || isSame(given, publicKey)) return { publicKey, privateKey };
    // The pair may have been replaced between the two reads; then read again.
    const now = readKey(privatePath, "secret", parsePrivatePem, read);
    if (now !== null && isSame(rawPublicKey(now), publicKey)) {
      throw keyRefused(publicPath, `it is not the public key of ${privatePath}; remove it`);
    }
  }
}

/** Replaces the pair. If killed on the way, one of the two pairs is there. */
export async function writeKeyPair(directory: Directory, privateKey: KeyObject): Promise<void> {
  // Before the private key changes: the two would contradict each other.
  await removePublicKey(directory);
  await replaceFileDurably(directory, PRIVATE_NAME, privateKeyPem(privateKey));
  await replaceFileDurably(directory, PUBLIC_NAME, publicKeyPem(rawPublicKey(privateKey)));
}

/** A private key from a file named by the user; KEY_REFUSED also if it is missing. */
export function readPrivateKeyFile(path: string): KeyObject {
  const key = readKey(path, "secret", parsePrivatePem);
  if (key !== null) return key;
  throw keyRefused(path, "there is no such file");
}

/** A public key from a file named by the user, of any owner. */
export function readPublicKeyFile(path: string): Uint8Array {
  const key = readKey(path, "anyone", parsePublicPem);
  if (key !== null) return key;
  throw keyRefused(path, "there is no such file");
}

export function keyRefused(path: string | null, reason: string): VerbatimError<"KEY_REFUSED"> {
  const what = path === null ? "the key" : path;
  return new VerbatimError("KEY_REFUSED", `${what} is refused: ${reason}`, { path, reason });
}

function readKey<T>(
  path: string,
  access: UserFileRules["access"],
  parse: (text: string) => PemResult<T>,
  read: ReadFile = readUserFile,
): T | null {
  const file = read(path, { access, bytesMax: PEM_BYTES_MAX });
  if (file === null) return null;
  if (file.fault !== null) throw keyRefused(path, file.fault);
  const { value, fault } = parse(file.text);
  if (fault !== null) throw keyRefused(path, fault);
  return value;
}

async function removePublicKey(directory: Directory): Promise<void> {
  try {
    directory.remove(PUBLIC_NAME);
  } catch (cause) {
    if ((cause as { code?: unknown }).code === "ENOENT") return;
    throw cause;
  }
  await directory.sync();
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
