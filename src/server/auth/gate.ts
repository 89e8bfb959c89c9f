/**
 * Gate: requires a token where one is needed, and returns what it allows.
 *
 * - Where sessions are private, each request about them needs a token or the cookie of a browser
 *   that opened a link (browser-keys.ts), from the start and on this machine too. The cookie
 *   allows all requests about sessions, and nothing else.
 * - Once there were tokens, one is required as long as the process runs: deleting or emptying the
 *   file does not open the server. If the file cannot be used, every request is refused and the
 *   operator is notified.
 * - A change of the file takes effect within LOOK_MS, for the price of one `stat`.
 * - The tokens of the database, if there is one, count next to those of the file; they are followed
 *   by token-follower.ts.
 * - A token is found by its SHA-256 and compared in constant time: the time reveals nothing about
 *   existing tokens.
 * - Long-lasting requests are checked again (`holds`) against the current file: a token that was
 *   revoked, has expired or allows less now ends them.
 */

import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { VerbatimError } from "../../core/base/errors.ts";
import { userFileMark } from "../../core/base/node-user-files.ts";
import { Glob, segmentsOf } from "../../streams/subscriptions/glob.ts";
import {
  ADMIN_ROOT,
  ASSET_ROOT,
  CONTROL_ROOT,
  isBelow,
  OPEN_PATH,
  SHARE_PATH,
  SHARES_PATH,
  USAGE_PATH,
  WITNESS_ROOT,
} from "../router/paths.ts";
import { forkOf } from "../streams/create-request.ts";
import { routeOf } from "../subscriptions/control-paths.ts";
import type { BrowserKeys } from "./browser-keys.ts";
import { hasScope, maySeeSessions, seesAllBelow } from "./token-authority.ts";
import {
  ALL_PATHS,
  readTokenFile,
  TOKEN_PREFIX,
  type TokenEntry,
  type TokenLimits,
  type TokenScope,
  tokenHash,
  tokenState,
} from "./tokens.ts";

interface Need {
  /** A token with `admin` also has the others. */
  readonly scope: TokenScope;
  /** The stream; null for routes that need a token for all paths. */
  readonly path: string | null;
  /** A token for some paths may use it, too: it sees and changes only what is its own. */
  readonly isForAnyPath?: boolean;
  /** About sessions: a token for some paths sees those that were received there. */
  readonly isForSessions?: boolean;
  /** Answers contain only what a token with a project sees. */
  readonly isForProjects?: boolean;
}

/** Routes that reveal nothing that is stored. */
const PUBLIC: ReadonlySet<string> = new Set([
  "/",
  "/favicon.svg",
  "/licenses.md",
  "/live",
  "/health",
  "/ready",
  "/v1/openapi.json",
  OPEN_PATH,
  SHARE_PATH,
]);
/** Writes into the user's own file of notes. */
const NOTES_ROUTE = /^\/v1\/sessions\/[^/]+\/notes$/;
/** What is stored in sessions, or about them. */
const SESSION_ROUTES = /^\/v1\/(?:sessions|search|usage|tools|demo|shares|retention)(?:\/|$)/;
/** Answers that leave out sessions of other projects: by their rows (`Sees` of sessions/roots.ts). */
const PROJECT_ROUTES = /^\/v1\/(?:sessions(?:\/|$)|search$|usage$|usage\/insights(?:\/sessions)?$)/;
/** Creates sessions, and appends entries to them. */
const POSTED_ROUTE = /^\/v1\/sessions(?:\/[^/]+\/entries)?$/;
const LOOKS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * The permission that a request needs, by its method and path. docs/server.md has the table.
 *
 * A route that is not named here needs `admin`, or `read` if it only reads: a new route is closed
 * until it is added.
 *
 * Null when no token is needed. `stream`: the decoded path, if it is a stream.
 */
function needsOf(request: IncomingMessage, path: string, stream: string | null): readonly Need[] {
  const method = request.method ?? "";
  if (stream !== null) return streamNeeds(method, stream, request);
  if (path.startsWith(CONTROL_ROOT)) return subscriptionNeeds(path);
  if (PUBLIC.has(path) || isBelow(path, ASSET_ROOT)) return [];
  if (path.startsWith(`${WITNESS_ROOT}/`)) return []; // A signature admits a log.
  // What its tokens may do is compared there.
  if (isBelow(path, ADMIN_ROOT)) return [{ scope: "tokens", path: null, isForAnyPath: true }];
  if (method === "POST" && POSTED_ROUTE.test(path)) {
    return [{ scope: "entries", path: null, isForSessions: true }];
  }
  const isRead = LOOKS.has(method) && !path.startsWith(SHARES_PATH); // Shares are their owner's.
  const isUsage = isRead && path === USAGE_PATH;
  const scope = isUsage ? "usage" : isRead ? "read" : "admin";
  const isForSessions = isRead && SESSION_ROUTES.test(path);
  const isForProjects = isRead && PROJECT_ROUTES.test(path);
  const isForAnyPath = path === "/metrics";
  return [{ scope, path: null, isForAnyPath, isForSessions, isForProjects }];
}

