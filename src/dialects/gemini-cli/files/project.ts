/** Project: where a session's directory says that the agent worked, and which session started it. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DialectFiles } from "../../dialect-files.ts";
import { get, isObject } from "../../fields.ts";
import { jsonBelow, textBelow } from "../../files/json-document.ts";
import { idAt, placeOf } from "../session-id.ts";
import { olderFile } from "./documents.ts";

const PARENT_CHARS = 8;

export const files: DialectFiles = {
  olderFile,
  standingOf: async (_host, root, id) => {
    const { project, parent } = placeOf(id);
    const cwd = rootOf(root, project);
    return {
      ...{ status: null, agent: null },
      parent: parent === null ? null : parentOf(root, project, parent),
      ...(cwd === null ? {} : { about: { cwd } }),
    };
  },
};

/** The marker in the directory, else the registry of all projects: `{"projects":{path:name}}`. */
function rootOf(root: string, project: string): string | null {
  const marked = textBelow(root, ["tmp", project, ".project_root"])?.trim();
  if (marked) return marked;
  const registry = jsonBelow(root, ["projects.json"]);
  const projects = isObject(registry) ? get(registry, "projects") : null;
  if (!isObject(projects)) return null;
  return Object.entries(projects).find(([, name]) => name === project)?.[0] ?? null;
}

/** The file of a session has the first characters of its id; null unless there is just one. */
function parentOf(root: string, project: string, session: string): string | null {
  const chats = ["tmp", project, "chats"];
  const ending = `-${session.slice(0, PARENT_CHARS)}.jsonl`;
  try {
    const found = readdirSync(join(root, ...chats)).filter((name) => name.endsWith(ending));
    return found.length === 1 ? idAt([...chats, ...found]) : null;
  } catch {
    return null;
  }
}
