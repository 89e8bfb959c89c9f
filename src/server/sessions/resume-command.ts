/**
 * Resume command: what continues a session in its own program, to be pasted into a shell.
 *
 * Ids and directories come from files of others: an id with anything but plain characters gives no
 * command, and a directory is quoted, or left out if a terminal could take it for keys.
 */

import type { Summary } from "../../core/model/summary.ts";
import { dialectNamed } from "../../dialects/all.ts";

/** Null for a subagent, and for programs that continue no session by its id. */
export function resumeCommandOf(
  dialect: string,
  id: string,
  { project, parent }: Pick<Summary, "project" | "parent">,
): string | null {
  const { program, nameOf } = dialectNamed(dialect);
  if (program?.resume === undefined) return null;
  if (parent !== null && program.hasForks !== true) return null;
  const name = nameOf?.(id) ?? id;
  if (!/^\w[\w.-]*$/.test(name)) return null;
  const command = program.resume(name);
  return project === null || !/^\/[^\p{C}\p{Zl}\p{Zp}]*$/u.test(project)
    ? command
    : `cd ${quoted(project)} && ${command}`;
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
