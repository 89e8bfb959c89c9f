/** Agent choice: which files a user means by the name of an agent or of a project, and whose each is. */

import type { Host } from "../../core/base/host.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import { labelOf, registryEntry } from "../../dialects/registry.ts";
import type { LedgerFile } from "../ledger/pack.ts";

/** Null: all. */
export function fileFilter(
  agent: string | undefined,
  project: string | undefined,
): ((file: LedgerFile) => boolean) | undefined {
  if (agent === undefined && project === undefined) return undefined;
  return (file) => isOfAgent(file, agent) && isOfProject(file, project);
}

/** As people write it: "claude code", "Claude-Code". */
const folded = (text: string) => text.toLowerCase().replaceAll(/[\s_-]/g, "");

export function isOfAgent(
  { dialect }: Pick<LedgerFile, "dialect">,
  agent: string | undefined,
): boolean {
  if (agent === undefined) return true;
  const wanted = folded(agent);
  return [dialect, agentNameOf(dialect)].some((name) => folded(name).startsWith(wanted));
}

/** What users call the program. */
export function agentNameOf(dialect: string): string {
  return labelOf(dialect) ?? dialect;
}

/** Whether the plans of the program are limited by blocks: those of Anthropic's models. */
export function hasBlocks({ dialect }: Pick<LedgerFile, "dialect">): boolean {
  return registryEntry(dialect).usageIn === "messages";
}

function isOfProject({ project, root }: LedgerFile, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const path = (project ?? root).replace(/\/+$/, "");
  if (wanted.includes("/")) return path === wanted || path.startsWith(`${wanted}/`);
  return path.slice(path.lastIndexOf("/") + 1) === wanted;
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
