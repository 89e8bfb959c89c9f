/** copilot-cli: the sessions of GitHub Copilot CLI. Page: docs/formats/copilot-cli.md. */

import type { Native } from "../../../core/model/entry.ts";
import type { SessionDetails, SubagentRows, Subagents } from "../../facets/reading.ts";
import { readerDialect } from "../../reader.ts";
import { get, getObject, getString } from "../../shared/fields.ts";
import { eitherPathIds, pathIds } from "../../shared/path-ids.ts";
import type { ToolTable } from "../../tool-table.ts";
import { agentIn, decode, isEvent, Runs, resultViews } from "./decode.ts";

/**
 * Session ids: the path below `session-state`, without the ending.
 *
 *     session-state/<uuid>/events.jsonl
 *     session-state/<uuid>.jsonl           older versions
 */

const [under, ending] = [["session-state"], ".jsonl"];
const nested = pathIds({ under, levels: [null], ending, isName: (name) => name === "events" });
const flat = pathIds({ under, levels: [], ending });

const { logPath, idAt, layout } = eitherPathIds([nested, flat], (id) =>
  id.includes("/") ? nested : flat,
);

/** The session's uuid. */
function nameOf(id: string): string {
  return id.split("/")[0] ?? id;
}

/**
 * Subagents: Copilot CLI writes what a subagent does into the log of its session. Events name the
 * call that started it, or the agent, which an earlier event names together with the call.
 */
const AGENTS_MAX = 1_000;

const subagents: Subagents = {
  rows(): SubagentRows {
    const calls = new Map<string, string>();
    return {
      callOf({ native }) {
        const data = getObject(native, "data");
        const agent = getString(native, "agentId");
        const isStart = getString(native, "type") === "subagent.started";
        const call = isStart ? getString(data, "toolCallId") : getString(data, "parentToolCallId");
        if (agent && call && calls.size < AGENTS_MAX) calls.set(agent, call);
        return isStart ? null : (call ?? calls.get(agent ?? "") ?? null);
      },
    };
  },
};

/** Tools of Copilot CLI, by kind (tool-table.ts). */
const tools: ToolTable = {
  bash: "command",
  powershell: "command",
  shell: "command",
  read_bash: { kind: "command", verb: "Output of", subject: ["sessionId"] },
  write_bash: { kind: "command", verb: "Input", subject: ["input"] },
  view: "read",
  create: "write",
  edit: "edit",
  apply_patch: "edit",
  str_replace_editor: {
    kind: "edit",
    by: { field: "command", kinds: { view: "read", create: "write" } },
  },
  grep: { kind: "search", verb: "Grep" },
  rg: { kind: "search", verb: "Grep" },
  glob: { kind: "search", verb: "Glob" },
  update_todo: "plan",
  task: "agent",
  web_fetch: "fetch",
  web_search: "web_search",
  report_intent: { kind: "other", verb: "Intends", subject: ["intent"] },
  task_complete: { kind: "other", verb: "Done", subject: ["summary"] },
};

/** Events that may be a program's text in the user's role. */
const ADDED_TYPES: readonly unknown[] = [
  "user.message",
  "system.notification",
  "session.compaction_complete",
];

export const copilotCli = readerDialect("copilot-cli", {
  naming: {
    layout,
    logPath,
    idAt,
    nameOf,
  },
  reading: {
    decode,
    isOwn: isEvent,
    about,
    asideOf: (event) => (agentIn(event) === null ? null : "other_agent"),
    isProgramsPrompt(event) {
      if (!ADDED_TYPES.includes(get(event, "type"))) return false;
      const by = decode(event).entry?.saidBy;
      return by === "program" || by === "summary";
    },
    remembers: (state) => new Runs(state),
    tools,
    resultViews,
    subagents,
  },
  turns: {
    compaction: {
      isSummary: (event) => decode(event).entry?.saidBy === "summary",
      isBoundary: () => false,
      keptBy: () => new Set(),
    },
  },
  program: {
    resume: (name) => `copilot --resume ${name}`,
  },
});

function about(event: Native): SessionDetails | null {
  const data = getObject(event, "data");
  switch (get(event, "type")) {
    case "session.start":
    case "session.resume": {
      const context = getObject(data, "context");
      return { cwd: getString(context, "cwd") ?? "", branch: getString(context, "branch") ?? "" };
    }
    case "session.context_changed":
      return { cwd: getString(data, "cwd") ?? "", branch: getString(data, "branch") ?? "" };
    case "session.title_changed":
      return { title: getString(data, "title") ?? "" };
    default:
      return null;
  }
}
