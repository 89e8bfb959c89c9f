/** Tools of pi, and of OpenClaw, which is built on it, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

export const tools: ToolTable = {
  ...{ bash: "command", exec: "command", shell_exec: "command" },
  process: { kind: "command", verb: "Process", subject: ["action", "sessionId"] },
  ...{ read: { kind: "read", isPlain: true }, write: "write", edit: "edit", ls: "list" },
  grep: { kind: "search", verb: "Grep" },
  find: { kind: "search", verb: "Find" },
  sessions_spawn: "agent",
  ...{ web_fetch: "fetch", web_search: "web_search" },
};
