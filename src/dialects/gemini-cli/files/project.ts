/**
 * Project: what Gemini CLI keeps next to its sessions: where the agent worked, which session started
 * another, how long sessions are kept, and the documents of older versions.
 */

import { join } from "node:path";
import type { Retention } from "../../agent-program.ts";
import type { DialectFiles } from "../../dialect-files.ts";
import { get, getObject, getString } from "../../fields.ts";
import type { Convert } from "../../files/converted-host.ts";
import { convertedDocument, objectBelow, textBelow } from "../../files/json-document.ts";
import { namesOrNone } from "../../files/row-lines.ts";
import { isThere, logsOnce } from "../../files/two-files.ts";
import { idAt, isDocument, layout, logPath, placeOf } from "../session-id.ts";

const PARENT_CHARS = 8;
const AGE_DEFAULT = "30d";
const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 };
/** A later version that continues a document copies it to a `.jsonl` file, and leaves it there. */
const ENDINGS = { preferred: ".jsonl", other: ".json" };

export const logsIn = logsOnce(layout, ENDINGS);

export const files: DialectFiles = {
  /** The document that a later version continued as this session; null if there is none. */
  olderFile(root, id) {
    const path = logPath(`${id}${ENDINGS.other}`);
    return isDocument(path) && isThere(join(root, ...path)) ? join(root, ...path) : null;
  },
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
  const projects = Object.entries(getObject(objectBelow(root, ["projects.json"]), "projects"));
  return projects.find(([, name]) => name === project)?.[0] ?? null;
}

/** The file of a session has the first characters of its id; null unless there is just one. */
function parentOf(root: string, project: string, session: string): string | null {
  const chats = ["tmp", project, "chats"];
  const ending = `-${session.slice(0, PARENT_CHARS)}.jsonl`;
  const found = namesOrNone(join(root, ...chats)).filter((name) => name.endsWith(ending));
  return found.length === 1 ? idAt([...chats, ...found]) : null;
}

/** How old a session may be before Gemini CLI deletes it at its next start. Null: any age. */
export function retention(root: string): Retention | null {
  const general = getObject(objectBelow(root, ["settings.json"]), "general");
  const set = getObject(general, "sessionRetention");
  if (get(set, "enabled") === false) return null;
  const age = getString(set, "maxAge") ?? AGE_DEFAULT;
  const [, count = "", unit = ""] = /^(\d+)([hdwm])$/.exec(age) ?? [];
  const days = Number(count) * (DAYS[unit] ?? Number.NaN);
  if (!(days > 0)) return null; // Gemini CLI refuses the setting, and deletes nothing.
  return { days, setting: `general.sessionRetention.maxAge in ${root}/settings.json` };
}

/** A document that is not JSON is left as it is, and its lines are bad. */
export const convert: Convert = (root, path) =>
  isDocument(path) ? convertedDocument(root, path, "messages") : null;
