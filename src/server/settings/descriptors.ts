/**
 * Descriptors: limits of a server that fit the number of files that its process may have open
 * (`ulimit -n`). Without that, a flood of connections would leave none for the streams.
 */

import { readFileSync } from "node:fs";
import type { ServerSettings } from "./limits.ts";

/** For the index, the journal, sessions, a database and everything else. */
const RESERVED = 64;
/** Fewer than this are not enough for anything; then opening a file fails, and says so. */
const QUARTER_MIN = 8;

type Fitted = Pick<ServerSettings, "connectionsMax" | "refusedConnectionsMax" | "openFilesMax">;

/** How many descriptors this process may have; null where the system does not say. */
export function descriptorLimit(): number | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null; // Another system: the settings apply as they are.
  }
}

/** The settings as far as the descriptors suffice: at most a quarter for streams. */
export function fitDescriptors(settings: Fitted, limit: number | null): Fitted {
  const usable = Math.max(4 * QUARTER_MIN, (limit ?? Infinity) - RESERVED);
  const quarter = Math.floor(usable / 4);
  const openFilesMax = Math.min(settings.openFilesMax, quarter);
  const refusedConnectionsMax = Math.min(settings.refusedConnectionsMax, quarter);
  const left = usable - openFilesMax - refusedConnectionsMax;
  const connectionsMax = Math.min(settings.connectionsMax, left);
  return { connectionsMax, refusedConnectionsMax, openFilesMax };
}

/** What to tell about limits that had to be lowered; null if none was. */
export function loweredNote(settings: Fitted, fitted: Fitted, limit: number | null): string | null {
  const { connectionsMax, openFilesMax } = fitted;
  const isSame =
    connectionsMax === settings.connectionsMax && openFilesMax === settings.openFilesMax;
  if (isSame) return null;
  return (
    `this process may open ${limit} files, which is enough for ${connectionsMax} connections and ` +
    `${openFilesMax} open streams; raise the limit (\`ulimit -n\`) for more`
  );
}
