/** Agent choice: which files a user means by the name of an agent or of a project, and whose each is. */

import type { Host } from "../../core/base/host.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { labelOf, registryEntry } from "../../dialects/registry.ts";
import type { ProjectFilter } from "../../sessions/catalog/page.ts";
import { isDialectMeant } from "../../sessions/list/whose.ts";
import type { LedgerFile } from "../ledger/pack.ts";

/** Undefined: all. */
export function fileFilter(
  agent: string | undefined,
  isProject: ProjectFilter | undefined,
): ((file: LedgerFile) => boolean) | undefined {
  if (agent === undefined && isProject === undefined) return undefined;
  return (file) => isOfAgent(file, agent) && isProject?.(file) !== false;
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
