/**
 * Member names: the only names a bundle may have. None of them is a path: a member's kind decides
 * where it goes, not its name.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { isKid } from "../../trust/proof/ed25519-keys.ts";

export const LOG = "log.jsonl";
/** HomeAgent's sidecar of the log. */
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

/** The member of a spilled file, by its path in a line. */
export function spillMember(name: string): string {
  return `spill/${name}`;
}

export function keyMember(kid: string): string {
  return `keys/${kid}.pem`;
}

/** The path of a spilled file in a line; null for other members. */
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

/** The error for a file that is not a bundle. */
export function badBundle(path: string, reason: string): VerbatimError<"BAD_BUNDLE"> {
  return new VerbatimError(
    "BAD_BUNDLE",
    `${path} is not a bundle, or was damaged in transfer: ${reason}; nothing was written; ` +
      "have it sent again",
    { path, reason },
  );
}
