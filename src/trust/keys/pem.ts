/**
 * PEM: the text form of keys, as OpenSSL and rye write it.
 *
 * Accepts only an unencrypted PKCS#8 Ed25519 private key and an Ed25519 public key. Everything else
 * is refused with a reason that never quotes the text.
 */

import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { fromBase64url } from "../proof/bytes.ts";
import { publicKeyFault } from "../proof/ed25519-keys.ts";

/** Far longer than any key's PEM. */
export const PEM_BYTES_MAX = 16 * 1024;

export type PemResult<T> =
  | { readonly value: T; readonly fault: null }
  | { readonly value: null; readonly fault: string };

const ONE_BLOCK =
  /^\s*-----BEGIN ([A-Z0-9 ]{1,40})-----\r?\n[A-Za-z0-9+/=\r\n]*-----END \1-----\s*$/;

/** Advice for other common kinds of PEM. */
const OTHER_KINDS: Readonly<Record<string, string>> = {
  "ENCRYPTED PRIVATE KEY": "it is encrypted; decrypt it first: openssl pkey -in FILE -out NEW",
  "OPENSSH PRIVATE KEY": "it is in OpenSSH's own format, not PKCS#8; make a key of its own",
  "RSA PRIVATE KEY": "it is an RSA key, not Ed25519",
  "EC PRIVATE KEY": "it is a key of another curve, not Ed25519",
  "PRIVATE KEY": "it is a private key; give the public one: verbatim keys export",
  "PUBLIC KEY": "it is a public key; the private one is needed",
  CERTIFICATE: "it is a certificate, not a key",
};

/** A private key: PKCS#8, unencrypted, Ed25519. */
export function parsePrivatePem(text: string): PemResult<KeyObject> {
  return parseKey(text, "PRIVATE KEY", (pem) => createPrivateKey(pem));
}

/** A public key: SPKI, Ed25519, and a proper one. Its 32 bytes. */
export function parsePublicPem(text: string): PemResult<Uint8Array> {
  const { value: key, fault } = parseKey(text, "PUBLIC KEY", (pem) => createPublicKey(pem));
  return key === null ? { value: null, fault } : judged(rawPublicKey(key));
}

/** A public key as 43 characters of base64url. */
export function parseRawPublicKey(text: string): PemResult<Uint8Array> {
  const raw = fromBase64url(text);
  return raw === null ? refused("it is not base64url") : judged(raw);
}

/** The 32 bytes of a public key, or of the one that belongs to a private key. */
export function rawPublicKey(key: KeyObject): Uint8Array {
  const { x = "" } = key.export({ format: "jwk" });
  return new Uint8Array(Buffer.from(x, "base64url"));
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ format: "pem", type: "pkcs8" }) as string;
}

function parseKey(
  text: string,
  wanted: string,
  parse: (pem: string) => KeyObject,
): PemResult<KeyObject> {
  const kind = ONE_BLOCK.exec(text)?.[1];
  if (kind === undefined) return refused("it is not one PEM block and nothing else");
  if (kind !== wanted) return refused(OTHER_KINDS[kind] ?? "it is a PEM of another kind");
  let key: KeyObject;
  try {
    key = parsedOnce(text, parse);
  } catch {
    return refused("OpenSSL cannot read it"); // OpenSSL's own message may quote the text.
  }
  if (key.asymmetricKeyType === "ed25519") return { value: key, fault: null };
  return refused(`it is a key for ${key.asymmetricKeyType ?? "something else"}, not Ed25519`);
}

/**
 * By the SHA-256 of its PEM. OpenSSL takes 0.7 ms for a private key, and a server reads the user's
 * key files for each session that it verifies.
 */
const parsed = new Map<string, KeyObject>();
const PARSED_MAX = 16;

function parsedOnce(text: string, parse: (pem: string) => KeyObject): KeyObject {
  const digest = createHash("sha256").update(text).digest("base64");
  const key = parsed.get(digest) ?? parse(text);
  if (parsed.size >= PARSED_MAX) parsed.clear();
  parsed.set(digest, key);
  return key;
}

function judged(raw: Uint8Array): PemResult<Uint8Array> {
  const fault = publicKeyFault(raw);
  return fault === null ? { value: raw, fault: null } : refused(fault);
}

function refused(fault: string): { readonly value: null; readonly fault: string } {
  return { value: null, fault };
}
