/** Entered keys: the public keys that the reader entered, kept in this browser. */

import { signal } from "@preact/signals";
import { fromBase64url, toBase64url } from "../../../src/trust/proof/bytes.ts";
import { kidOf, publicKeyFault, publicKeyPem } from "../../../src/trust/proof/ed25519-keys.ts";
import { WebProofCrypto } from "../proof/web-crypto.ts";

const KEY = "verbatim.copy-keys";
const KEYS_MAX = 32;
const SPKI_BYTES = 44;

const crypto = new WebProofCrypto();

/** By id. */
export const enteredKeys = signal<ReadonlyMap<string, Uint8Array>>(kept());

/** Adds a key; returns its id, or why it is not one. */
export function enterKey(text: string): { readonly kid: string } | { readonly fault: string } {
  const raw = parseKey(text);
  if (!raw) return { fault: "This is not a public key: paste the PEM of `verbatim keys export`." };
  const fault = publicKeyFault(raw);
  if (fault !== null) return { fault: `This key is refused: ${fault}.` };
  const kid = kidOf(crypto, raw);
  const others = [...enteredKeys.value].filter(([known]) => known !== kid);
  keep(new Map([...others.slice(1 - KEYS_MAX), [kid, raw]]));
  return { kid };
}

export function forgetKeys(): void {
  keep(new Map());
}

/** PEM, or 43 characters of base64url. */
export function parseKey(text: string): Uint8Array | null {
  const trimmed = text.trim();
  const body = /^-----BEGIN PUBLIC KEY-----([\w+/=\s]*)-----END PUBLIC KEY-----$/.exec(
    trimmed,
  )?.[1];
  if (body === undefined) return /^[\w-]{43}$/.test(trimmed) ? fromBase64url(trimmed) : null;
  const base64 = body.replaceAll(/[\s=]/g, "").replaceAll("+", "-").replaceAll("/", "_");
  const spki = fromBase64url(base64);
  const raw = spki?.length === SPKI_BYTES ? spki.subarray(SPKI_BYTES - 32) : null;
  // The bytes around the key are compared by making them again.
  return raw && publicKeyPem(raw).replaceAll(/\s/g, "") === trimmed.replaceAll(/\s/g, "")
    ? raw
    : null;
}

function keep(keys: ReadonlyMap<string, Uint8Array>): void {
  enteredKeys.value = keys;
  try {
    localStorage.setItem(KEY, JSON.stringify([...keys.values()].map(toBase64url)));
  } catch {
    // Storage is full or refused: they hold until the page is closed.
  }
}

function kept(): ReadonlyMap<string, Uint8Array> {
  const keys = new Map<string, Uint8Array>();
  try {
    const texts: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    for (const text of Array.isArray(texts) ? texts : []) {
      const raw = parseKey(String(text));
      if (raw && publicKeyFault(raw) === null) keys.set(kidOf(crypto, raw), raw);
    }
  } catch {
    // Not what this page wrote.
  }
  return keys;
}
