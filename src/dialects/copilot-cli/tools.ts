/** Tools of Copilot CLI, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  ...{ bash: "command", powershell: "command", shell: "command" },
  read_bash: { kind: "command", verb: "Output of", subject: ["sessionId"] },
  write_bash: { kind: "command", verb: "Input", subject: ["input"] },
  ...{ view: "read", create: "write", edit: "edit", apply_patch: "edit" },
  str_replace_editor: {
    kind: "edit",
    by: { field: "command", kinds: { view: "read", create: "write" } },
  },
  grep: { kind: "search", verb: "Grep" },
  rg: { kind: "search", verb: "Grep" },
  glob: { kind: "search", verb: "Glob" },
  ...{ update_todo: "plan", task: "agent", web_fetch: "fetch", web_search: "web_search" },
  report_intent: { kind: "other", verb: "Intends", subject: ["intent"] },
  task_complete: { kind: "other", verb: "Done", subject: ["summary"] },
};
