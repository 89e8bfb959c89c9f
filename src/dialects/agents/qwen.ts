/** qwen: the sessions that Qwen Code keeps in the user's home. Page: docs/formats/qwen.md. */

import type { Native } from "../../core/model/entry.ts";
import { type Entry, emptyEntry, type Part, type Speaker } from "../../core/model/entry.ts";
import { timestampOf } from "../entire/decode.ts";
import { diffViews, type ResultView, type SessionDetails } from "../facets/reading.ts";
import type { TakingBack } from "../facets/turns.ts";
import { readerDialect } from "../reader.ts";
import { rowDecoder } from "../shared/entry-parts.ts";
import { get, getObject, getString, has, isObject, type JsonObject } from "../shared/fields.ts";
import { googleParts, googleUsage } from "../shared/google-parts.ts";
import { eitherPathIds, lastSegment, pathIds } from "../shared/path-ids.ts";
import { tools } from "./gemini-cli/dialect.ts";

/**
 * Session ids: the path below `projects`.
 *
 *     projects/<project>/chats/<session>.jsonl
 *     projects/<project>/chats/archive/<session>.jsonl
 *     projects/<project>/subagents/<session>/agent-<id>.jsonl
 */

const [under, ending] = [["projects"], ".jsonl"];
/**
 * Mostly a UUID, but any name is a session's. Other logs in the directory
 * have an ending more, such as `<session>.ledger.jsonl`.
 */
const isName = (name: string) => !name.includes(".");
const chats = pathIds({ under, levels: [null, "chats"], ending, isName });
const archived = pathIds({ under, levels: [null, "chats", "archive"], ending, isName });
const subagents = pathIds({ under, levels: [null, "subagents", null], ending });

const nameOf = lastSegment;
const { logPath, idAt, layout } = eitherPathIds([chats, archived, subagents], (id) => {
  if (isSubagent(id)) return subagents;
  return id.split("/").length > 3 ? archived : chats;
});

function isSubagent(id: string): boolean {
  return id.split("/")[1] === "subagents";
}

/** The session that started this one; `said` is the one that a row names. */
function parentOf(id: string, said: string | null): string | null {
  const [project, , session] = id.split("/");
  if (isSubagent(id)) return `${project}/chats/${session}`;
  return said === null ? null : `${project}/chats/${said}`;
}

/**
 * Decode: maps a row of Qwen Code to an entry.
 *
 * Every object is an entry; what is not a message is `other`.
 */

/** Subtypes of a user's row that no person typed. */
const SPEAKERS: Readonly<Record<string, Speaker>> = {
  notification: "program",
  cron: "program",
  goal_state: "program",
  goal_runtime: "program",
  agent_bootstrap: "agent",
  agent_launch_prompt: "agent",
};

export const decode = rowDecoder(entryOf);

function entryOf(row: JsonObject): Entry {
  const entry: Entry = { ...emptyEntry(row), at: timestampOf(get(row, "timestamp")) };
  const message = get(row, "message");
  if (!isObject(message)) return entry;
  const said: Entry = { ...entry, kind: "message", parts: googleParts(get(message, "parts")) };
  switch (get(row, "type")) {
    case "user":
      return userEntry(said);
    case "assistant": {
      const usage = googleUsage(get(row, "usageMetadata"));
      return { ...said, role: "assistant", model: getString(row, "model"), usage };
    }
    case "tool_result":
      return { ...said, role: "tool", parts: said.parts.map((part) => resultOf(row, part)) };
    default:
      return entry;
  }
}

function userEntry(said: Entry): Entry {
  const by = speakerOf(said.native);
  return { ...said, role: "user", ...(by === null ? {} : { saidBy: by }) };
}

function speakerOf(row: JsonObject): Speaker | null {
  const subtype = getString(row, "subtype") ?? "";
  if (Object.hasOwn(SPEAKERS, subtype)) return SPEAKERS[subtype] ?? null;
  const from = getString(row, "provenance");
  return from?.startsWith("goal_") ? "program" : null;
}

function isProgramsPrompt(row: Native): boolean {
  return get(row, "type") === "user" && speakerOf(row) === "program";
}

/** Whether the call failed is next to the message. */
function resultOf(row: JsonObject, part: Part): Part {
  const status = getString(getObject(row, "toolCallResult"), "status");
  const isFailed = status === "error" || status === "cancelled";
  if (part.type !== "tool_result" || part.error !== null || !isFailed) return part;
  return { ...part, error: status };
}

/** Whether a row certainly is Qwen Code's: it stores Google's parts in Claude Code's envelope. */
export function isOwn(value: unknown): boolean {
  if (!isObject(value) || getString(value, "sessionId") === null) return false;
  if (getString(value, "uuid") === null) return false;
  const message = get(value, "message");
  if (!isObject(message)) return has(value, "systemPayload");
  return Array.isArray(get(message, "parts")) && !has(message, "content");
}

export function about(row: Native, id: string): SessionDetails | null {
  const [cwd, branch] = [getString(row, "cwd"), getString(row, "gitBranch")];
  const payload = getObject(row, "systemPayload");
  const title = get(row, "subtype") === "custom_title" ? getString(payload, "customTitle") : null;
  const parent = parentOf(id, getString(payload, "parentSessionId"));
  return {
    ...(cwd === null ? {} : { cwd }),
    ...(branch === null ? {} : { branch }),
    ...(title === null ? {} : { title }),
    ...(parent === null ? {} : { parent }),
  };
}

/** A row's `parentUuid`; the first row has none. */
const parentIn = (row: Native) => getString(row, "parentUuid") ?? "";
const isRewind = (row: Native) => get(row, "subtype") === "rewind";

/**
 * Rows name the row before them. After a rewind, the next one names the last row that still counts:
 * the first row that named it, and all after that, are taken back.
 */
export const takingBack: TakingBack = {
  says: (row) => getString(row, "uuid") !== null && !isRewind(row),
  takesBack: (row) => (isRewind(row) ? 0 : null),
  idOf: parentIn,
  backTo: (row) => (isRewind(row) ? parentIn(row) : null),
};

/** The diff that Qwen Code shows of an edit. */
function resultViews(row: Native): ResultView[] {
  const result = getObject(row, "toolCallResult");
  const diff = getString(getObject(result, "resultDisplay"), "fileDiff");
  return diffViews(getString(result, "callId"), diff);
}

export const qwen = readerDialect("qwen", {
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
    asideOf: (row, id, isSubagents = id !== null && isSubagent(id)) =>
      get(row, "isSidechain") === true && !isSubagents ? "other_agent" : null,
    isProgramsPrompt,
    tools,
    resultViews,
  },
  turns: {
    takingBack,
  },
  program: {
    resume: (name) => `qwen --resume ${name}`,
  },
});
