/**
 * Tokens: who may use the server, and for what: `tokens.json` in the data directory. Create, list and
 * revoke them here; `gate.ts` checks them.
 *
 * Only the SHA-256 of a token is stored, so the file contains no token. A token has 256 random
 * bits, so a slow hash is not needed.
 *
 * One invalid entry makes the whole file invalid: the unreadable part may be the one with the
 * revocation.
 *
 * The file is replaced atomically and durably, under a lock: a reported revocation is on the disk.
 */

import { createHash, randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { readUserFile, userDirectoryFault } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { Glob, globFault, segmentsOf } from "../../streams/subscriptions/glob.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";

/** The prefix of every token, so that people and scanners recognise one. */
export const TOKEN_PREFIX = "vbt_";
const SECRET_BYTES = 32;
const ID_BYTES = 4;

export const SCOPES = ["read", "append", "admin"] as const;
export type TokenScope = (typeof SCOPES)[number];

export interface TokenEntry {
  /** Its name for people and logs; not secret. */
  readonly id: string;
  readonly name: string;
  readonly sha256: string;
  readonly scopes: readonly TokenScope[];
  /** Globs of stream paths, without a leading slash. */
  readonly paths: readonly string[];
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
}

export const TOKEN_LIMITS = { fileBytesMax: 4 * 1024 * 1024, tokensMax: 10_000, nameCharsMax: 200 };
export const ALL_PATHS = "**";

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
    `there is no token ${JSON.stringify(id)} in ${path}; \`verbatim server token ls\` shows their ids`,
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

const VERSION = 1;
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: (value) => matches(/^[0-9a-f]{8}$/, value),
  name: (value) => typeof value === "string" && nameFault(value) === null,
  sha256: (value) => matches(/^[0-9a-f]{64}$/, value),
  scopes: (value) => isList(value) && value.every((each) => SCOPES.includes(each as TokenScope)),
  paths: (value) => isList(value) && value.every((each) => isText(each) && !globFault(each)),
  createdAt: isTime,
  expiresAt: (value) => value === undefined || isTime(value),
  revokedAt: (value) => value === undefined || isTime(value),
};

export function tokenFilePath(dataDirectory: string): string {
  return join(dataDirectory, "tokens.json");
}

/** The entries; none when there is no file. Throws TOKENS_REFUSED. */
export function readTokenFile(path: string): readonly TokenEntry[] {
  const directoryFault = userDirectoryFault(dirname(path));
  if (directoryFault !== null) throw tokensRefused(path, `its directory: ${directoryFault}`);
  const file = readUserFile(path, { bytesMax: TOKEN_LIMITS.fileBytesMax, access: "secret" });
  if (file === null) return [];
  if (file.fault !== null) throw tokensRefused(path, file.fault);
  let value: unknown;
  try {
    value = JSON.parse(file.text);
  } catch {
    throw tokensRefused(path, "it is not JSON");
  }
  return checked(path, value);
}

/** Changes the entries under the lock; resolves once they are durable. */
export async function changeTokenFile(
  host: Host,
  path: string,
  change: (entries: readonly TokenEntry[]) => readonly TokenEntry[],
): Promise<void> {
  await withLockedDirectory(host, dirname(path), basename(path), async (directory) => {
    const tokens = checked(path, { version: VERSION, tokens: change(readTokenFile(path)) });
    const text = `${JSON.stringify({ version: VERSION, tokens }, null, 2)}\n`;
    if (Buffer.byteLength(text) > TOKEN_LIMITS.fileBytesMax) {
      throw tokensRefused(path, `it would be larger than ${TOKEN_LIMITS.fileBytesMax} bytes`);
    }
    await replaceFileDurably(directory, basename(path), text);
  });
}

export function nameFault(name: string): string | null {
  if (name.length > TOKEN_LIMITS.nameCharsMax) {
    return `it is longer than ${TOKEN_LIMITS.nameCharsMax} characters`;
  }
  return /\p{Cc}/u.test(name) ? "it holds control characters" : null;
}

function tokensRefused(path: string, reason: string): VerbatimError<"TOKENS_REFUSED"> {
  return new VerbatimError("TOKENS_REFUSED", `${path} is refused: ${reason}`, { path, reason });
}

function checked(path: string, value: unknown): readonly TokenEntry[] {
  const { version, tokens } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== VERSION) throw tokensRefused(path, "this version of Verbatim cannot read it");
  if (!Array.isArray(tokens)) throw tokensRefused(path, "it contains no list of tokens");
  if (tokens.length > TOKEN_LIMITS.tokensMax) {
    throw tokensRefused(
      path,
      `it has more than ${TOKEN_LIMITS.tokensMax} tokens; start a new file`,
    );
  }
  const ids = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    const fault = entryFault(token);
    if (fault !== null) throw tokensRefused(path, `token ${index + 1}: ${fault}`);
    const { id } = token as TokenEntry;
    if (ids.has(id)) throw tokensRefused(path, `token ${index + 1}: its id is listed twice`);
    ids.add(id);
  }
  return tokens as TokenEntry[];
}

/** Strict: an unknown field may limit the token. */
function entryFault(entry: unknown): string | null {
  if (typeof entry !== "object" || entry === null) return "it is not an object";
  const fields = entry as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(FIELDS, name)) return `its field ${JSON.stringify(name)} is unknown`;
  }
  for (const [name, isRight] of Object.entries(FIELDS)) {
    if (!isRight(fields[name])) return `its ${name} is missing or wrong`;
  }
  return null;
}

function isTime(value: unknown): boolean {
  return matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, value) && !Number.isNaN(dateOf(value));
}

function dateOf(value: unknown): number {
  return Date.parse(String(value));
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function matches(pattern: RegExp, value: unknown): boolean {
  return isText(value) && pattern.test(value);
}

const ANY_RUN = "**";
/** A segment that only a star matches: no stream path has this character. */
const ANY_NAME = "\0";

/** Whether a token with these patterns may see sessions at all. */
export function maySeeSessions(patterns: readonly string[]): boolean {
  return patterns.some((each) => ["sessions", "*", ANY_RUN].includes(each.split("/")[0] ?? ""));
}

/**
 * Whether a token with these patterns may see all streams below a path.
 *
 * Received sessions are shown store by store: those of one folder and one dialect. A token sees a
 * store if one of its patterns allows every path below the store's: it ends in `**`, and matches one
 * level below.
 */
export function seesAllBelow(patterns: readonly string[], path: string): boolean {
  const below = [...segmentsOf(path), ANY_NAME];
  return patterns.some((each) => {
    return each.split("/").at(-1) === ANY_RUN && new Glob(each).matches(below);
  });
}
