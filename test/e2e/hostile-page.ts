/** Pages with hostile texts in every field of every entry, and of the session itself. */

import { emptyEntry, type Part } from "../../src/core/model/entry.ts";
import { TOOL_KINDS, type ToolView } from "../../src/core/model/tool-view.ts";
import { type PageFacts, SessionPage } from "../../src/sessions/render/html/page.ts";
import type { PlacedEntry } from "../../src/sessions/render/html/placed-entry.ts";
import { seed } from "../support/seed.ts";

const PATCH = "*** Begin Patch\n*** Update File: ";

/** Every kind of tool, with the text in each part of its label. */
function viewsWith(text: string, parts: readonly Part[]): ToolView[] {
  const calls = parts.filter(({ type }) => type === "tool_call");
  const view = { verb: text, subject: text, path: text, lines: [1, 2] } as const;
  return calls.map((_, at) => {
    return { ...view, kind: TOOL_KINDS[(at + text.length) % TOOL_KINDS.length] ?? "other" };
  });
}

const ROLES = ["system", "user", "assistant", "tool"] as const;

/** Every kind of entry and part, with the text in each text field; in one role, which changes. */
export function entriesWith(text: string): PlacedEntry[] {
  const parts: Part[] = [
    { type: "text", text },
    { type: "reasoning", text, signature: text },
    { type: "reasoning", text: "", withheld: text },
    { type: "tool_call", callId: text, tool: text, input: { [text]: text, list: [text, [text]] } },
    { type: "tool_call", callId: `${text}2`, tool: text, input: { [text]: `${text}\n${text}` } },
    { type: "tool_call", callId: null, tool: text, input: text },
    { type: "tool_call", callId: null, tool: text, input: { patch: `${PATCH}${text}\n+${text}` } },
    { type: "tool_call", callId: null, tool: text, input: { todos: [{ content: text }] } },
    { type: "tool_call", callId: null, tool: text, input: { prompt: text, content: text } },
    {
      type: "tool_call",
      callId: null,
      tool: text,
      input: { [text]: 1, old_str: text, new_str: "" },
    },
    { type: "tool_result", callId: text, output: text, error: text, durationMs: 1 },
    {
      type: "tool_result",
      callId: `${text}2`,
      output: { [text]: text },
      error: null,
      durationMs: null,
    },
    { type: "child", session: text, agent: text },
    { type: "other", native: { type: text, [text]: text } },
    { type: "other", native: { type: "image", mimeType: text, data: `iVBORw0KGgo${text}` } },
  ];
  const common = {
    ...emptyEntry({ [text]: text }),
    at: text,
    model: text,
    messageId: text,
    stopReason: text,
    isPartial: true as const,
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3, spend: 0.5 },
  };
  const error = { code: text, detail: text };
  const role = ROLES[(text.length + seed) % ROLES.length] ?? null;
  const entries = [
    { ...common, kind: "start" as const },
    { ...common, kind: "message" as const, role, parts },
    ...parts.map((part) => ({ ...common, kind: "message" as const, parts: [part] })),
    { ...common, kind: "other" as const, parts },
    { ...common, kind: "turn_end" as const },
    { ...common, kind: "end" as const, outcome: "error" as const, error },
  ];
  // Positions of both kinds; no test looks for an entry here, so they may repeat for each text.
  return entries.map((entry, at) => {
    const tools = "parts" in entry ? viewsWith(text, entry.parts) : [];
    return { ...entry, tools, start: at * 10, line: at % 2 ? null : at + 1 };
  });
}

/** A page of such entries for each text; every fact of its session contains all texts. */
export function pageWith(...texts: readonly string[]): string {
  const text = texts.join(" ");
  const facts: PageFacts = {
    session: text,
    project: null,
    directory: null,
    branch: null,
    dialect: text,
    title: text,
    agent: text,
    model: text,
    status: text,
    turns: 1,
    inputTokens: 2,
    outputTokens: 3,
    totalTokens: 5,
    spend: 0.1,
    createdAt: text,
    updatedAt: text,
    lines: 6,
    last: 7,
  };
  const page = new SessionPage(facts, { thinking: text.length % 2 === 0 });
  const bad = { line: 9, offset: 90, reason: text };
  return [
    page.head(),
    ...texts.flatMap(entriesWith).map((entry) => page.entry(entry)),
    page.badLines({ listed: [bad, { ...bad, line: null }], more: 3 }),
    page.foot({ tornBytes: 3 }),
  ].join("");
}
