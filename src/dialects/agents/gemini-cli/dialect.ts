/**
 * gemini-cli: the sessions that Gemini CLI keeps in the user's home. Page:
 * docs/formats/gemini-cli.md.
 */

import { join } from "node:path";
import type { DialectFiles } from "../../facets/files.ts";
import type { Retention } from "../../facets/program.ts";
import { type Convert, isThere, logsOnce } from "../../files/converted-host.ts";
import { convertedDocument, objectBelow, textBelow } from "../../files/json-document.ts";
import { namesOrNone } from "../../files/row-lines.ts";
import { readerDialect } from "../../reader.ts";
import { get, getObject, getString } from "../../shared/fields.ts";
import { eitherPathIds, lastSegment, pathIds } from "../../shared/path-ids.ts";
import type { ToolTable } from "../../tool-table.ts";
import { GrowingMessages, rows, turns } from "./decode.ts";

/**
 * Session ids: the path below `tmp`, for files of both formats.
 *
 *     tmp/<project>/chats/session-<time>-<id>.jsonl     <project>/chats/session-<time>-<id>
 *     tmp/<project>/chats/session-<time>-<id>.json      the same, with ".json": older versions
 *     tmp/<project>/chats/<session>/<subagent>.jsonl    a subagent's, below the session's whole id
 *
 * A session that an older version began and a later one continued has both files.
 */

const under = ["tmp"];
const DOCUMENT = ".json";

const isSession = (name: string) => name.startsWith("session-");
const chats = [null, "chats"];
const logs = pathIds({ under, levels: chats, ending: ".jsonl", isName: isSession });
const documents = pathIds({
  under,
  levels: chats,
  ending: "",
  isName: (name) => isSession(name) && name.endsWith(DOCUMENT),
});
const subagents = pathIds({ under, levels: [...chats, null], ending: ".jsonl" });

const nameOf = lastSegment;
const { logPath, idAt, layout } = eitherPathIds([logs, documents, subagents], (id) => {
  if (id.split("/").length > 3) return subagents;
  return id.endsWith(DOCUMENT) ? documents : logs;
});

function isDocument(path: readonly string[]): boolean {
  return documents.idAt(path) !== null;
}

/** The project's directory below `tmp`, and the id of the session that started a subagent. */
function placeOf(id: string): { readonly project: string; readonly parent: string | null } {
  const [project = "", , session = "", subagent] = id.split("/");
  return { project, parent: subagent === undefined ? null : session };
}

/**
 * Project: what Gemini CLI keeps next to its sessions: where the agent worked, which session started
 * another, how long sessions are kept, and the documents of older versions.
 */
const PARENT_CHARS = 8;
const AGE_DEFAULT = "30d";
const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 };
/** A later version that continues a document copies it to a `.jsonl` file, and leaves it there. */
const ENDINGS = { preferred: ".jsonl", other: ".json" };

const logsIn = logsOnce(layout, ENDINGS);

const files: DialectFiles = {
  /** The document that a later version continued as this session; null if there is none. */
  olderFile(root, id) {
    const path = logPath(`${id}${ENDINGS.other}`);
    return isDocument(path) && isThere(join(root, ...path)) ? join(root, ...path) : null;
  },
  standingOf: async (_host, root, id) => {
    const { project, parent } = placeOf(id);
    const cwd = rootOf(root, project);
    return {
      status: null,
      agent: null,
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
function retention(root: string): Retention | null {
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
const convert: Convert = (root, path) =>
  isDocument(path) ? convertedDocument(root, path, "messages") : null;

/** Tools of Gemini CLI, and of Qwen Code, which began as a copy of it, by kind (tool-table.ts). */
export const tools: ToolTable = {
  run_shell_command: "command",
  read_file: "read",
  read_many_files: { kind: "read", subject: ["paths", "include"] },
  write_file: "write",
  replace: "edit",
  edit: "edit",
  search_file_content: { kind: "search", verb: "Grep" },
  grep_search: { kind: "search", verb: "Grep" },
  glob: { kind: "search", verb: "Glob" },
  list_directory: "list",
  write_todos: "plan",
  todo_write: "plan",
  exit_plan_mode: { kind: "plan", subject: ["plan"] },
  delegate_to_agent: { kind: "agent", subject: ["objective", "agent_name"] },
  codebase_investigator: { kind: "agent", subject: ["objective"] },
  invoke_agent: { kind: "agent", subject: ["prompt", "agent_name"] },
  task: "agent",
  agent: "agent",
  web_fetch: { kind: "fetch", subject: ["url", "prompt"] },
  google_web_search: "web_search",
  web_search: "web_search",
  save_memory: { kind: "other", verb: "Remember", subject: ["fact"] },
  complete_task: { kind: "other", verb: "Done", subject: ["response", "result"] },
  update_topic: { kind: "other", verb: "Topic", subject: ["title", "strategic_intent"] },
};

export const geminiCli = readerDialect("gemini-cli", {
  naming: {
    layout: { ...layout, logsIn },
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    ...rows,
    remembers: (state) => new GrowingMessages(state),
    tools,
  },
  turns,
  files: {
    load: async () => files,
    convert,
  },
  program: {
    changes: "rewritten",
    retention,
    lineKey: (row) => getString(row, "id"),
  },
});
