/** Tools of Grok, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  ...{ run_terminal_cmd: "command", read_file: "read", search_replace: "edit" },
  ...{ create_file: "write", write: "write", list_dir: "list", todo_write: "plan" },
  grep: { kind: "search", verb: "Grep" },
  ...{ web_search: "web_search", web_fetch: "fetch", spawn_subagent: "agent" },
};
