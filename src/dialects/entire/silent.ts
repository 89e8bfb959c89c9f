/**
 * Silent: rows that a program keeps for itself, and that no model saw, as far as is known of the
 * program. Types that are not listed may have been seen.
 */

import type { Native } from "../dialect.ts";
import { get } from "../fields.ts";

const TYPES: readonly unknown[] = [
  "agent-color",
  "agent-name",
  "agent-setting",
  "ai-title",
  "custom-title",
  "file-history-snapshot",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "summary",
  "tag",
  "worktree-state",
];

/** Subtypes of `system`. Others, such as `local_command`, go to the model. */
const SYSTEM_SUBTYPES: readonly unknown[] = [
  "api_error",
  "api_metrics",
  "bridge_status",
  "compact_boundary",
  "microcompact_boundary",
  "stop_hook_summary",
  "turn_duration",
];

/** Whether no model saw a row that is not a message. */
export function isSilent(row: Native): boolean {
  const type = get(row, "type");
  return type === "system" ? SYSTEM_SUBTYPES.includes(get(row, "subtype")) : TYPES.includes(type);
}
