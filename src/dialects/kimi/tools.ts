/** Tools of Kimi CLI, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  ...{ Bash: "command", Shell: "command", Read: "read", ReadFile: "read" },
  ...{ Write: "write", WriteFile: "write", Edit: "edit", StrReplaceFile: "edit" },
  ...{ SetTodoList: "plan", TodoList: "plan", Task: "agent", Agent: "agent" },
  ExitPlanMode: { kind: "plan", subject: ["plan"] },
  ...{ FetchURL: "fetch", SearchWeb: "web_search" },
};
