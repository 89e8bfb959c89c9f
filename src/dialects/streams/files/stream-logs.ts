/** Stream logs: the live JSON streams of a data directory, as listed among sessions. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { knownStreams } from "../../../streams/files/reading/known-streams.ts";
import { streamPathToFilename } from "../../../streams/files/stream-path.ts";
import type { FoundLog } from "../../session-row.ts";

/** `path`: where `reading-host.ts` shows it, including a fork's bytes from its source. */
export function* streamLogs(root: string): Generator<FoundLog> {
  for (const { path, file, status, isJson, base } of knownStreams(root).values()) {
    if (status !== "live" || !isJson) continue;
    const stats = statSync(join(root, "logs", file), { throwIfNoEntry: false });
    const size = base + (stats?.size ?? 0);
    const log = `logs/${streamPathToFilename(path)}`;
    yield { id: path, path: log, size, mtimeMs: stats?.mtimeMs ?? 0 };
  }
}
