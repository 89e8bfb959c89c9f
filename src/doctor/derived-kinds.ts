/** Derived kinds: the derived files of each dialect, loaded once for all checks. */

import { dialectNamed, READ_DIALECT_NAMES } from "../dialects/all.ts";
import type { DerivedKind } from "../dialects/derived-files.ts";
import type { DialectFiles } from "../dialects/dialect-files.ts";

const FILES: ReadonlyMap<string, DialectFiles> = new Map(
  await Promise.all(
    READ_DIALECT_NAMES.map(
      async (name) => [name, (await dialectNamed(name).files?.()) ?? {}] as const,
    ),
  ),
);

/** The files derived from a session's log; undefined if the dialect has none. */
export function derivedKind(dialect: string): DerivedKind | undefined {
  return FILES.get(dialect)?.derived;
}

/** The files that a store keeps for all its sessions. */
export function storeFiles(dialect: string): DialectFiles["ofStore"] {
  return FILES.get(dialect)?.ofStore;
}
