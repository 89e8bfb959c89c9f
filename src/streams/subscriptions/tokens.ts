/**
 * Tokens: authenticate the acknowledgements of a woken worker.
 *
 * `<base64url of JSON>.<base64url of HMAC-SHA256>`; the JSON has subscription, generation, expiry.
 *
 * Each subscription has its own secret, created and deleted with it: no token of another one, or of
 * an earlier one with the same id, is valid. Nothing in a token is read before its HMAC is
 * verified, in constant time.
 */

import { createHmac, timingSafeEqual } from "node:crypto";

/** Leases can be extended while a worker is active, but not beyond this. */
export const TOKEN_MS_MAX = 24 * 60 * 60 * 1000;

const TOKEN_CHARS_MAX = 4096;
const DOMAIN = "verbatim subscription token 1\n";

export interface TokenClaims {
  readonly subscription: string;
  readonly generation: number;
  readonly expiresAtMs: number;
}

export type TokenVerdict =
  | { readonly isValid: true; readonly generation: number }
  | { readonly isValid: false; readonly reason: "TOKEN_INVALID" | "TOKEN_EXPIRED" };

export function mintToken(secret: Uint8Array, claims: TokenClaims): string {
  const { subscription, generation, expiresAtMs } = claims;
  const text = JSON.stringify({ sub: subscription, gen: generation, exp: expiresAtMs });
  const payload = Buffer.from(text).toString("base64url");
  return `${payload}.${hmac(secret, payload)}`;
}

export function judgeToken(
  secret: Uint8Array,
  token: string,
  subscription: string,
  nowMs: number,
): TokenVerdict {
  const invalid = { isValid: false, reason: "TOKEN_INVALID" } as const;
  if (token.length > TOKEN_CHARS_MAX) return invalid;
  const dot = token.indexOf(".");
  if (dot < 0) return invalid;
  const payload = token.slice(0, dot);
  // Compared as text: base64url has several spellings for the same bytes, and a token has one.
  const expected = Buffer.from(hmac(secret, payload));
  const given = Buffer.from(token.slice(dot + 1));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return invalid;
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<
    string,
    unknown
  >;
  const { sub, gen, exp } = claims; // Ours, since the HMAC is right.
  if (sub !== subscription || typeof gen !== "number" || typeof exp !== "number") return invalid;
  if (nowMs >= exp) return { isValid: false, reason: "TOKEN_EXPIRED" };
  return { isValid: true, generation: gen };
}

function hmac(secret: Uint8Array, payload: string): string {
  return createHmac("sha256", secret).update(DOMAIN).update(payload).digest("base64url");
}