function streamNeeds(method: string, path: string, request: IncomingMessage): readonly Need[] {
  if (LOOKS.has(method)) return [{ scope: "read", path }];
  if (method === "POST") return [{ scope: "append", path }];
  if (method !== "PUT") return [{ scope: "admin", path }];
  const fork = forkOf(request.headers);
  if (fork === undefined) return [{ scope: "append", path }];
  // A fork is a copy: a token that may not read the source must not read it under another name.
  return [
    { scope: "append", path },
    { scope: "read", path: fork.source },
  ];
}

/** A subscription may follow any stream, so it needs a token for all of them. */
function subscriptionNeeds(path: string): readonly Need[] {
  switch (routeOf(path)?.to) {
    case "keys": // Public keys, for receivers of webhooks, which have no token.
    case "callback": // They carry the token of the wake.
    case "ack":
    case "release":
      return [];
    case "claim":
      return [{ scope: "append", path: null }];
    default:
      return [{ scope: "admin", path: null }];
  }
}

export const LOOK_MS = 500;

/** Longer is not one of our tokens, and is not hashed. */
const TOKEN_CHARS_MAX = 256;
const BEARER = /^Bearer +([\x21-\x7e]+) *$/i;

export interface GateOptions {
  readonly tokenPath: string;
  /** Require tokens from the start, also if there are none: others can reach the server. */
  readonly isRequired: boolean;
  /** Not null: sessions are private. */
  readonly browsers: BrowserKeys | null;
  /** The tokens of the database (token-follower.ts): another list when anything has changed. */
  readonly follower?: { readonly entries: readonly TokenEntry[] } | null;
  /** Of tokens that have no limits of their own. */
  readonly limits?: TokenLimits;
  readonly nowMs: () => number;
  readonly onFault: (what: string, cause: unknown) => void;
}

/** What admitted a request. */
export interface Admission {
  /** The token's id. */
  readonly token: string;
  readonly sha256: string;
  readonly needs: readonly Need[];
  /** The patterns of its paths; null: every path. */
  readonly paths: readonly string[] | null;
  readonly limits: TokenLimits;
  readonly entry: TokenEntry;
}

interface HeldToken {
  readonly entry: TokenEntry;
  readonly hash: Uint8Array;
  /** Null: every path. */
  readonly globs: readonly Glob[] | null;
}

