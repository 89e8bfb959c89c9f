/** Fork source: whether the source of a fork can be signed for it. */

import { VerbatimError } from "../../core/base/errors.ts";
import type { StreamState } from "../commit/stream-state.ts";

/**
 * Whether a stream has bytes from `path` through any number of forks: no stream has bytes from
 * itself.
 */
export async function comesFrom(
  stateOf: (path: string) => StreamState | null | Promise<StreamState | null>,
  stream: StreamState,
  path: string,
): Promise<boolean> {
  const seen = new Set<string>();
  for (let each: StreamState | null = stream; each !== null && !seen.has(each.path); ) {
    if (each.path === path) return true;
    seen.add(each.path);
    each = each.fork === null ? null : await stateOf(each.fork.source);
  }
  return false;
}

export function sourceMissing(path: string, source: string | null): VerbatimError {
  return new VerbatimError(
    "CHECKPOINT_MISMATCH",
    `${path} is not signed: it begins in ${source ?? "no stream"}, which does not exist or does not verify`,
    { path, offset: 0, verdict: "tampered" },
  );
}
