/**
 * Hook records: sessions of a program that are there twice: in the program's own file, and as the
 * hooks that a store of ours recorded. The program's file says more, the record may be signed. Lists
 * show the program's.
 */

import { dialectNamed } from "../../dialects/all.ts";
import type { FoundStore } from "./find-stores.ts";
import { programIdOf } from "./whose.ts";

interface Place {
  readonly id: string | null;
  readonly place: Pick<FoundStore, "dialect">;
}

/** The program's own session of each record among these. */
export function programSessions<Found extends Place>(all: readonly Found[]): Map<Found, Found> {
  /** A project that moved has two records of a session. */
  const records = new Map<string, Found[]>();
  const dialects = new Set<string>();
  for (const each of all) {
    const of = each.id === null ? null : dialectNamed(each.place.dialect).naming.hooksOf?.(each.id);
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
    const found = records.get(keyOf(place.dialect, programIdOf(place.dialect, id))) ?? [];
    for (const record of found) own.set(record, each);
  }
  return own;
}

/** The records among the sessions of some places, found without all of their ids. */
export class HookRecords<P extends Pick<FoundStore, "dialect">> {
  readonly #places: readonly P[];
  readonly #idsIn: (place: P) => readonly string[];
  /** By dialect: the names of the programs' own sessions, read when a record is met. */
  readonly #names = new Map<string, ReadonlySet<string>>();

  constructor(places: readonly P[], idsIn: (place: P) => readonly string[]) {
    this.#places = places;
    this.#idsIn = idsIn;
  }

  /** Whether it is a record of hooks whose program has its own file of the session. */
  has(place: P, id: string): boolean {
    const program = dialectNamed(place.dialect).naming.hooksOf?.(id);
    return program ? this.#namesIn(program.dialect).has(program.name) : false;
  }

  #namesIn(dialect: string): ReadonlySet<string> {
    const names =
      this.#names.get(dialect) ??
      new Set(
        this.#places
          .filter((place) => place.dialect === dialect)
          .flatMap((place) => this.#idsIn(place).map((id) => programIdOf(dialect, id))),
      );
    this.#names.set(dialect, names);
    return names;
  }
}

function keyOf(dialect: string, name: string): string {
  return `${dialect}\0${name}`;
}
