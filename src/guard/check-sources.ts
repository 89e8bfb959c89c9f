/**
 * Check sources: what sessions have that their copies lack.
 *
 * Only directories that are guarded are looked at: a guard may be for one agent alone. Whether a
 * source still has what was copied is checked with the copy (check.ts).
 */

import type { Host } from "../core/base/host.ts";
import { readStretch } from "../core/log/bytes.ts";
import { dialectNamed, loadDialects } from "../dialects/all.ts";
import { rowKey, wholeLines } from "../dialects/files/guard-rows.ts";
import {
  type GuardedRoot,
  generationBytes,
  guardedRoots,
  type Kept,
  readGeneration,
  readGuardedRoot,
} from "../dialects/files/guard-store.ts";
import { iterateLogs, type Unreadable } from "../dialects/find.ts";
import type { FoundLog } from "../dialects/session-row.ts";
import type { Problem } from "./check.ts";
import { Sources } from "./source.ts";

const REMEDY = "run `verbatim guard --once`";

/** A problem for each session that is not guarded as it is now. */
export async function* checkSources(host: Host): AsyncGenerator<Problem> {
  await loadDialects();
  for (const each of guardedRoots()) {
    const root = readGuardedRoot(each);
    if (root === null) continue;
    const { agent, source, sessions } = root;
    const found = { agent, generation: 0 };
    const unlisted: Problem[] = [];
    const onUnreadable = ({ id, path, cause }: Unreadable) =>
      unlisted.push({ ...found, id: id ?? path, problem: cause.message });
    const onNoId = (path: string) =>
      unlisted.push({ ...found, id: path, problem: "its name cannot be an id" });
    const sources = new Sources(host, agent, source);
    try {
      for (const log of iterateLogs(source, dialectNamed(agent).layout, { onUnreadable, onNoId })) {
        const kept = sessions.get(log.path);
        const problem = await lackOf(root, log, kept, sources);
        const generation = kept?.generation ?? 0;
        if (problem !== null) yield { ...found, id: log.id, generation, problem };
      }
    } finally {
      sources.close();
    }
    yield* unlisted;
  }
}

async function lackOf(
  root: GuardedRoot,
  log: FoundLog,
  kept: Kept | undefined,
  sources: Sources,
): Promise<string | null> {
  if (kept === undefined) return `it has no copy; ${REMEDY}`;
  if (kept.isClosed || kept.deletedAt !== null) return `what it has now is not copied; ${REMEDY}`;
  if (kept.kind === "bytes") {
    const more = log.size - generationBytes(root.directory, kept.path, kept.generation);
    return more > 0 ? notCopied(more, "byte") : null;
  }
  try {
    const lines = await linesNotKept(root, log, kept, sources);
    return lines > 0 ? notCopied(lines, "line") : null;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

function notCopied(count: number, of: "byte" | "line"): string {
  const those = count === 1 ? `1 ${of} of it is` : `${count} ${of}s of it are`;
  return `${those} not copied; ${REMEDY}`;
}

async function linesNotKept(
  { agent, directory }: GuardedRoot,
  log: FoundLog,
  kept: Kept,
  sources: Sources,
): Promise<number> {
  const dialect = dialectNamed(agent);
  const copy = readGeneration(directory, kept.path, kept.generation) ?? Buffer.alloc(0);
  const copied = new Map(wholeLines(copy).map((line) => [rowKey(line, dialect), line]));
  const { file, raw } = await sources.open(log);
  try {
    const lines = wholeLines(await readStretch(file, 0, file.size()));
    // A program may write a message several times: the last one counts, as for the copy.
    const now = new Map(lines.map((line) => [rowKey(line, dialect), line]));
    return [...now].filter(([key, line]) => copied.get(key) !== line).length;
  } finally {
    file.close();
    raw?.close();
  }
}
