/**
 * Hooks waiting: whether recorded hooks wait in a store's spool. Asked before every reading, so it costs
 * one listing and loads nothing; hook-spool.ts reads them.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { orderOf, SPOOL_PATH } from "../hook-spool.ts";

export function hooksMayWait(root: string): boolean {
  return spooledNames(root).length > 0;
}

/** In their order. A spool that is not there, or that we may not look into, is empty for us. */
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

/** For whoever reads on without them. */
export function hooksStillWait(root: string, count: number, cause: unknown): string {
  const why = cause instanceof Error ? `: ${cause.message}` : "";
  return `${count} recorded hooks wait in ${spoolDirectory(root)} and are not shown${why}`;
}
