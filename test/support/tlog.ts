/**
 * Tlog: notes, cosignatures and trees of other transparency logs, from their specifications and
 * node:crypto alone. Shares no code with what it tests.
 */

import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

export function sha256(...parts: (Uint8Array | string)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** RFC 6962, 2.1, by its recursive definition, over hashes of leaves. */
export function rootOf(leaves: readonly Uint8Array[]): Buffer {
  if (leaves.length === 0) return sha256("");
  if (leaves.length === 1) return Buffer.from(leaves[0] as Uint8Array);
  const k = largestPower(leaves.length);
  return sha256(Buffer.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
}

/** RFC 6962, 2.1.2. */
export function consistency(m: number, leaves: readonly Uint8Array[]): Buffer[] {
  return subproof(m, leaves, true);
}

function subproof(m: number, leaves: readonly Uint8Array[], isWhole: boolean): Buffer[] {
  if (m === leaves.length) return isWhole ? [] : [rootOf(leaves)];
  const k = largestPower(leaves.length);
  if (m <= k) return [...subproof(m, leaves.slice(0, k), isWhole), rootOf(leaves.slice(k))];
  return [...subproof(m - k, leaves.slice(k), false), rootOf(leaves.slice(0, k))];
}

function largestPower(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

export const leavesOf = (count: number, salt = ""): Buffer[] =>
  Array.from({ length: count }, (_, n) => sha256(`${salt}${n}`));

/** A signer of notes: a log, or a witness. */
export class NoteSigner {
  readonly privateKey: KeyObject;
  readonly raw: Buffer;

  constructor(privateKey = generateKeyPairSync("ed25519").privateKey) {
    this.privateKey = privateKey;
    this.raw = rawKey(privateKey);
  }

  id(name: string): Buffer {
    return sha256(`${name}\n`, Buffer.of(1), this.raw).subarray(0, 4);
  }

  vkey(name: string): string {
    const material = Buffer.concat([Buffer.of(1), this.raw]).toString("base64");
    return `${name}+${this.id(name).toString("hex")}+${material}`;
  }

  /** The whole note. */
  note(body: string, name: string = body.slice(0, body.indexOf("\n"))): string {
    const signature = sign(null, Buffer.from(body), this.privateKey);
    return `${body}\n\u2014 ${name} ${Buffer.concat([this.id(name), signature]).toString("base64")}\n`;
  }
}

export function rawKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: "jwk" }).x as string, "base64url");
}

export function bodyOf(
  origin: string,
  leaves: readonly Uint8Array[],
  ...extensions: string[]
): string {
  return [origin, leaves.length, rootOf(leaves).toString("base64"), ...extensions, ""].join("\n");
}

export const extension = (seq: number, line = sha256(`line ${seq}`).toString("hex")): string =>
  `verbatim seq=${seq} line=${line}`;

export function submission(old: number, proof: readonly Uint8Array[], note: string): string {
  const lines = proof.map((hash) => Buffer.from(hash).toString("base64"));
  return [`old ${old}`, ...lines, "", note].join("\n");
}

/** The time of a cosignature by this key (name+id+key) over the body; null if it does not hold. */
export function cosignedAt(body: string, line: string, vkey: string): bigint | null {
  const [name = "", id = "", ...material] = vkey.split("+");
  const key = Buffer.from(material.join("+"), "base64");
  const start = `\u2014 ${name} `;
  if (key[0] !== 4 || !line.startsWith(start) || !line.endsWith("\n")) return null;
  const bytes = Buffer.from(line.slice(start.length, -1), "base64");
  const ownId = sha256(`${name}\n`, key).subarray(0, 4);
  if (ownId.toString("hex") !== id || !bytes.subarray(0, 4).equals(ownId)) return null;
  if (bytes.length !== 4 + 8 + 64) return null;
  const time = bytes.readBigUInt64BE(4);
  const jwk = { kty: "OKP", crv: "Ed25519", x: key.subarray(1).toString("base64url") };
  const message = Buffer.from(`cosignature/v1\ntime ${time}\n${body}`);
  const publicKey = createPublicKey({ key: jwk, format: "jwk" });
  return verify(null, message, publicKey, bytes.subarray(12)) ? time : null;
}
