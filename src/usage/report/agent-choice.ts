/** Agent choice: which files a user means by the name of an agent or of a project, and whose each is. */

import type { Host } from "../../core/base/host.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { labelOf, registryEntry } from "../../dialects/registry.ts";
import { isDialectMeant, programIdOf } from "../../sessions/list/whose.ts";
import type { LedgerFile } from "../ledger/pack.ts";

export type FileFilter = (file: LedgerFile) => boolean;

/** The files of these sessions, and of their subagents. */
export function filesOf(
  sessions: Iterable<{ readonly dialect: string; readonly id: string }>,
): FileFilter {
  const keyOf = (dialect: string, name: string | null) => `${dialect}\0${name}`;
  const keys = new Set<string>();
  for (const { dialect, id } of sessions) keys.add(keyOf(dialect, programIdOf(dialect, id)));
  return ({ dialect, name, parent }) => {
    return keys.has(keyOf(dialect, name)) || (parent !== null && keys.has(keyOf(dialect, parent)));
  };
}

/** Undefined: all. */
export function fileFilter(
  agent: string | undefined,
  isMeant: FileFilter | undefined,
): FileFilter | undefined {
  if (agent === undefined && isMeant === undefined) return undefined;
  return (file) => isOfAgent(file, agent) && isMeant?.(file) !== false;
}

export function isOfAgent(
  { dialect }: Pick<LedgerFile, "dialect">,
  agent: string | undefined,
): boolean {
  return agent === undefined || isDialectMeant(dialect, agent);
}

/** What users call the program. */
export function agentNameOf(dialect: string): string {
  return labelOf(dialect) ?? dialect;
}

/** Whether the plans of the program are limited by blocks: those of Anthropic's models. */
export function hasBlocks({ dialect }: Pick<LedgerFile, "dialect">): boolean {
  return registryEntry(dialect).usageIn === "messages";
}

/**
 * The agent that each session names, such as the directive of a thread; "none" for those that name
 * none. By the file's place in the ledger. A session whose files are gone is known by its id alone.
 */
export async function agentNames(host: Host, files: readonly LedgerFile[]): Promise<string[]> {
  await loadDialects(files.map(({ dialect }) => dialect));
  const names: string[] = [];
  for (const { index, dialect, root, id } of files) {
    const { naming, files } = dialectNamed(dialect);
    const standing = await (await files?.load?.())?.standingOf?.(host, root, id);
    names[index] = standing?.agent ?? naming.agentOf?.(id) ?? "none";
  }
  return names;
}
