/**
 * Member names: what a bundle may hold. There are no others, and none of them is a path anywhere:
 * where a member goes is decided by its part, not by its name.
 */

import { VerbatimError } from "../../base/errors.ts";
import { isKid } from "../../proof/ed25519-keys.ts";

export const LOG = "log.jsonl";
/** HomeAgent's, which lie beside the log. */
export const CHECKPOINTS = "checkpoints.jsonl";
/** rye's, when it is verified. */
export const THREAD = "thread.json";
export const MANIFEST = "manifest.json";
export const TRANSCRIPT = "derived/transcript.md";
export const USAGE = "derived/usage.json";
export const SUMMARY = "derived/summary.md";

const FIXED: readonly string[] = [LOG, CHECKPOINTS, THREAD, MANIFEST, TRANSCRIPT, USAGE, SUMMARY];
const SPILL = /^spill\/([\w-]+\.\d+\.spill)$/;
const KEY = /^keys\/(.+)\.pem$/;

/** What a log's line is too short for, by its name beside the log. */
export function spillMember(name: string): string {
  return `spill/${name}`;
}

export function keyMember(kid: string): string {
  return `keys/${kid}.pem`;
}

/** The name of a spilled file beside the log; null for members that are none. */
export function spillName(member: string): string | null {
  return SPILL.exec(member)?.[1] ?? null;
}

export function isMemberName(name: string): boolean {
  return FIXED.includes(name) || SPILL.test(name) || isKid(KEY.exec(name)?.[1] ?? "");
}

/** Made from the log for people, and never read by us. */
export function isDerived(name: string): boolean {
  return name.startsWith("derived/");
}

/** Refuses a file that is no bundle. */
export function badBundle(path: string, reason: string): VerbatimError<"BAD_BUNDLE"> {
  return new VerbatimError(
    "BAD_BUNDLE",
    `${path} is no bundle, or was damaged on its way: ${reason}; nothing was written; have it sent ` +
      "again",
    { path, reason },
  );
}
