/** Fuller generations: listed sessions of which the guard kept an older generation that holds more. */

import { join } from "node:path";
import { type GuardedRoot, guardedRoots, JOURNAL } from "../../dialects/files/guard-store.ts";
import { fullerGeneration, guardOf } from "../../dialects/files/guarded.ts";
import { statOf } from "../../sessions/list/find-stores.ts";
import { programIdOf } from "../../sessions/list/whose.ts";
import type { SessionLine } from "../../sessions/store/list.ts";

const NAMED_MAX = 5;

export type FullerGenerations = ReadonlyMap<SessionLine, number>;

export function fullerGenerations(sessions: readonly SessionLine[]): FullerGenerations {
  const fuller = new Map<SessionLine, number>();
  if (guardedRoots().length === 0) return fuller; // Loads no module for their names.
  const guards = new Map<string, GuardedRoot | null>();
  for (const session of sessions) {
    const { line, place } = session;
    let guarded = guards.get(place.json);
    if (guarded === undefined) {
      guarded = withLosses(guardOf(place.dialect, place.root));
      guards.set(place.json, guarded);
    }
    const kept = guarded?.sessions.get(JSON.parse(line.logPathJson) as string);
    const generation = guarded && kept ? fullerGeneration(guarded, kept) : null;
    if (generation !== null) fuller.set(session, generation);
  }
  return fuller;
}

/** With the sessions of which something was lost; null: with none. */
function withLosses(guarded: GuardedRoot | null): GuardedRoot | null {
  const sessions = [...(guarded?.sessions ?? [])].filter(([, { losses }]) => losses.length > 0);
  return guarded && sessions.length > 0 ? { ...guarded, sessions: new Map(sessions) } : null;
}

/** What to tell about them. */
export function fullerNotes(fuller: FullerGenerations): string[] {
  const notes = Array.from(fuller, ([{ id, place }, generation]) => {
    const name = programIdOf(place.dialect, id);
    return (
      `${name}: generation ${generation}, kept by the guard, holds more than the newest; ` +
      `verbatim show ${name} --generation ${generation}`
    );
  });
  const left = notes.length - NAMED_MAX;
  if (left <= 0) return notes;
  return [...notes.slice(0, NAMED_MAX), `${left} more like these; --json has fullerGeneration`];
}

/** Changes when the guard notes something. */
export function guardStamp(): number[] {
  return guardedRoots().map((root) => statOf(join(root, JOURNAL))?.size ?? 0);
}
