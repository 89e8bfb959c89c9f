/**
 * Tokens: who may use the server, and for what. Create, rotate and revoke them here; `gate.ts`
 * checks them. They are in `tokens.json` in the data directory, and in the database if there is one
 * (token-tables.ts). Format: docs/formats/tokens.md.
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
import type { TokenItem } from "../../client/token-shapes.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { readUserFile, userDirectoryFault } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { globFault } from "../../streams/subscriptions/glob.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";

/** The prefix of every token, so that people and scanners recognise one. */
export const TOKEN_PREFIX = "vbt_";
const SECRET_BYTES = 32;
const ID_BYTES = 4;
/** As in the paths of sessions (guard/remote/session-paths.ts). */
const MACHINE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * `entries`: create sessions and append entries to them, and nothing else. `usage`: only sums of what
 * sessions used. `tokens`: manages tokens (token-authority.ts).
 */
export const SCOPES = ["read", "append", "entries", "admin", "usage", "tokens"] as const;
export type TokenScope = (typeof SCOPES)[number];
/** What a token with a project may have: only sessions belong to projects. */
export const PROJECT_SCOPES: readonly TokenScope[] = ["read", "usage"];

/** How much a token may use; without a field there is no limit. */
export interface TokenLimits {
  /** On each server. */
  readonly requestsPerSecond?: number;
  /** Bytes in both directions, on each server. */
  readonly bytesPerSecond?: number;
  /** Live streams below the token's paths, whichever token made them. */
  readonly streams?: number;
  /** The bytes of these streams. */
  readonly storedBytes?: number;
  /** Requests that wait for new data, on each server. */
  readonly readers?: number;
}

export type LimitName = keyof TokenLimits;
export const LIMIT_NAMES = [
  "requestsPerSecond",
  "bytesPerSecond",
  "streams",
  "storedBytes",
  "readers",
] as const satisfies readonly LimitName[];

export interface TokenEntry {
  /** Its name for people and logs; not secret. */
  readonly id: string;
  readonly name: string;
  readonly sha256: string;
  readonly scopes: readonly TokenScope[];
  /** Globs of stream paths, without a leading slash. */
  readonly paths: readonly string[];
  /** Only sessions of this project. */
  readonly project?: string;
  readonly limits?: TokenLimits;
  readonly createdAt: string;
  /** The id of the token that made it. */
  readonly createdBy?: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
}

export const TOKEN_LIMITS = { fileBytesMax: 4 * 1024 * 1024, tokensMax: 10_000, nameCharsMax: 200 };
export const ALL_PATHS = "**";

export interface TokenRequest {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly paths: readonly string[];
  readonly project?: string | undefined;
  readonly limits?: TokenLimits | undefined;
  readonly createdBy?: string | undefined;
  readonly expiresAtMs: number | null;
}

export interface NewToken {
  /** Returned once: it is not stored. */
  readonly token: string;
  readonly entry: TokenEntry;
}

/** Where tokens are. */
export interface TokenList {
  /** For messages. */
  readonly place: string;
  entries(): Promise<readonly TokenEntry[]>;
  /** One change at a time; resolves once it is durable. */
  change(work: (entries: readonly TokenEntry[]) => readonly TokenEntry[]): Promise<void>;
}

export async function createToken(
  list: TokenList,
  { expiresAtMs, ...request }: TokenRequest,
  nowMs: number,
): Promise<NewToken> {
  const expiresAt = expiresAtMs === null ? undefined : timeText(expiresAtMs);
  let made: NewToken | undefined;
  await list.change((entries) => {
    made = newToken(entries, { ...request, createdAt: timeText(nowMs), expiresAt });
    return [...entries, made.entry];
  });
  return made as NewToken;
}

/** Revokes it permanently; a token revoked before stays unchanged. */
export async function revokeToken(list: TokenList, id: string, nowMs: number): Promise<TokenEntry> {
  let revoked: TokenEntry | undefined;
  await list.change((entries) => {
    const entry = entryOf(list, entries, id);
    revoked = { ...entry, revokedAt: entry.revokedAt ?? timeText(nowMs) };
    return replaced(entries, revoked);
  });
  return revoked as TokenEntry;
}

/**
 * Makes another token with the same permissions and expiry. The old one is revoked, or expires
 * after `graceMs`. Throws TOKEN_NOT_FOUND for one that is not valid any more.
 */
export async function rotateToken(
  list: TokenList,
  id: string,
  graceMs: number,
  nowMs: number,
): Promise<NewToken> {
  let made: NewToken | undefined;
  await list.change((entries) => {
    const old = entryOf(list, entries, id);
    if (tokenState(old, nowMs) !== "valid") throw tokenNotFound(list, id, "valid ");
    made = newToken(entries, { ...old, createdAt: timeText(nowMs) });
    const endMs = Math.min(nowMs + graceMs, Date.parse(old.expiresAt ?? "") || Infinity);
    const end = graceMs > 0 ? { expiresAt: timeText(endMs) } : { revokedAt: timeText(nowMs) };
    return [...replaced(entries, { ...old, ...end }), made.entry];
  });
  return made as NewToken;
}

