/**
 * Spool names: whether a store's spool has hooks. Checked before every read, so it costs one
 * directory listing and loads nothing; drain-spool.ts reads the files.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { orderOf, SPOOL_PATH } from "../hook-spool.ts";

export function hooksMayWait(root: string): boolean {
  return spooledNames(root).length > 0;
}

/** File names in order. A spool that is missing or unreadable counts as empty. */
export function spooledNames(root: string): string[] {
  try {
    const names = readdirSync(spoolDirectory(root)).filter((name) => orderOf(name) !== null);
    return names.sort((a, b) => (orderOf(a) ?? 0) - (orderOf(b) ?? 0) || (a < b ? -1 : 1));
  } catch {
    return [];
  }
}

export function spoolDirectory(root: string): string {
  return join(root, ...SPOOL_PATH);
}

/** Warning for a reader that continues without them. */
export function hooksStillWait(root: string, count: number, cause: unknown): string {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return `${count} recorded hooks wait in ${spoolDirectory(root)} and are not shown${why}`;
}
