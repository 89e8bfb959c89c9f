/** codex: the rollouts that Codex keeps in the user's home. Page: docs/formats/codex.md. */

import type { Native } from "../../../core/model/entry.ts";
import {
  DIFF_CHARS_MAX,
  diffViews,
  type ResultView,
  type Subagents,
} from "../../facets/reading.ts";
import { readerDialect } from "../../reader.ts";
import { get, getObject, getString, isObject, parsedObject } from "../../shared/fields.ts";
import type { ToolRule, ToolTable } from "../../tool-table.ts";
import { idAt, layout, logPath, nameOf, rows, turns } from "./decode.ts";
import { convert, files, logsIn } from "./files.ts";
import { RolloutMemory } from "./memory.ts";

/** Subagents: the result of Codex's `spawn_agent` names the thread that it started. */

/** Longer results are other tools'. */
const CHARS_MAX = 4_000;

const subagents: Subagents = {
  startedIn({ parts }) {
    return parts.flatMap((part) => {
      if (part.type !== "tool_result" || part.callId === null) return [];
      const isShort = typeof part.output === "string" && part.output.length <= CHARS_MAX;
      const said = isShort ? parsedObject(part.output) : null;
      const name = said === null ? null : getString(said, "agent_id");
      return name === null ? [] : [{ callId: part.callId, name }];
    });
  },
};

/**
 * Result views: the diffs of the files that a patch changed, which Codex writes as an event of its
 * own, and where the output of a command begins, after lines about it.
 */
function resultViews(row: Native): ResultView[] {
  const payload = getObject(row, "payload");
  if (get(row, "type") === "event_msg") {
    if (get(payload, "type") !== "patch_apply_end" || get(payload, "success") === false) return [];
    return diffViews(getString(payload, "call_id"), diffOf(getObject(payload, "changes")));
  }
  const [callId, output] = [getString(payload, "call_id"), getString(payload, "output")];
  const textAt = output === null ? 0 : (HEAD.exec(output)?.[0].length ?? 0);
  return callId === null || textAt === 0 ? [] : [{ callId, diff: null, textAt }];
}

/** Lines before a command's output. */
const HEAD =
  /^(?:(?:Exit code|Wall time|Chunk ID|Process |Original token|Total)[^\n]*\n)+Output:\n/;

/** One diff for all files; null if one of them is not known line by line. */
function diffOf(changes: Native): string | null {
  let text = "";
  for (const [file, change] of Object.entries(changes)) {
    const diff = isObject(change) ? getString(change, "unified_diff") : null;
    if (diff === null || text.length > DIFF_CHARS_MAX) return null;
    text += `*** Update File: ${file.replaceAll("\n", " ")}\n${diff.replace(/\n?$/, "\n")}`;
  }
  return text;
}

/** Tools of Codex, by kind (tool-table.ts). */

/** Codex has no tool that reads files: it prints them. */
const SHELL: ToolRule = { kind: "command", readsIn: "workdir" };

const tools: ToolTable = {
  shell: SHELL,
  shell_command: SHELL,
  local_shell: SHELL,
  "container.exec": SHELL,
  exec_command: SHELL,
  exec: SHELL,
  unified_exec: { kind: "command", subject: ["input", "cmd"] },
  write_stdin: { kind: "command", verb: "Input", subject: ["chars", "session_id"] },
  apply_patch: "edit",
  update_plan: "plan",
  web_search: "web_search",
  view_image: { kind: "read", verb: "Look at" },
  read_file: "read",
  list_dir: "list",
  grep_files: { kind: "search", verb: "Grep" },
  spawn_agent: "agent",
  send_input: { kind: "agent", verb: "Tell agent" },
  wait_agent: { kind: "other", verb: "Wait for agent", subject: ["targets"] },
  tool_search: { kind: "search", verb: "Find tool", subject: ["query"] },
};

export const codex = readerDialect("codex", {
  naming: {
    layout: { ...layout, logsIn },
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    ...rows,
    remembers: (state) => new RolloutMemory(state),
    tools,
    resultViews,
    subagents,
  },
  turns,
  files: {
    load: async () => files,
    convert,
  },
  program: {
    resume: (name) => `codex resume ${name}`,
  },
});
