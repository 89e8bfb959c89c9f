/** Tools of Cursor, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  ...{ run_terminal_cmd: "command", Shell: "command", Bash: "command" },
  ...{ read_file: "read", Read: "read", edit_file: "edit", search_replace: "edit" },
  ...{ StrReplace: "edit", ApplyPatch: "edit", write: "write", Write: "write" },
  codebase_search: "search",
  grep_search: { kind: "search", verb: "Grep" },
  file_search: { kind: "search", verb: "Find" },
  ...{ list_dir: "list", LS: "list", todo_write: "plan", TodoWrite: "plan" },
  ...{ Agent: "agent", Task: "agent", web_search: "web_search", WebFetch: "fetch" },
};
