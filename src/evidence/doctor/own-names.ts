/**
 * Own names: which files in a log's directory are ours, by name, and to which log they belong; the
 * derived files of each dialect, loaded once for all checks.
 */

import { assert } from "../../core/base/errors.ts";
import type { SurroundingFile } from "../../core/base/node-surroundings.ts";
import { dialectNamed, loadDialects } from "../../dialects/all.ts";
import type { DerivedKind, DialectFiles } from "../../dialects/facets/files.ts";
import { READ_DIALECT_NAMES } from "../../dialects/registry.ts";

/**
 * Suffixes that the log, atomic replacement and repair add to a file name (docs/formats/log.md).
 */
const ENDINGS =
  /(\.(lock|checkpoints|torn-\d+|tmp|before-repair-\d+|vbd|erase(-log|-copy|-file)?))+$/;

/** Whether a file belongs to the log of that name: the log itself, or a file next to it. */
export function belongsTo(logName: string, name: string): boolean {
  return name === logName || name.replace(ENDINGS, "") === logName;
}

/** The files of a directory by the name of their log; others are left out. */
export function byLog(
  dialect: string,
  entries: readonly SurroundingFile[],
): Map<string, SurroundingFile[]> {
  const groups = new Map<string, SurroundingFile[]>();
  for (const seen of entries) {
    const logName = logNameOf(dialect, seen.name);
    if (logName === null) continue;
    const group = groups.get(logName);
    if (group) group.push(seen);
    else groups.set(logName, [seen]);
  }
  return groups;
}

/** Whether a file is derived from the log. */
export function isDerived(dialect: string, name: string): boolean {
  return derivedKind(dialect)?.names.includes(name) ?? false;
}

/** Whether we ever wrote to a session, by the files around its log. */
export function isOurs(dialect: string, files: readonly SurroundingFile[]): boolean {
  return derivedKind(dialect)?.isOurs?.(files) ?? true;
}

/** Left by a process that was killed while it replaced a file. */
export function isTemporary(name: string): boolean {
  return name.endsWith(".tmp");
}

/** The name of the log, in the same directory, that a file of this name belongs to; null: none. */
export function logNameOf(dialect: string, name: string): string | null {
  const bare = name.replace(ENDINGS, "");
  const kind = derivedKind(dialect);
  if (kind) {
    const isOwn = bare === kind.logName || kind.names.includes(bare) || kind.isOwn?.(bare);
    return isOwn ? kind.logName : null;
  }
  if (bare.endsWith(".jsonl")) return bare;
  return dialectNamed(dialect).writing?.spilling?.logNameIn(bare) ?? null;
}

let loaded: ReadonlyMap<string, DialectFiles> | null = null;

/** Loads the files of all dialects. Every examination begins with it, and repairs follow one. */
export async function loadOwnFiles(): Promise<void> {
  if (loaded !== null) return;
  await loadDialects();
  const each = READ_DIALECT_NAMES.map(async (name) => {
    return [name, (await dialectNamed(name).files?.load?.()) ?? {}] as const;
  });
  loaded = new Map(await Promise.all(each));
}

function filesOf(dialect: string): DialectFiles | undefined {
  assert(loaded !== null, "an examination begins with loadOwnFiles");
  return loaded.get(dialect);
}

/** The files derived from a session's log; undefined if the dialect has none. */
export function derivedKind(dialect: string): DerivedKind | undefined {
  return filesOf(dialect)?.derived;
}

/** The small signed file that belongs to a session's log; null if the dialect has none. */
export function signedFileName(dialect: string): string | null {
  return filesOf(dialect)?.signedFile?.name ?? null;
}

/** The files that a store keeps for all its sessions. */
export function storeFiles(dialect: string): DialectFiles["ofStore"] {
  return filesOf(dialect)?.ofStore;
}

/** An older file with the same session of another program, which is not listed. */
export function olderFile(dialect: string, root: string, id: string): string | null {
  return filesOf(dialect)?.olderFile?.(root, id) ?? null;
}
