/** Tools of Claude Code and the Agent SDK, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  Bash: "command",
  KillShell: { kind: "command", verb: "Kill", subject: ["shell_id"] },
  BashOutput: { kind: "command", verb: "Output of", subject: ["bash_id"] },
  Read: "read",
  NotebookRead: "read",
  Write: "write",
  Edit: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  Grep: { kind: "search", verb: "Grep" },
  Glob: { kind: "search", verb: "Glob" },
  LS: "list",
  TodoWrite: "plan",
  TaskCreate: { kind: "plan", verb: "New task", subject: ["subject"] },
  TaskUpdate: { kind: "plan", verb: "Task", subject: ["taskId"] },
  ExitPlanMode: { kind: "plan", subject: ["plan"] },
  Task: "agent",
  Agent: "agent",
  WebFetch: "fetch",
  WebSearch: "web_search",
  Skill: { kind: "other", verb: "Skill", subject: ["skill", "command"] },
  SlashCommand: { kind: "other", verb: "Command", subject: ["command"] },
  AskUserQuestion: { kind: "other", verb: "Asks" },
};
