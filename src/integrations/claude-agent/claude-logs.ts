/**
 * Claude logs: finds the transcripts of a project, or of a session, below a root, by their keys.
 *
 * Looks at names and sizes only (catalog/find.ts).
 */

import { eachLog, type Unreadable } from "../../catalog/find.ts";
import {
  directoryOf,
  idAt,
  keyOf,
  LOG_NAME,
  type SessionKey,
} from "../../dialects/claude/session-id.ts";

export interface ClaudeLog {
  readonly id: string;
  readonly key: SessionKey;
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * The transcripts of a project's sessions, or of one session's subagents, unsorted. Refuses with
 * IO_ERROR when a directory cannot be read: the caller wants all of them.
 */
export function* claudeLogs(root: string, ...names: readonly string[]): Generator<ClaudeLog> {
  const layout = { under: directoryOf(...names), logName: LOG_NAME, idAt };
  for (const { id, size, mtimeMs } of eachLog(root, layout, { onUnreadable })) {
    const key = keyOf(id);
    if (key !== null) yield { id, key, size, mtimeMs };
  }
}

/** A link is not a transcript. */
function onUnreadable({ cause }: Unreadable): void {
  if (cause.code === "IO_ERROR") throw cause;
}
