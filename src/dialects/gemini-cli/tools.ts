/** Tools of Gemini CLI, and of Qwen Code, which began as a copy of it, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  run_shell_command: "command",
  ...{ read_file: "read", read_many_files: { kind: "read", subject: ["paths", "include"] } },
  ...{ write_file: "write", replace: "edit", edit: "edit" },
  search_file_content: { kind: "search", verb: "Grep" },
  grep_search: { kind: "search", verb: "Grep" },
  glob: { kind: "search", verb: "Glob" },
  ...{ list_directory: "list", write_todos: "plan", todo_write: "plan" },
  exit_plan_mode: { kind: "plan", subject: ["plan"] },
  delegate_to_agent: { kind: "agent", subject: ["objective", "agent_name"] },
  codebase_investigator: { kind: "agent", subject: ["objective"] },
  invoke_agent: { kind: "agent", subject: ["prompt", "agent_name"] },
  task: "agent",
  agent: "agent",
  web_fetch: { kind: "fetch", subject: ["url", "prompt"] },
  ...{ google_web_search: "web_search", web_search: "web_search" },
  save_memory: { kind: "other", verb: "Remember", subject: ["fact"] },
  complete_task: { kind: "other", verb: "Done", subject: ["response", "result"] },
  update_topic: { kind: "other", verb: "Topic", subject: ["title", "strategic_intent"] },
};
