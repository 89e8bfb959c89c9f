/** Rows: what Claude Code's rows say about their session as a whole. */

import type { About } from "../agent-program.ts";
import type { Native } from "../dialect.ts";
import { getString } from "../fields.ts";
import { parentOf } from "./session-id.ts";

export function about(row: Native, id: string): About | null {
  const type = getString(row, "type");
  if (type === "summary") return { summary: getString(row, "summary") ?? "" };
  if (type === "ai-title") return { title: getString(row, "aiTitle") ?? "" };
  if (type === "custom-title") return { chosenTitle: getString(row, "customTitle") ?? "" };
  const cwd = getString(row, "cwd");
  if (cwd === null) return null;
  return {
    cwd,
    branch: getString(row, "gitBranch") ?? "",
    parent: parentOf(id, getString(row, "sessionId")) ?? "",
  };
}
