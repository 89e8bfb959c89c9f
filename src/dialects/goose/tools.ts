/** Tools of goose: each has the name of its extension before its own, by kind (tool-table.ts). */

import type { ToolRule, ToolTable } from "../tool-table.ts";

/** One tool that views, writes and edits. */
const TEXT_EDITOR: ToolRule = {
  kind: "edit",
  by: { field: "command", kinds: { view: "read", write: "write", create: "write" } },
};

export const tools: ToolTable = {
  ...{ developer__shell: "command", shell: "command" },
  ...{ developer__text_editor: TEXT_EDITOR, text_editor: TEXT_EDITOR },
  developer__image_processor: { kind: "read", verb: "Look at" },
  ...{ todo__todo_write: "plan", todo_write: "plan" },
  subagent__execute_task: "agent",
  dynamic_task__create_task: "agent",
  computercontroller__web_scrape: "fetch",
};
