/** Tools of opencode, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  ...{ bash: "command", read: "read", write: "write", edit: "edit", multiedit: "edit" },
  ...{ patch: "edit", apply_patch: "edit" },
  grep: { kind: "search", verb: "Grep" },
  glob: { kind: "search", verb: "Glob" },
  codesearch: { kind: "search", subject: ["query"] },
  ...{ list: "list", todowrite: "plan", todoread: "plan", task: "agent" },
  ...{ webfetch: "fetch", websearch: "web_search" },
  skill: { kind: "other", verb: "Skill", subject: ["name"] },
};
