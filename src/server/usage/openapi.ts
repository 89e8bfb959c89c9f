/** OpenAPI: what all sessions used. */

import * as used from "../../client/usage-shapes.ts";
import { get, json, limit, parameter, type SessionsOperation, text } from "../openapi/describe.ts";
import type { MountDescription } from "../router/mount.ts";
import { USAGE_PATH } from "../router/paths.ts";
import { SESSION_LIMITS } from "../sessions/session-limits.ts";

const USAGE_OPERATION: SessionsOperation = {
  summary: "What all sessions used and what it cost, every response once",
  parameters: [
    parameter("since", "From this day on: 2026-11-15", text),
    parameter("until", "Up to and including this day", text),
    parameter("tz", "The time zone of days, such as Europe/Berlin; default: the server's", text),
    parameter("agent", "Only of this program or dialect", text),
    parameter(
      "project",
      "Only of this directory and below, or of directories with this name",
      text,
    ),
    parameter("by", "What `series` are grouped by", {
      enum: [...used.SERIES_GROUPS],
      default: "agent",
    }),
    limit(
      "Maximum number of sessions, and of prompts",
      SESSION_LIMITS.usageListedMax,
      SESSION_LIMITS.usageListedDefault,
    ),
  ],
  ok: json("UsageReport", "Sums; while `isComplete` is false, ask again"),
  refused: [],
};

export const USAGE: MountDescription = {
  paths: { [USAGE_PATH]: get("sumUsage", USAGE_OPERATION) },
  schemas: {
    CountedSums: used.COUNTED_SUMS,
    CountedGroup: used.COUNTED_GROUP,
    CountedSession: used.COUNTED_SESSION,
    CountedPrompt: used.COUNTED_PROMPT,
    UsageReport: used.USAGE_REPORT,
  },
};
