/** Spanned session: a rye session with everything that spans export, for the tests of exports. */

import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { putThread } from "../cli/stores.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export const ID = "hello_world-1739012630";
export const PROMPT = "Write a greeting for the secret party";

export function event(type: string, at: string, data: object = {}): object {
  const ts = `2026-02-09T04:03:${at}+00:00`;
  return { ts, type, thread_id: ID, directive: "hello_world", ...data };
}

/** Two turns: one with a tool that works and one that fails, one that is cut. */
export const EVENTS = [
  event("thread_start", "50.365000", { model: "claude-3-5-haiku-20241022" }),
  event("user_message", "50.371000", { text: PROMPT, role: "user" }),
  event("step_start", "50.372000", { turn_number: 1 }),
  event("assistant_text", "53.112000", { text: "I'll write it.", model: "claude-opus-5" }),
  event("tool_call_start", "53.113000", { tool: "fs_write", call_id: "tc_1", input: { a: 1 } }),
  event("tool_call_start", "53.113000", { tool: "fs_read", call_id: "tc_2", input: "x" }),
  event("tool_call_result", "53.200000", { call_id: "tc_2", error: "no such file" }),
  event("tool_call_result", "53.325000", { call_id: "tc_1", output: "7 bytes", duration_ms: 12 }),
  event("step_finish", "53.326000", {
    cost: { spend: 0.0025 },
    tokens: {
      input_tokens: 500,
      output_tokens: 100,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 7,
    },
    finish_reason: "tool_use",
  }),
  event("step_start", "53.400000", { turn_number: 2 }),
  event("spawn_child", "53.450000", { child_thread_id: "review-1739012633" }),
  event("assistant_text", "54.000000", { text: "The pa", model: "claude-opus-5", partial: true }),
  event("thread_error", "55.000000", { error_code: "llm_call_failed", detail: "secret detail" }),
];

export interface Made {
  readonly project: string;
  readonly session: Session;
  /** The offset of each line. */
  readonly starts: readonly number[];
}

export function makeSession(project = tempDirectory(), events: readonly object[] = EVENTS): Made {
  putThread(project, ID, events);
  let start = 0;
  const starts = events.map((each) => {
    const at = start;
    start += Buffer.byteLength(JSON.stringify(each)) + 1;
    return at;
  });
  const session = new Store(nodeHost, { dialect: "rye", root: project }).session(ID);
  return { project, session, starts };
}
