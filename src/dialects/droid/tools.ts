/** Tools of Droid, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  ...{ Execute: "command", Shell: "command", Read: "read", Create: "write" },
  Edit: "edit",
  MultiEdit: "edit",
  ApplyPatch: "edit",
  LS: { kind: "list", path: ["directory_path", "path"] },
  Glob: { kind: "search", verb: "Glob", subject: ["patterns"], path: ["folder"] },
  ...{ TodoWrite: "plan", Task: "agent", FetchUrl: "fetch", WebSearch: "web_search" },
};
