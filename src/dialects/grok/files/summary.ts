/** Summary: what the file next to a session's log says about it. */

import type { DialectFiles } from "../../dialect-files.ts";
import { timeOf } from "../../entire/decode.ts";
import { get, getObject, getString, type JsonObject } from "../../fields.ts";
import { objectBelow } from "../../files/json-document.ts";

export const files: DialectFiles = {
  standingOf: async (_host, root, id) => {
    const [directory = "", session = ""] = id.split("/");
    const summary = objectBelow(root, ["sessions", directory, session, "summary.json"]);
    const parent = getString(summary, "parent_session_id");
    return {
      ...{ status: null, agent: null },
      parent: parent === null ? null : `${directory}/${parent}`,
      about: aboutIn(summary, directory),
    };
  },
};

function aboutIn(summary: JsonObject, directory: string) {
  const cwd = getString(getObject(summary, "info"), "cwd") ?? decoded(directory);
  const title = getString(summary, "generated_title") ?? getString(summary, "session_summary");
  const changed = get(summary, "last_active_at") ?? get(summary, "updated_at");
  const known = {
    cwd,
    title,
    branch: getString(summary, "head_branch"),
    createdAt: timeOf(get(summary, "created_at")),
    updatedAt: timeOf(changed),
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
}

/** The directory's name, decoded; null if it is not a path. */
function decoded(name: string): string | null {
  try {
    const path = decodeURIComponent(name);
    return path.startsWith("/") ? path : null;
  } catch {
    return null;
  }
}
