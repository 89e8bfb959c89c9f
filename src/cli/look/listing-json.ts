/** Listing JSON: a line of `ls --json` for each session, escaped for a terminal. */

import { labelOf } from "../../dialects/registry.ts";
import { programIdOf } from "../../sessions/list/whose.ts";
import { safeText } from "../../sessions/render/text.ts";
import { type SessionLine, unclosedJson } from "../../sessions/store/list.ts";
import type { FullerGenerations } from "./fuller-generations.ts";

export interface Flags {
  readonly live: ReadonlySet<SessionLine>;
  readonly fuller: FullerGenerations;
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

function flagsOf(session: SessionLine, { live, fuller, records }: Flags): string {
  const { id, place, isMissing } = session;
  // The name is first: `mark` ends with it.
  const facts = [programIdOf(place.dialect, id), labelOf(place.dialect)];
  const [name, program] = facts.map((fact) => JSON.stringify(fact));
  const whose = `"name":${name},"program":${program}`;
  if (isMissing) return `${whose},"live":false,"missing":true`;
  const generation = fuller.get(session);
  const more = generation === undefined ? "" : `,"fullerGeneration":${generation}`;
  const record = records?.get(session);
  const hooks = record === undefined ? "" : `,"hooks":${JSON.stringify(record.id)}`;
  return `${whose},"live":${live.has(session)}${more}${hooks}`;
}
