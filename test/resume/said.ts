/** Said: short ways to write entries, and what Anthropic gets of them. */

import type { Part, Role } from "../../src/core/model/entry.ts";
import type { GatheredEntry } from "../../src/resume/gather.ts";
import { judgeAll, piped } from "./judged.ts";

export type Said = readonly [Role, readonly (Part | string)[], Partial<GatheredEntry>?];

export function entriesOf(...said: readonly Said[]): GatheredEntry[] {
  const entries = said.map(([role, parts, more], at): GatheredEntry => {
    const spoken = parts.map((part): Part => {
      return typeof part === "string" ? { type: "text", text: part } : part;
    });
    return {
      kind: "message",
      role,
      parts: spoken,
      model: "claude-opus-4-5",
      start: at * 100,
      line: at + 1,
      verified: true,
      ...more,
    };
  });
  judgeAll(entries, "the entries of the test");
  return entries;
}

export const call = (callId: string | null, input: unknown = { a: 1 }, tool = "look"): Part => {
  return { type: "tool_call", callId, tool, input };
};
export const result = (
  callId: string | null,
  output: unknown,
  error: string | null = null,
): Part => {
  return { type: "tool_result", callId, output, error, durationMs: null };
};
export const text = (said: string) => ({ type: "text", text: said });
export const use = (id: string, input: unknown = { a: 1 }) => ({
  type: "tool_use",
  id,
  name: "look",
  input,
});
/** A call's result; without text it has no content. */
export const back = (id: string, ...said: readonly string[]) => {
  const content = said.length === 0 ? {} : { content: said.map(text) };
  return { type: "tool_result", tool_use_id: id, ...content };
};
export const failed = (id: string, said: string) => ({ ...back(id, said), is_error: true });

/** What Anthropic gets, and what was done, as `why line`. */
export function resumed(...said: readonly Said[]) {
  const { messages, actions } = piped("anthropic", entriesOf(...said), null);
  return {
    messages: messages.map(({ role, content }) => [role, ...content]),
    done: actions.map(({ why, line }) => `${why} ${line}`),
  };
}
