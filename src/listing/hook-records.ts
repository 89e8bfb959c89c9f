/**
 * Hook records: sessions of a program that are there twice: in the program's own file, and as the
 * hooks that a store of ours recorded. The program's file says more, the record may be signed. Lists
 * show the program's.
 */

import { dialectNamed } from "../dialects/all.ts";
import type { FoundStore } from "./find-stores.ts";
import { nameIn } from "./whose.ts";

interface Place {
  readonly id: string | null;
  readonly place: Pick<FoundStore, "dialect">;
}

/** The program's own session of each record among these. */
export function programsOwn<Found extends Place>(all: readonly Found[]): Map<Found, Found> {
  /** A project that moved has two records of a session. */
  const records = new Map<string, Found[]>();
  const dialects = new Set<string>();
  for (const each of all) {
    const of = each.id === null ? null : dialectNamed(each.place.dialect).hooksOf?.(each.id);
    if (!of) continue;
    const key = keyOf(of.dialect, of.name);
    records.set(key, [...(records.get(key) ?? []), each]);
    dialects.add(of.dialect);
  }
  const own = new Map<Found, Found>();
  if (records.size === 0) return own;
  for (const each of all) {
    const { id, place } = each;
    if (id === null || !dialects.has(place.dialect)) continue;
    const found = records.get(keyOf(place.dialect, nameIn(place.dialect, id))) ?? [];
    for (const record of found) own.set(record, each);
  }
  return own;
}

function keyOf(dialect: string, name: string): string {
  return `${dialect}\0${name}`;
}
