/**
 * Program formats: tells the files of other programs by what they begin with.
 *
 * For messages to people, and for telling another program's file from a damaged one of ours. These
 * rules do not read sessions. A rule requires keys that only its program writes together: an
 * unrecognised file is better than a wrong name.
 */

import { get, getString, has, isObject, type JsonObject } from "./shared/fields.ts";

/** The readable formats, for messages about unreadable ones. */
export const SUPPORTED =
  "Verbatim reads its own sessions (`verbatim`, `sdk`, `streams`), rye threads, HomeAgent sessions, " +
  "Entire and Claude Code transcripts, pi sessions, Codex rollouts, " +
  "OpenClaw, Copilot CLI and Droid sessions, Cursor agent transcripts, " +
  "Gemini CLI, Qwen Code, Kimi, Grok, Antigravity, OpenCode and Goose sessions";

export interface Format {
  /** As in "this is …". */
  readonly name: string;
  /** Whether this program wrote a parsed line. */
  readonly line?: (value: JsonObject) => boolean;
  /**
   * Whether this program wrote a file that begins with this text; for files that are not JSON
   * lines.
   */
  readonly head?: (text: string) => boolean;
}

const CODEX_TYPES = /^(session_meta|turn_context|response_item|event_msg|compacted|world_state)$/;
const COPILOT_TYPES = /^(session|user|assistant|tool|system|hook|subagent|abort)\.[a-z_.]+$/;

/** Formats of other programs. The first match names the file. */
export const OTHER_FORMATS: readonly Format[] = [
  {
    name: "a Codex rollout",
    line: (line) =>
      (CODEX_TYPES.test(getString(line, "type") ?? "") && isObject(get(line, "payload"))) ||
      getString(line, "record_type") === "state",
  },
  {
    name: "a Copilot CLI session",
    line: (line) =>
      COPILOT_TYPES.test(getString(line, "type") ?? "") && isObject(get(line, "data")),
  },
  {
    name: "a Gemini CLI chat",
    line: (line) => isText(line, "sessionId", "projectHash") || isObject(get(line, "$set")),
    head: (text) => /^\s*\{/.test(text) && /"projectHash"\s*:/.test(text),
  },
  {
    name: "a Qwen Code chat",
    line: (line) => {
      const message = get(line, "message");
      if (!isText(line, "sessionId", "uuid") || !isObject(message)) return false;
      return Array.isArray(get(message, "parts")) && !has(message, "content");
    },
  },
  {
    name: "a pi or OpenClaw session",
    line: (line) => getString(line, "type") === "session" && isText(line, "id", "timestamp", "cwd"),
  },
  {
    name: "a Droid session",
    line: (line) => getString(line, "type") === "session_start" && isText(line, "id", "title"),
  },
  {
    name: "a Kimi CLI session",
    line: (line) => getString(line, "type") === "metadata" && isText(line, "protocol_version"),
  },
  {
    name: "a Grok CLI chat",
    line: (line) => isText(line, "model_id", "model_fingerprint") || has(line, "prompt_index"),
  },
  {
    name: "an Antigravity session",
    line: (line) => has(line, "step_index") && isText(line, "source", "type", "status"),
  },
  {
    name: "a Cursor agent transcript",
    line: (line) => {
      const message = get(line, "message");
      const isSaid = /^(user|assistant)$/.test(getString(line, "role") ?? "");
      return isSaid && !has(line, "type") && isObject(message) && has(message, "content");
    },
  },
  {
    name: "an opencode file",
    line: (line) =>
      (isText(line, "sessionID") && (isText(line, "role") || isText(line, "messageID"))) ||
      isText(line, "projectID", "directory") ||
      isText(line, "messageID", "callID"),
    head: (text) => /^\s*\{\s*"info"\s*:/.test(text) && /"projectID"\s*:/.test(text),
  },
  {
    name: "an Entire normalised transcript (ETF)",
    line: (line) => get(line, "v") === 1 && isText(line, "type") && has(line, "content"),
  },
  {
    name: "a Cline task",
    head: (text) => /^\s*\[\s*\{\s*"(role|ts)"\s*:/.test(text),
  },
  { name: "an aider chat history", head: (text) => /^\s*# aider chat started at /.test(text) },
  {
    name: "an SQLite database. Name a session of OpenCode or Goose by its id; `verbatim ls` lists them",
    head: (text) => text.startsWith("SQLite format 3\0"),
  },
  {
    name: "a zstd-compressed file; Codex compresses old rollouts",
    head: (text) => text.startsWith("\x28\xb5\x2f\xfd"),
  },
  { name: "a gzip-compressed file", head: (text) => text.startsWith("\x1f\x8b") },
];

/** Whether a line certainly is another program's, whose messages no dialect reads. */
export function isOthersLine(value: unknown): boolean {
  return isObject(value) && OTHER_FORMATS.some(({ line }) => line?.(value) === true);
}

function isText(line: JsonObject, ...keys: readonly string[]): boolean {
  return keys.every((key) => typeof get(line, key) === "string");
}
