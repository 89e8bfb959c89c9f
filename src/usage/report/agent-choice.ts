/** Agent choice: which files a user means by an agent, a project or a sender, and whose each is. */

import type { Host } from "../../core/base/host.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { labelOf, registryEntry } from "../../dialects/registry.ts";
import type { ProjectFilter } from "../../sessions/catalog/page.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { isDialectMeant, isSenderMeant, programIdOf, senderOf } from "../../sessions/list/whose.ts";
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

/** Which files are meant; undefined and null: all. */
export interface FileChoice {
  readonly agent?: string | null | undefined;
  readonly isProject?: ProjectFilter | undefined;
  /** With the user's notes. */
  readonly isNoted?: FileFilter | undefined;
  readonly machine?: string | null | undefined;
  readonly user?: string | null | undefined;
  readonly stores?: readonly FoundStore[] | undefined;
}

/** Undefined: all. */
export function fileFilter(choice: FileChoice): FileFilter | undefined {
  const { agent, isProject, isNoted, machine, user, stores } = choice;
  const isAll = (agent ?? isProject ?? isNoted ?? machine ?? user ?? stores ?? null) === null;
  if (isAll) return undefined;
  const keyOf = ({ dialect, root }: FoundStore) => `${dialect}\0${root}`;
  const keys = stores && new Set(stores.map(keyOf));
  return (file) =>
    isOfAgent(file, agent) &&
    isProject?.(file) !== false &&
    isNoted?.(file) !== false &&
    isSenderMeant(file.root, choice) &&
    keys?.has(keyOf(file)) !== false;
}

export function isOfAgent(
  { dialect }: Pick<LedgerFile, "dialect">,
  agent: string | null | undefined,
): boolean {
  return !agent || isDialectMeant(dialect, agent);
}

/** Of sessions that no machine sent. No machine or user has a space in its name. */
const OF_SERVER = "this server";

/** Who sent a file, for groups by these. */
export function machineNameOf({ root }: Pick<LedgerFile, "root">): string {
  return senderOf(root)?.machine ?? OF_SERVER;
}

export function userNameOf({ root }: Pick<LedgerFile, "root">): string {
  return senderOf(root)?.user ?? OF_SERVER;
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
