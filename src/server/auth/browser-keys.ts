/**
 * Browser keys: let a browser of the user who runs the server see private sessions.
 *
 * A link has a key that is exchanged for a cookie. File modes protect sessions from other users of
 * this machine, but every user can connect to 127.0.0.1, so the address alone allows nothing.
 *
 * - A key works once, for LINK_MS, and for this run of the server (`instance`): a restart, which
 *   forgets the used keys, ends all of them.
 * - Cookies outlive a restart. They and the keys are MACs under a secret in the data directory,
 *   which only its owner can read: `verbatim open` makes a link with it. Without the file, or with
 *   one that others can read, the server starts with a new secret, and all cookies end.
 * - A cookie's name depends on the secret: browsers share cookies between the ports of a host, so
 *   two servers would replace each other's.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { readUserFile } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { lockUnused } from "../../streams/journal/data-directory.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";
import { OPEN_PATH } from "../router/paths.ts";

export const LINK_MS = 3_600_000;
export const COOKIE_MS = 30 * 86_400_000;
/** Keys used within LINK_MS; more are refused until some have expired. */
export const USED_KEYS_MAX = 1000;
export const COOKIE_PREFIX = "verbatim_";

/** The name begins with a dot, so a backup does not have it. */
const FILE_NAME = ".viewer.json";
const FILE_BYTES_MAX = 4096;
const VERSION = 1;
const SECRET = /^[\w-]{43}$/;
const SEALED = /^([1-9]\d{0,14})\.([\w-]{22})\.([\w-]{43})$/;

/** The contents of the file. */
export interface ServedViewer {
  readonly secret: string;
  /** Random, another one for each start of the server. */
  readonly instance: string;
  /** Where the server listens. */
  readonly url: string;
}

/** What the last server of this data directory wrote; null without a usable file. */
export function readServedViewer(dataDirectory: string): ServedViewer | null {
  const path = join(dataDirectory, FILE_NAME);
  const file = readUserFile(path, { bytesMax: FILE_BYTES_MAX, access: "secret" });
  if (file === null || file.fault !== null) return null;
  try {
    const { version, secret, instance, url } = JSON.parse(file.text);
    const isRight = version === VERSION && SECRET.test(secret) && SECRET.test(instance);
    return isRight && typeof url === "string" ? { secret, instance, url } : null;
  } catch {
    return null;
  }
}

/** Whether a server has the data directory open. */
export async function isServed(host: Host, dataDirectory: string): Promise<boolean> {
  try {
    const directory = await host.files.openDirectory(dataDirectory, { create: false });
    try {
      lockUnused(directory).close();
    } finally {
      directory.close();
    }
    return false;
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return false;
    if (cause instanceof VerbatimError && cause.code === "LOG_LOCKED") return true;
    throw cause;
  }
}

/** A new link to the server. */
export function newLink({ secret, instance, url }: ServedViewer, nowMs: number): string {
  return `${url}${OPEN_PATH}?key=${sealed(secret, `link ${instance}`, nowMs + LINK_MS)}`;
}

export class BrowserKeys {
  readonly #viewer: ServedViewer;
  readonly #nowMs: () => number;
  readonly #cookieName: string;
  /** Used keys, and when they expire. */
  readonly #used = new Map<string, number>();

  /** Writes the file of this run; the secret stays the same, if there is one. */
  static async open(
    host: Host,
    dataDirectory: string,
    url: string,
    nowMs: () => number,
  ): Promise<BrowserKeys> {
    return withLockedDirectory(host, dataDirectory, FILE_NAME, async (directory) => {
      const secret = readServedViewer(dataDirectory)?.secret ?? randomText(32);
      const viewer = { secret, instance: randomText(32), url };
      const text = `${JSON.stringify({ version: VERSION, ...viewer })}\n`;
      await replaceFileDurably(directory, FILE_NAME, text);
      return new BrowserKeys(viewer, nowMs);
    });
  }

  private constructor(viewer: ServedViewer, nowMs: () => number) {
    this.#viewer = viewer;
    this.#nowMs = nowMs;
    const hash = createHash("sha256").update(`verbatim cookie name\n${viewer.secret}`);
    this.#cookieName = `${COOKIE_PREFIX}${hash.digest("hex").slice(0, 8)}`;
  }

  newLink(): string {
    return newLink(this.#viewer, this.#nowMs());
  }

  /** The cookie for a key, as the value of Set-Cookie; null if the key is not valid now. */
  exchange(key: string): string | null {
    const nowMs = this.#nowMs();
    const { secret, instance, url } = this.#viewer;
    const expiresMs = expiryOf(secret, `link ${instance}`, key);
    if (expiresMs === null || nowMs >= expiresMs || this.#used.has(key)) return null;
    if (this.#used.size >= USED_KEYS_MAX) {
      for (const [old, endMs] of this.#used) if (nowMs >= endMs) this.#used.delete(old);
      if (this.#used.size >= USED_KEYS_MAX) return null;
    }
    this.#used.set(key, expiresMs);
    const value = sealed(secret, "cookie", nowMs + COOKIE_MS);
    const rules = `Path=/; Max-Age=${COOKIE_MS / 1000}; HttpOnly; SameSite=Strict`;
    return `${this.#cookieName}=${value}; ${rules}${url.startsWith("https:") ? "; Secure" : ""}`;
  }

  /** Whether the request has a valid cookie. */
  admits({ headers: { cookie = "" } }: IncomingMessage): boolean {
    const begin = `${this.#cookieName}=`;
    return cookie.split(";").some((each) => {
      const text = each.trim();
      if (!text.startsWith(begin)) return false;
      const expiresMs = expiryOf(this.#viewer.secret, "cookie", text.slice(begin.length));
      return expiresMs !== null && this.#nowMs() < expiresMs;
    });
  }
}

/** When it expires, and 128 random bits, with their MAC for this use. */
function sealed(secret: string, use: string, expiresMs: number): string {
  const text = `${expiresMs}.${randomText(16)}`;
  return `${text}.${macOf(secret, use, text).toString("base64url")}`;
}

/** Null if it was not sealed with this secret for this use. */
function expiryOf(secret: string, use: string, text: string): number | null {
  const [, expires = "", random = "", mac = ""] = SEALED.exec(text) ?? [];
  if (mac === "") return null;
  const right = macOf(secret, use, `${expires}.${random}`);
  // Compared as text: base64url has several spellings of the same bytes.
  const isRight = timingSafeEqual(Buffer.from(right.toString("base64url")), Buffer.from(mac));
  return isRight ? Number(expires) : null;
}

/** The use has no LF, so the parts cannot be confused. */
function macOf(secret: string, use: string, text: string): Buffer {
  return createHmac("sha256", secret).update(`verbatim browser v1\n${use}\n${text}`).digest();
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}
