/** Node places: where a user's own files are, by the XDG rules (docs/architecture.md). */

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The index of sessions: a cache, safe to delete. */
export function catalogPath(): string {
  return join(xdg("XDG_CACHE_HOME", ".cache"), "verbatim", "catalog.db");
}

/** Where HomeAgent keeps its sessions. */
export function homeagentRoot(): string {
  return join(homedir(), ".homeagent");
}

/** The XDG rules say that a relative path in such a variable is to be ignored. */
function xdg(variable: string, fallback: string): string {
  const value = process.env[variable];
  return value && isAbsolute(value) ? value : join(homedir(), fallback);
}
