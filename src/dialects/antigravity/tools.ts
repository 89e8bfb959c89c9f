/** Tools of Antigravity, by kind (tool-table.ts). */

import type { ToolTable } from "../tool-table.ts";

const FILE = ["TargetFile"];

export const tools: ToolTable = {
  run_command: { kind: "command", subject: ["CommandLine"] },
  view_file: { kind: "read", path: ["AbsolutePath"], from: "StartLine", to: "EndLine" },
  ...{ write_to_file: { kind: "write", path: FILE }, write_file: { kind: "write", path: FILE } },
  replace_file_content: { kind: "edit", path: FILE },
  multi_replace_file_content: { kind: "edit", path: FILE },
  grep_search: { kind: "search", verb: "Grep", subject: ["Query"], path: ["SearchPath"] },
  find_by_name: { kind: "search", verb: "Find", subject: ["Pattern"], path: ["SearchDirectory"] },
  list_dir: { kind: "list", path: ["DirectoryPath"] },
  read_url_content: { kind: "fetch", subject: ["Url"] },
  search_web: "web_search",
  browser_subagent: { kind: "agent", subject: ["TaskName", "Task"] },
};
