/** Tools of Codex, by kind (tool-table.ts). */

import type { ToolRule, ToolTable } from "../tool-table.ts";

/** Codex has no tool that reads files: it prints them. */
const SHELL: ToolRule = { kind: "command", readsIn: "workdir" };

export const tools: ToolTable = {
  ...{ shell: SHELL, shell_command: SHELL, local_shell: SHELL, "container.exec": SHELL },
  ...{ exec_command: SHELL, exec: SHELL },
  unified_exec: { kind: "command", subject: ["input", "cmd"] },
  write_stdin: { kind: "command", verb: "Input", subject: ["chars", "session_id"] },
  ...{ apply_patch: "edit", update_plan: "plan", web_search: "web_search" },
  view_image: { kind: "read", verb: "Look at" },
  ...{ read_file: "read", list_dir: "list", grep_files: { kind: "search", verb: "Grep" } },
  ...{ spawn_agent: "agent", send_input: { kind: "agent", verb: "Tell agent" } },
  wait_agent: { kind: "other", verb: "Wait for agent", subject: ["targets"] },
  tool_search: { kind: "search", verb: "Find tool", subject: ["query"] },
};
