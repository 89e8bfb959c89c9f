/** Agent choice: which files a user means by the name of an agent or of a project. */

import { dialectNamed } from "../../dialects/all.ts";
import type { LedgerFile } from "../ledger/pack.ts";

/** Null: all. */
export function wantedFiles(
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
  return [dialect, labelOf(dialect)].some((name) => folded(name).startsWith(wanted));
}

/** What users call the program. */
export function labelOf(dialect: string): string {
  return dialectNamed(dialect).program?.label ?? dialect;
}

/** Whether the plans of the program are limited by blocks: those of Anthropic's models. */
export function hasBlocks({ dialect }: Pick<LedgerFile, "dialect">): boolean {
  return dialectNamed(dialect).usageIn === "messages";
}

function isOfProject({ project, root }: LedgerFile, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const path = (project ?? root).replace(/\/+$/, "");
  if (wanted.includes("/")) return path === wanted || path.startsWith(`${wanted}/`);
  return path.slice(path.lastIndexOf("/") + 1) === wanted;
}
