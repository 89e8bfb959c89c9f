/** Sessions that start subagents, as agents write them. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const PARENT = "6f1c0000-0000-4000-8000-000000000001";
const AT = "2026-02-07T22:04:0";

type Row = Readonly<Record<string, unknown>>;

export function putRows(path: string, rows: readonly unknown[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

function claudeRow(n: number, session: string, role: string, content: unknown, more: Row = {}) {
  const place = { sessionId: session, cwd: "/home/me/app", gitBranch: "main", version: "2.1.33" };
  const id = {
    type: role,
    uuid: `${session}-${n}`,
    parentUuid: n === 0 ? null : `${session}-${n - 1}`,
  };
  return { ...id, ...place, timestamp: `${AT}${n % 10}.000Z`, message: { role, content }, ...more };
}

const task = (id: string, prompt: string, name = "Task") => ({
  type: "tool_use",
  id,
  name,
  input: { description: `Do ${id}`, prompt },
});
const answer = (id: string, content: string) => ({ type: "tool_result", tool_use_id: id, content });
const text = (said: string) => [{ type: "text", text: said }];

/**
 * Claude Code's: a session whose call names its agent, a call that still runs (known by its prompt),
 * and one whose agent left no log.
 */
export function putClaudeAgents(home: string, said = "## Found\n\nIt is in `src/days.ts`."): void {
  const project = join(home, ".claude/projects/-home-me-app");
  const rows = [
    claudeRow(0, PARENT, "user", "Look into the days"),
    claudeRow(1, PARENT, "assistant", [
      task("toolu_1", "Find the function"),
      task("toolu_2", "Fix it now"),
    ]),
    claudeRow(2, PARENT, "user", [answer("toolu_1", said)], {
      toolUseResult: { status: "completed", agentId: "a1", content: text(said) },
    }),
    claudeRow(3, PARENT, "assistant", [task("toolu_3", "Left no log")]),
    claudeRow(4, PARENT, "user", [answer("toolu_3", "Nothing")]),
    claudeRow(5, PARENT, "assistant", text("All is found.")),
  ];
  putRows(join(project, `${PARENT}.jsonl`), rows);
  for (const [agent, prompt] of [
    ["a1", "Find the function"],
    ["a2", "Fix it now"],
  ] as const) {
    const side = { isSidechain: true, agentId: agent };
    const read = {
      type: "tool_use",
      id: `r${agent}`,
      name: "Read",
      input: { file_path: "/home/me/app/src/days.ts" },
    };
    putRows(join(project, PARENT, "subagents", `agent-${agent}.jsonl`), [
      claudeRow(0, PARENT, "user", prompt, side),
      claudeRow(1, PARENT, "assistant", [read], side),
      claudeRow(2, PARENT, "user", [answer(`r${agent}`, "     1→const days = 7;")], side),
      claudeRow(3, PARENT, "assistant", text(said), side),
    ]);
  }
}

export const SIDECHAIN = "6f1c0000-0000-4000-8000-000000000002";

/** Older Claude Code: the agent's rows are in the log of the session that started it. */
export function putSidechain(home: string, turns = 2): void {
  const side = (n: number, role: string, content: unknown) => ({
    ...claudeRow(n, `${SIDECHAIN}-s`, role, content),
    sessionId: SIDECHAIN,
    isSidechain: true,
  });
  const said = Array.from({ length: turns }, (_, n) => [
    side(2 * n + 1, "assistant", text(`**Step ${n + 1}** of the search`)),
    side(2 * n + 2, "user", text("Go on")),
  ]).flat();
  putRows(join(home, `.claude/projects/-home-me-app/${SIDECHAIN}.jsonl`), [
    claudeRow(0, SIDECHAIN, "user", "Search the house"),
    claudeRow(1, SIDECHAIN, "assistant", [task("toolu_9", "Search all rooms")]),
    side(0, "user", "Search all rooms"),
    ...said,
    claudeRow(2, SIDECHAIN, "user", [answer("toolu_9", "Nothing in the rooms")]),
    claudeRow(3, SIDECHAIN, "assistant", text("The house is empty.")),
  ]);
}

/** Codex's: the result of `spawn_agent` names the thread. */
export function putCodexAgents(home: string): { readonly parent: string; readonly child: string } {
  const [parent, child] = [
    "019c3a00-0000-7000-8000-000000000001",
    "019c3a00-0000-7000-8000-000000000002",
  ];
  const folder = join(home, ".codex/sessions/2026/02/07");
  const row = (type: string, payload: Row) => ({ timestamp: `${AT}1.000Z`, type, payload });
  const meta = (id: string, more: Row = {}) =>
    row("session_meta", {
      id,
      timestamp: `${AT}0.000Z`,
      cwd: "/home/me/app",
      originator: "codex_cli_rs",
      cli_version: "0.166.0",
      ...more,
    });
  const says = (role: string, kind: string, said: string) =>
    row("response_item", { type: "message", role, content: [{ type: kind, text: said }] });
  putRows(join(folder, `rollout-2026-02-07T22-04-00-${parent}.jsonl`), [
    meta(parent),
    says("user", "input_text", "Delegate it"),
    row("response_item", {
      type: "function_call",
      name: "spawn_agent",
      call_id: "call_1",
      arguments: JSON.stringify({ message: "Count the lines" }),
    }),
    row("response_item", {
      type: "function_call_output",
      call_id: "call_1",
      output: JSON.stringify({ agent_id: child }),
    }),
  ]);
  putRows(join(folder, `rollout-2026-02-07T22-04-01-${child}.jsonl`), [
    meta(child, { source: { subagent: { thread_spawn: { parent_thread_id: parent, depth: 1 } } } }),
    says("user", "input_text", "Count the lines of it"),
    says("assistant", "output_text", "There are **three** lines."),
  ]);
  return { parent, child };
}

/** Copilot CLI's: events of a subagent name the call. */
export function putCopilotAgents(home: string): void {
  const event = (n: number, type: string, data: Row) => ({
    type,
    data,
    id: `e${n}`,
    timestamp: `${AT}${n}.000Z`,
    parentId: n === 0 ? null : `e${n - 1}`,
  });
  const asked = {
    toolCallId: "c1",
    name: "task",
    arguments: { prompt: "Look around" },
    type: "function",
  };
  putRows(join(home, ".copilot/session-state/6f1c0000-0000-4000-8000-000000000003/events.jsonl"), [
    event(0, "session.start", {
      sessionId: "6f1c0000-0000-4000-8000-000000000003",
      version: 1,
      producer: "copilot-agent",
      context: { cwd: "/home/me/app" },
    }),
    event(1, "user.message", { content: "Please look", attachments: [] }),
    event(2, "assistant.message", { messageId: "m1", content: "", toolRequests: [asked] }),
    event(3, "assistant.message", {
      messageId: "m2",
      content: "I look *around*.",
      toolRequests: [],
      parentToolCallId: "c1",
    }),
    event(4, "tool.execution_complete", {
      toolCallId: "c1",
      success: true,
      result: { content: "Seen" },
    }),
    event(5, "assistant.message", { messageId: "m3", content: "Done.", toolRequests: [] }),
  ]);
}
