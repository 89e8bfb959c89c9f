/**
 * Live sessions: which sessions of a listing a writer is at work on, as the viewer says it
 * (sessions/list/at-work.ts). One look: a log that grows without times in its lines is not noticed.
 *
 * Runs for each `verbatim ls`: what opens logs is loaded only if one may be live.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { dialectNamed } from "../../dialects/all.ts";
import { parseRow } from "../../dialects/session-row.ts";
import { AtWork, GROWING_MS } from "../../sessions/list/at-work.ts";
import type { SessionLine } from "../../sessions/store/list.ts";

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
  if (dialectNamed(place.dialect).isReadOnly) return false;
  return existsSync(`${join(place.root, JSON.parse(line.logPathJson) as string)}.lock`);
}

/** When the first live session may be live no longer; null if none is live. */
export function endOfLife(live: ReadonlySet<SessionLine>): number | null {
  if (live.size === 0) return null;
  return Math.min(...Array.from(live, ({ line }) => line.mtimeMs + GROWING_MS));
}
