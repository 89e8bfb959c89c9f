/** cursor: the transcripts of Cursor's agents. Page: docs/formats/cursor.md. */

import type { Native } from "../../core/model/entry.ts";
import { type Entry, emptyEntry, type Part } from "../../core/model/entry.ts";
import { partsOf } from "../entire/blocks.ts";
import { timestampOf } from "../entire/decode.ts";
import type { DecodedValue, SessionDetails } from "../facets/reading.ts";
import { readerDialect } from "../reader.ts";
import { get, getObject, getString, has, isObject, type JsonObject } from "../shared/fields.ts";
import { eitherPathIds, lastSegment, type PathIds, pathIds } from "../shared/path-ids.ts";
import type { ToolTable } from "../tool-table.ts";

/**
 * Session ids: the path below `projects`, without the ending.
 *
 *     projects/<project>/agent-transcripts/<id>/<id>.jsonl
 *     projects/<project>/agent-transcripts/<id>/subagents/<id>.jsonl
 *     projects/<project>/agent-transcripts/<id>.jsonl                   older versions
 */

const FOLDER = "agent-transcripts";
const at = (...deeper: readonly (string | null)[]): PathIds =>
  pathIds({ under: ["projects"], levels: [null, FOLDER, ...deeper], ending: ".jsonl" });
const [nested, subagents, flat] = [at(null), at(null, "subagents"), at()];

const { logPath, idAt, layout } = eitherPathIds([nested, subagents, flat], (id) => {
  const depth = id.split("/").length;
  return depth > 4 ? subagents : depth === 4 ? nested : flat;
});

const nameOf = lastSegment;

/** The session that started a subagent. */
function parentOf(id: string): string | null {
  const [project, folder, session, below] = id.split("/");
  const isSubagents = below === "subagents" && id.split("/").length === 5;
  return isSubagents ? `${project}/${folder}/${session}/${session}` : null;
}

/**
 * The directory of a session's project, where a path in it is known: the directory's name in
 * `projects` is the path with `-` for all but letters and digits, so the path says which they were.
 */
function projectAbove(id: string, path: string): string | null {
  const wanted = plain(id.split("/")[0] ?? "");
  if (!path.startsWith("/") || path.length > PATH_CHARS_MAX || wanted === "") return null;
  const segments = path.split("/");
  for (let end = segments.length; end > 1; end--) {
    const above = segments.slice(0, end).join("/");
    if (plain(above) === wanted) return above;
  }
  return null;
}

const PATH_CHARS_MAX = 4096;

function plain(path: string): string {
  return path.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

/**
 * Decode: maps a row of Cursor's agent transcripts to an entry.
 *
 * Rows have a role and Anthropic's blocks, mostly without ids. Refuses only what is not a row at
 * all. Unknown rows and blocks become `other`.
 */

function decode(value: unknown): DecodedValue {
  if (!isObject(value)) return { entry: null, fault: "not an object" };
  const role = getString(value, "role");
  if (role === null && getString(value, "type") === null) {
    return { entry: null, fault: "neither role nor type is a string" };
  }
  const entry = { ...emptyEntry(value), at: timestampOf(get(value, "timestamp")) };
  return { entry: { ...entry, ...rowOf(value, role) }, fault: null };
}

function rowOf(row: JsonObject, role: string | null): Partial<Entry> {
  if (get(row, "type") === "turn_ended") return { kind: "turn_end" };
  const message = get(row, "message");
  if (!isObject(message) || (role !== "user" && role !== "assistant" && role !== "system")) {
    return {};
  }
  const parts = blocksIn(get(message, "content"));
  const isResults = parts.length > 0 && parts.every(({ type }) => type === "tool_result");
  return {
    kind: "message",
    role: role === "user" && isResults ? "tool" : role,
    parts,
    model: role === "assistant" ? (getString(row, "model") ?? getString(message, "model")) : null,
  };
}

function blocksIn(content: unknown): Part[] {
  if (!Array.isArray(content)) return partsOf(content);
  return content.flatMap((block: unknown) => partsOf([isObject(block) ? named(block) : block]));
}

/** Cursor's own names of blocks, as Anthropic calls them. A block that is unknown stays as it is. */
function named(block: JsonObject): JsonObject {
  switch (get(block, "type")) {
    case "tool_call":
    case "tool-call":
      return getString(block, "name") === null ? block : { ...block, type: "tool_use" };
    case "tool-result":
      return { ...block, type: "tool_result" };
    default:
      return block;
  }
}

/** The texts in the inputs of a row's tool calls, such as paths. */
function inputsIn(row: JsonObject): string[] {
  const content = get(getObject(row, "message"), "content");
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) => {
    const input = isObject(block) ? getObject(block, "input") : {};
    return Object.values(input).filter((value) => typeof value === "string");
  });
}

/** Tools of Cursor, by kind (tool-table.ts). */
const tools: ToolTable = {
  run_terminal_cmd: "command",
  Shell: "command",
  Bash: "command",
  read_file: "read",
  Read: "read",
  edit_file: "edit",
  search_replace: "edit",
  StrReplace: "edit",
  ApplyPatch: "edit",
  write: "write",
  Write: "write",
  codebase_search: "search",
  grep_search: { kind: "search", verb: "Grep" },
  file_search: { kind: "search", verb: "Find" },
  list_dir: "list",
  LS: "list",
  todo_write: "plan",
  TodoWrite: "plan",
  Agent: "agent",
  Task: "agent",
  web_search: "web_search",
  WebFetch: "fetch",
};

export const cursor = readerDialect("cursor", {
  naming: {
    layout,
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    decode,
    isOwn,
    about,
    tools,
  },
  program: {
    resume: (name) => `cursor-agent --resume ${name}`,
  },
});

function isOwn(value: unknown): boolean {
  if (!isObject(value) || has(value, "type")) return false;
  const message = get(value, "message");
  const isSaid = /^(?:user|assistant)$/.test(getString(value, "role") ?? "");
  return isSaid && isObject(message) && has(message, "content");
}

/** Rows name no directory, but calls name files in it. */
function about(row: Native, id: string): SessionDetails | null {
  const parent = parentOf(id) ?? "";
  for (const text of get(row, "role") === "assistant" ? inputsIn(row) : []) {
    const cwd = projectAbove(id, text);
    if (cwd !== null) return { cwd, parent };
  }
  return parent === "" ? null : { parent };
}
