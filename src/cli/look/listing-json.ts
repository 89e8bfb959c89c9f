/**
 * Listing JSON: a line of `ls --json` for each session, escaped for a terminal; and what such a line
 * says besides the catalog: whether the guard kept a generation that holds more, and whether a writer
 * is at work, as the viewer says it (sessions/list/at-work.ts).
 *
 * Runs for each `verbatim ls`: what opens logs is loaded only if a session may be live. One look: a
 * log that grows without times in its lines is not noticed.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { dialectNamed } from "../../dialects/all.ts";
import { type GuardedRoot, guardedRoots, JOURNAL } from "../../dialects/files/guard-store.ts";
import { fullerGeneration, guardOf } from "../../dialects/files/guarded.ts";
import { labelOf } from "../../dialects/registry.ts";
import { parseRow } from "../../dialects/session-row.ts";
import { AtWork, GROWING_MS } from "../../sessions/list/at-work.ts";
import { statOf } from "../../sessions/list/find-stores.ts";
import { programIdOf, senderOf } from "../../sessions/list/whose.ts";
import { safeText } from "../../sessions/render/text.ts";
import { type SessionLine, unclosedJson } from "../../sessions/store/list.ts";

export interface Flags {
  readonly live: ReadonlySet<SessionLine>;
  readonly fuller: FullerGenerations;
  /** What they cost, if that was counted. */
  readonly costs?: ReadonlyMap<SessionLine, number | null> | null;
  /** The record of its hooks, by the program's own session. */
  readonly records?: ReadonlyMap<SessionLine, SessionLine>;
}

export function jsonLines(sessions: readonly SessionLine[], flags: Flags): string {
  const lines = sessions.map((session) => `${unclosedJson(session)},${flagsOf(session, flags)}}\n`);
  return safeText(lines.join(""));
}

/** The beginning of what follows the row of a session, which no other line has. */
export function mark({ line, place }: SessionLine): string {
  return safeText(`,${place.json}/${line.logPathJson.slice(1)},"name":`);
}

function flagsOf(session: SessionLine, { live, fuller, costs, records }: Flags): string {
  const { id, place, isMissing } = session;
  // The name is first: `mark` ends with it.
  const facts = [programIdOf(place.dialect, id), labelOf(place.dialect)];
  const [name, program] = facts.map((fact) => JSON.stringify(fact));
  const cost = costs ? `,"cost":${costs.get(session) ?? null}` : "";
  const from = senderOf(place.root);
  const sender = from ? `,"sender":${JSON.stringify(from)}` : "";
  const whose = `"name":${name},"program":${program}${cost}${sender}`;
  if (isMissing) return `${whose},"live":false,"missing":true`;
  const generation = fuller.get(session);
  const more = generation === undefined ? "" : `,"fullerGeneration":${generation}`;
  const record = records?.get(session);
  const hooks = record === undefined ? "" : `,"hooks":${JSON.stringify(record.id)}`;
  return `${whose},"live":${live.has(session)}${more}${hooks}`;
}

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

export async function liveAmong(
  sessions: readonly SessionLine[],
  nowMs: number,
): Promise<ReadonlySet<SessionLine>> {
  const live = new Set<SessionLine>();
  const possible = sessions.filter((session) => mayBeLive(session, nowMs));
  if (possible.length === 0) return live;
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const atWork = new AtWork(nodeHost, () => nowMs);
  for (const session of possible) {
    const row = parseRow(session.line);
    if (await atWork.isLive(session.place, row.logPath, row)) live.add(session);
  }
  return live;
}

/** A log that just changed, or one with a lock file, which stays when its writer has ended. */
function mayBeLive({ line, place, isMissing }: SessionLine, nowMs: number): boolean {
  if (isMissing) return false;
  if (nowMs - line.mtimeMs < GROWING_MS) return true;
  if (!dialectNamed(place.dialect).writing) return false;
  return existsSync(`${join(place.root, JSON.parse(line.logPathJson) as string)}.lock`);
}

/** When the first live session may be live no longer; null if none is live. */
export function endOfLife(live: ReadonlySet<SessionLine>): number | null {
  if (live.size === 0) return null;
  return Math.min(...Array.from(live, ({ line }) => line.mtimeMs + GROWING_MS));
}
