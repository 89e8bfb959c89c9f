/**
 * Session ids: the directory and the file, without the ending.
 *
 *     sessions/--home-me-app--/<time>_<uuid>.jsonl
 *     <time>_<uuid>.jsonl                            PI_CODING_AGENT_SESSION_DIR, and version 0.30
 */

import { eitherPathIds, pathIds } from "../path-ids.ts";

const ending = ".jsonl";
const sessions = pathIds({ under: ["sessions"], levels: [null], ending });
/** Other programs keep logs in such places too, so the name must be pi's. */
const flat = pathIds({
  ...{ under: [], levels: [], ending },
  isName: (name) => /^\d{4}-\d\d-\d\dT[0-9-]+Z_./.test(name),
});

export const { logPath, idAt, layout } = eitherPathIds([sessions, flat], (id) =>
  id.includes("/") ? sessions : flat,
);

/** The session's uuid. */
export function nameOf(id: string): string {
  return id.slice(Math.max(id.lastIndexOf("/"), id.indexOf("_", id.lastIndexOf("/"))) + 1);
}

/** The session that a header names by the path of its file; null if the path is not a session's. */
export function parentAt(path: string): string | null {
  const [directory = "", file = ""] = path.split(/[/\\]/).slice(-2);
  const isNested = directory.startsWith("--") && directory.endsWith("--");
  return idAt(isNested ? ["sessions", directory, file] : [file]);
}