export class TokenGate {
  readonly #options: GateOptions;
  #isRequired: boolean;
  #held: ReadonlyMap<string, HeldToken> = new Map();
  /** By path; of the tokens as they were last read. */
  readonly #senders = new Map<string, readonly TokenEntry[]>();
  #fault: VerbatimError | null = null;
  #mark: string | null | undefined;
  #fileTokens: readonly TokenEntry[] = [];
  /** The list of the database that was looked at last. */
  #followed: readonly TokenEntry[] = [];
  #lookAgainAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#isRequired = options.isRequired;
  }

  /** Whether a token is required, by the current file. */
  get isRequired(): boolean {
    const nowMs = this.#options.nowMs();
    // The clock may have been set back.
    const isDue = nowMs >= this.#lookAgainAtMs || nowMs < this.#lookAgainAtMs - LOOK_MS;
    const { follower } = this.#options;
    if (isDue || (follower && follower.entries !== this.#followed)) this.#look(nowMs);
    return this.#isRequired;
  }

  /** The pass, null when no token is required; throws a refusal. */
  admit(request: IncomingMessage, path: string, stream: string | null): Admission | null {
    const browsers = SESSION_ROUTES.test(path) ? this.#options.browsers : null;
    // Making a share signs with the user's key, and notes are the user's: never for everyone on
    // the machine. Nor is making tokens.
    const isOwners =
      path.startsWith(SHARES_PATH) ||
      isBelow(path, ADMIN_ROOT) ||
      (NOTES_ROUTE.test(path) && !LOOKS.has(request.method ?? ""));
    if (!this.isRequired && browsers === null && !isOwners) return null;
    const needs = needsOf(request, path, stream);
    if (needs.length === 0) return null;
    if (this.#fault !== null) throw this.#fault;
    if (browsers?.admits(request)) return null;
    if (browsers !== null && request.headers.authorization === undefined) throw linkRequired();
    const held = this.#heldBy(request);
    for (const need of needs) {
      if (!isAllowed(held, need)) throw notAllowed(held.entry, need);
    }
    const { entry } = held;
    const { id, sha256, paths } = entry;
    const limits = { ...this.#options.limits, ...entry.limits };
    return { token: id, sha256, needs, paths: held.globs && paths, limits, entry };
  }

  /** The names of the tokens for some paths that may send below this one. */
  sendersBelow(path: string): readonly string[] {
    if (!this.isRequired) return [];
    const entries = this.#senders.get(path) ?? this.#tokensFor(path);
    this.#senders.set(path, entries);
    const nowMs = this.#options.nowMs();
    return entries.filter((each) => tokenState(each, nowMs) === "valid").map(({ name }) => name);
  }

  /** Whether the pass would be admitted now. */
  holds({ sha256, needs }: Admission): boolean {
    if (!this.isRequired && this.#options.browsers === null) return true;
    const held = this.#held.get(sha256);
    if (held === undefined) return false;
    const isValid = tokenState(held.entry, this.#options.nowMs()) === "valid";
    return isValid && needs.every((need) => isAllowed(held, need));
  }

  #tokensFor(path: string): readonly TokenEntry[] {
    const entries = [...this.#held.values()].flatMap(({ entry, globs }) => (globs ? [entry] : []));
    return entries.filter(({ scopes, paths }) => {
      return scopes.includes("append") && seesAllBelow(paths, path);
    });
  }

  #heldBy({ headers: { authorization } }: IncomingMessage): HeldToken {
    if (authorization === undefined) throw tokenRequired("missing");
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined) throw tokenRequired("unknown", "lacks Bearer in Authorization");
    if (!token.startsWith(TOKEN_PREFIX) || token.length > TOKEN_CHARS_MAX) {
      throw tokenRequired("unknown");
    }
    const digest = tokenHash(token);
    const held = this.#held.get(digest);
    if (held === undefined || !timingSafeEqual(held.hash, Buffer.from(digest, "hex"))) {
      throw tokenRequired("unknown");
    }
    const state = tokenState(held.entry, this.#options.nowMs());
    if (state !== "valid") throw tokenRequired(state);
    return held;
  }

  #look(nowMs: number): void {
    this.#lookAgainAtMs = nowMs + LOOK_MS;
    const { tokenPath, onFault, follower } = this.#options;
    try {
      const mark = userFileMark(tokenPath);
      const followed = follower?.entries ?? [];
      if (mark === this.#mark && followed === this.#followed) return;
      if (mark !== this.#mark) this.#fileTokens = readTokenFile(tokenPath);
      this.#mark = mark;
      this.#followed = followed;
      const entries = [...this.#fileTokens, ...followed];
      this.#held = new Map(entries.map((entry) => [entry.sha256, heldOf(entry)]));
      this.#senders.clear();
      this.#fault = null;
      if (entries.length > 0) this.#isRequired = true;
    } catch (cause) {
      this.#held = new Map();
      this.#isRequired = true;
      this.#mark = undefined; // The directory may be at fault, so it is checked again.
      if (this.#fault === null) onFault("reading the tokens", cause);
      this.#fault ??= unusable();
    }
  }
}

function heldOf(entry: TokenEntry): HeldToken {
  const globs = entry.paths.includes(ALL_PATHS) ? null : entry.paths.map((each) => new Glob(each));
  return { entry, hash: Buffer.from(entry.sha256, "hex"), globs };
}

function isAllowed({ entry, globs }: HeldToken, need: Need): boolean {
  const { scope, path, isForAnyPath, isForSessions, isForProjects } = need;
  if (!hasScope(entry.scopes, scope)) return false;
  if (entry.project !== undefined && isForProjects !== true) return false;
  if (globs === null || isForAnyPath === true) return true;
  if (path === null) return isForSessions === true && maySeeSessions(entry.paths);
  const segments = segmentsOf(path);
  return globs.some((glob) => glob.matches(segments));
}

/** The path of `--data` is not named: strangers may ask. */
const OF_SERVER = "with the server's --data if it has one";
const CREATE = `\`verbatim server token create\`, ${OF_SERVER}`;
const SEND_TOKEN = `send Authorization: Bearer and a token made by ${CREATE}`;

export function tokenRequired(
  reason: "missing" | "unknown" | "expired" | "revoked",
  what = reason === "missing" ? "has no token" : `has a token that is ${reason}`,
): VerbatimError<"TOKEN_REQUIRED"> {
  return new VerbatimError("TOKEN_REQUIRED", `the request ${what}; ${SEND_TOKEN}`, { reason });
}

function linkRequired(): VerbatimError<"TOKEN_REQUIRED"> {
  return new VerbatimError(
    "TOKEN_REQUIRED",
    "sessions are private: in a browser, open the link that `verbatim serve` printed, or a new " +
      `one of \`verbatim open\`, ${OF_SERVER}; in a program, ${SEND_TOKEN}`,
    { reason: "missing" },
  );
}

function notAllowed({ id }: TokenEntry, { scope, path }: Need): VerbatimError<"NOT_ALLOWED"> {
  const where = path === null ? "for all paths" : "for this path";
  return new VerbatimError(
    "NOT_ALLOWED",
    `token ${id} does not allow this: it needs the scope ${scope} ${where}`,
    { token: id, scope },
  );
}

/** For clients: the file's path and fault are shown to the operator only. */
function unusable(): VerbatimError<"TOKENS_REFUSED"> {
  const reason = "it cannot be used";
  return new VerbatimError(
    "TOKENS_REFUSED",
    "the server cannot read its list of tokens; the reason is in its log",
    { path: "tokens.json", reason },
  );
}
