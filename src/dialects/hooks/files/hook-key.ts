/**
 * Hook key: a secret of the user that authenticates hooks to be signed.
 *
 * The spool is in the project, and a project may come from another person. Without the key, a
 * prepared project could have lines signed in the user's name (HQ3 in drain-spool.ts).
 *
 *     ~/.local/state/verbatim/hooks.key     32 random bytes, readable only by the user
 */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf } from "../../../core/base/errors.ts";
import { userPaths } from "../../../core/base/node-paths.ts";

const KEY_BYTES = 32;

/** The MAC of a text. Creates the key if there is none. */
export function macOf(text: string): string {
  return mac(readKey() ?? makeKey(), text);
}

/** Whether the MAC was made from this text with this user's key. */
export function isOurs(text: string, code: string | null): boolean {
  const key = code === null ? null : readKey();
  if (key === null || code === null) return false;
  const [ours, theirs] = [mac(key, text), code].map((each) => Buffer.from(each));
  return !!ours && !!theirs && ours.length === theirs.length && timingSafeEqual(ours, theirs);
}

function mac(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

function keyPath(): string {
  return join(userPaths().stateDirectory, "hooks.key");
}

function readKey(): Buffer | null {
  try {
    const key = readFileSync(keyPath());
    return key.length === KEY_BYTES ? key : null;
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return null;
    throw cause;
  }
}

/**
 * Written to a temporary file, then linked, so that concurrent creators end up with the same key.
 */
function makeKey(): Buffer {
  const path = keyPath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}-${randomBytes(8).toString("hex")}`;
  writeFileSync(draft, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(draft, path);
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
  } finally {
    unlinkSync(draft);
  }
  const key = readKey();
  if (key === null) throw new Error(`${path} is not a key of ${KEY_BYTES} bytes; remove it`);
  return key;
}
