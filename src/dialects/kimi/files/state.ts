/** State: what the file next to a session's logs says about it. */

import { createHash } from "node:crypto";
import type { DialectFiles } from "../../dialect-files.ts";
import { get, getObject, getString, isObject } from "../../fields.ts";
import { jsonBelow } from "../../files/json-document.ts";
import { parentOf, placeOf } from "../session-id.ts";

export const files: DialectFiles = {
  standingOf: async (_host, root, id) => {
    const { directory, session, agent } = placeOf(id);
    const read = jsonBelow(root, ["sessions", directory, session, "state.json"]);
    const state = isObject(read) ? read : {};
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
  const known = jsonBelow(root, ["kimi.json"]);
  const list = isObject(known) ? get(known, "work_dirs") : null;
  for (const each of Array.isArray(list) ? list : []) {
    const path = isObject(each) ? getString(each, "path") : null;
    if (path !== null && createHash("md5").update(path).digest("hex") === name) return path;
  }
  return null;
}
