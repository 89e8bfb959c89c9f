/** Tokens: create, list and revoke them; `gate.ts` checks them. */

import { createHash, randomBytes } from "node:crypto";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { changeTokenFile, readTokenFile, type TokenEntry, type TokenScope } from "./token-file.ts";

/** The prefix of every token, so that people and scanners recognise one. */
export const TOKEN_PREFIX = "vbt_";
const SECRET_BYTES = 32;
const ID_BYTES = 4;

export interface TokenRequest {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly paths: readonly string[];
  readonly expiresAtMs: number | null;
}

export interface NewToken {
  /** Returned once: it is not stored. */
  readonly token: string;
  readonly entry: TokenEntry;
}

export async function createToken(
  host: Host,
  path: string,
  { name, scopes, paths, expiresAtMs }: TokenRequest,
  nowMs: number,
): Promise<NewToken> {
  const token = `${TOKEN_PREFIX}${randomBytes(SECRET_BYTES).toString("base64url")}`;
  let entry: TokenEntry | null = null;
  await changeTokenFile(host, path, (entries) => {
    entry = {
      id: freeId(entries),
      name,
      sha256: tokenHash(token),
      scopes,
      paths,
      createdAt: new Date(nowMs).toISOString(),
      ...(expiresAtMs === null ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
    };
    return [...entries, entry];
  });
  return { token, entry: entry as unknown as TokenEntry };
}

/** Revokes it permanently; a token revoked before stays unchanged. */
export async function revokeToken(
  host: Host,
  path: string,
  id: string,
  nowMs: number,
): Promise<TokenEntry> {
  let revoked: TokenEntry | undefined;
  await changeTokenFile(host, path, (entries) =>
    entries.map((entry) => {
      if (entry.id !== id) return entry;
      revoked = { ...entry, revokedAt: entry.revokedAt ?? new Date(nowMs).toISOString() };
      return revoked;
    }),
  );
  if (revoked !== undefined) return revoked;
  throw new VerbatimError(
    "TOKEN_NOT_FOUND",
    `there is no token ${JSON.stringify(id)} in ${path}; \`verbatim token list\` shows their ids`,
    { token: id },
  );
}

export type TokenState = "valid" | "expired" | "revoked";

export function tokenState({ revokedAt, expiresAt }: TokenEntry, nowMs: number): TokenState {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && nowMs >= Date.parse(expiresAt) ? "expired" : "valid";
}

/** How many of them are still valid. */
export function validTokens(path: string, nowMs: number): number {
  return readTokenFile(path).filter((entry) => tokenState(entry, nowMs) === "valid").length;
}

export function tokenHash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function freeId(entries: readonly TokenEntry[]): string {
  for (;;) {
    const id = randomBytes(ID_BYTES).toString("hex");
    if (!entries.some((entry) => entry.id === id)) return id;
  }
}
