/** Guarded sessions: finds a guarded session by its id, or by what it begins with. */

import { VerbatimError } from "../core/base/errors.ts";
import { dialectNamed, loadDialects } from "../dialects/all.ts";
import {
  type GuardedRoot,
  type GuardRecord,
  guardDirectory,
  guardedRoots,
  readGuardedRoot,
} from "../dialects/files/guard-store.ts";

export interface GuardedSession {
  readonly root: GuardedRoot;
  readonly kept: GuardRecord;
}

const CANDIDATES_LISTED_MAX = 10;

/** Every guarded session. */
export function* guardedSessions(directory = guardDirectory()): Generator<GuardedSession> {
  for (const each of guardedRoots(undefined, directory)) {
    const root = readGuardedRoot(each);
    for (const kept of root?.sessions.values() ?? []) {
      if (root) yield { root, kept };
    }
  }
}

/** The one guarded session that `name` means; refuses with SESSION_NOT_FOUND. */
export async function findGuardedSession(
  name: string,
  directory = guardDirectory(),
): Promise<GuardedSession> {
  await loadDialects();
  const exact: GuardedSession[] = [];
  const begun: GuardedSession[] = [];
  for (const each of guardedSessions(directory)) {
    const { id } = each.kept;
    const short =
      dialectNamed(each.root.agent).naming.nameOf?.(id) ?? id.slice(id.lastIndexOf("/") + 1);
    if (id === name || short === name) exact.push(each);
    if (id.startsWith(name) || short.startsWith(name)) begun.push(each);
  }
  const matches = exact.length > 0 ? exact : begun;
  const [only] = matches;
  if (only && matches.length === 1) return only;
  const listed = matches.slice(0, CANDIDATES_LISTED_MAX).map(({ kept: { id } }) => `  ${id}`);
  throw new VerbatimError(
    "SESSION_NOT_FOUND",
    only
      ? [`${name} may be one of ${matches.length} guarded sessions:`, ...listed].join("\n")
      : `the guard has no copy of ${name}; \`verbatim ls --source-gone\` lists the deleted sessions it has`,
    { session: name },
  );
}