type EntryFields = { [K in keyof TokenEntry]?: TokenEntry[K] | undefined };

function newToken(entries: readonly TokenEntry[], fields: EntryFields): NewToken {
  const token = `${TOKEN_PREFIX}${randomBytes(SECRET_BYTES).toString("base64url")}`;
  const all = { ...fields, id: freeId(entries), sha256: tokenHash(token) };
  // In the order in which they are stored; without those that have no value.
  const stored = Object.keys(FIELDS).map((name) => [name, all[name as keyof TokenEntry]]);
  const entry = Object.fromEntries(stored.filter(([, value]) => value !== undefined));
  return { token, entry };
}

function replaced(entries: readonly TokenEntry[], entry: TokenEntry): readonly TokenEntry[] {
  return entries.map((each) => (each.id === entry.id ? entry : each));
}

function entryOf(list: TokenList, entries: readonly TokenEntry[], id: string): TokenEntry {
  const entry = entries.find((each) => each.id === id);
  if (entry === undefined) throw tokenNotFound(list, id);
  return entry;
}

export function tokenNotFound(
  { place }: Pick<TokenList, "place">,
  id: string,
  kind = "",
): VerbatimError<"TOKEN_NOT_FOUND"> {
  return new VerbatimError(
    "TOKEN_NOT_FOUND",
    `there is no ${kind}token ${JSON.stringify(id)} in ${place}; \`verbatim server token ls\` shows their ids`,
    { token: id },
  );
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

export type TokenState = "valid" | "expired" | "revoked";

export function tokenState({ revokedAt, expiresAt }: TokenEntry, nowMs: number): TokenState {
  if (revokedAt !== undefined) return "revoked";
  return expiresAt !== undefined && nowMs >= Date.parse(expiresAt) ? "expired" : "valid";
}

/** A token as the API and the command line show it: without its hash; every field is present. */
export function tokenItem(entry: TokenEntry, nowMs: number): TokenItem {
  const { id, name, scopes, paths, project = null, limits = {}, createdAt, ...more } = entry;
  const { createdBy = null, expiresAt = null, revokedAt = null } = more;
  const times = { createdAt, createdBy, expiresAt, revokedAt };
  return { id, name, scopes, paths, project, limits, ...times, state: tokenState(entry, nowMs) };
}

/** The paths of sessions that one machine sends, to any folder; null: no machine has this name. */
export function machinePaths(machine: string): readonly string[] | null {
  return MACHINE.test(machine) ? [`sessions/*/@${machine}/**`] : null;
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

export const TOKEN_FILE_VERSION = 1;
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: (value) => matches(/^[0-9a-f]{8}$/, value),
  name: (value) => typeof value === "string" && nameFault(value) === null,
  sha256: (value) => matches(/^[0-9a-f]{64}$/, value),
  scopes: (value) => isList(value) && value.every((each) => SCOPES.includes(each as TokenScope)),
  paths: (value) => isList(value) && value.every((each) => isText(each) && !globFault(each)),
  project: (value) => value === undefined || (isText(value) && projectFault(value) === null),
  limits: (value) => value === undefined || limitsFault(value) === null,
  createdAt: isTime,
  createdBy: (value) => value === undefined || matches(/^[0-9a-f]{8}$/, value),
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
  return checkedTokens(path, value);
}

/** The tokens of a data directory. */
export function tokenFile(host: Host, path: string): TokenList {
  return {
    place: path,
    entries: async () => readTokenFile(path),
    change: (work) => changeTokenFile(host, path, work),
  };
}

/** Under the file's lock. */
async function changeTokenFile(
  host: Host,
  path: string,
  change: (entries: readonly TokenEntry[]) => readonly TokenEntry[],
): Promise<void> {
  await withLockedDirectory(host, dirname(path), basename(path), async (directory) => {
    const tokens = checkedTokens(path, {
      version: TOKEN_FILE_VERSION,
      tokens: change(readTokenFile(path)),
    });
    const text = `${JSON.stringify({ version: TOKEN_FILE_VERSION, tokens }, null, 2)}\n`;
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

export function projectFault(project: string): string | null {
  return project === "" ? "it is empty" : nameFault(project);
}

/** Why a value is not limits; null if it is. */
export function limitsFault(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return "it is not an object";
  }
  for (const [name, max] of Object.entries(value)) {
    if (!LIMIT_NAMES.includes(name as LimitName))
      return `a limit is one of ${LIMIT_NAMES.join(", ")}`;
    if (!Number.isSafeInteger(max) || max < 1) return `${name} is not a whole number from 1 on`;
  }
  return null;
}

function tokensRefused(path: string, reason: string): VerbatimError<"TOKENS_REFUSED"> {
  return new VerbatimError("TOKENS_REFUSED", `${path} is refused: ${reason}`, { path, reason });
}

/** Throws TOKENS_REFUSED for a list with anything that this version does not know. */
export function checkedTokens(path: string, value: unknown): readonly TokenEntry[] {
  const { version, tokens } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== TOKEN_FILE_VERSION)
    throw tokensRefused(path, "this version of Verbatim cannot read it");
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
