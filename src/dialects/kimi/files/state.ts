/** State: what the file next to a session's logs says about it. */

import { createHash } from "node:crypto";
import type { DialectFiles } from "../../dialect-files.ts";
import { getObject, getObjects, getString } from "../../fields.ts";
import { objectBelow } from "../../files/json-document.ts";
import { parentOf, placeOf } from "../session-id.ts";

export const files: DialectFiles = {
  standingOf: async (_host, root, id) => {
    const { directory, session, agent } = placeOf(id);
    const state = objectBelow(root, ["sessions", directory, session, "state.json"]);
    const started = getString(getObject(getObject(state, "agents"), agent ?? ""), "parentAgentId");
    const cwd = getString(state, "workDir") ?? directoryOf(root, directory);
    const titled = getString(state, "custom_title") ?? getString(state, "title");
    // The title is the session's, not a subagent's.
    const title = agent === null ? titled : null;
    return {
      ...{ status: null, agent: null },
      parent: parentOf(id, started),
      about: { ...(cwd === null ? {} : { cwd }), ...(title === null ? {} : { title }) },
    };
  },
};

/** Kimi CLI names a directory by the MD5 of its path, and lists the paths in `kimi.json`. */
function directoryOf(root: string, name: string): string | null {
  for (const each of getObjects(objectBelow(root, ["kimi.json"]), "work_dirs")) {
    const path = getString(each, "path");
    if (path !== null && createHash("md5").update(path).digest("hex") === name) return path;
  }
  return null;
}
