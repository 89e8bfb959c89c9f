/**
 * Repeated rows: rows of a subagent in the log of the session that started it, if the subagent has a
 * log of its own with the same rows. They count there, and are found there.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Dialect, Native } from "../../dialects/dialect.ts";

/** Whether a row of session `id` is such a row. */
export function repeatedRows(dialect: Dialect, root: string, id: string): (row: Native) => boolean {
  const { subagents } = dialect;
  const known = new Map<string, boolean>();
  const isThere = (own: string) => {
    const isKnown = known.get(own) ?? existsSync(pathOf(dialect, root, own) ?? "");
    known.set(own, isKnown);
    return isKnown;
  };
  return (row) => subagents?.ownLogsOf?.(row, id).some(isThere) ?? false;
}

/** Null: a row may name anything, also what is no id. */
function pathOf(dialect: Dialect, root: string, id: string): string | null {
  try {
    return join(root, ...dialect.logPath(id));
  } catch (cause) {
    if (cause instanceof VerbatimError && cause.code === "BAD_ID") return null;
    throw cause;
  }
}
