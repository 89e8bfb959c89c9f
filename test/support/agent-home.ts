/** Agent home: a home directory with histories of Claude Code, written as it writes them. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface ClaudeRow {
  readonly type: string;
  readonly [field: string]: unknown;
}

export const OPUS = "claude-opus-4-5-20251101";

interface Placed {
  readonly session?: string;
  readonly cwd?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export function promptRow(text: string, { session = "s1", cwd = "/home/me/app", at }: Placed) {
  return {
    type: "user",
    sessionId: session,
    cwd,
    uuid: `p-${at}`,
    parentUuid: null,
    timestamp: new Date(at).toISOString(),
    message: { role: "user", content: text },
  };
}

interface Answer extends Placed {
  readonly model?: string;
  readonly usage?: Readonly<Record<string, number>>;
  readonly content?: readonly object[];
  readonly costUSD?: number;
}

/** By default, 40,000 tokens of output: a dollar. */
export function answerRow(id: string, answer: Answer): ClaudeRow {
  const { session = "s1", cwd = "/home/me/app", at, model = OPUS, costUSD } = answer;
  const { usage = { input_tokens: 0, output_tokens: 40_000 } } = answer;
  const { content = [{ type: "text", text: `Answer ${id}` }] } = answer;
  return {
    type: "assistant",
    sessionId: session,
    cwd,
    requestId: `r-${id}`,
    uuid: `u-${id}-${at}`,
    timestamp: new Date(at).toISOString(),
    ...(costUSD !== undefined && { costUSD }),
    message: { id, role: "assistant", type: "message", model, content, usage },
  };
}

export const callOf = (id: string, name = "Bash") => ({
  type: "tool_use",
  id,
  name,
  input: { command: "ls" },
});

/** `path` is below `.claude/projects`. */
export function writeClaude(home: string, path: string, rows: readonly object[]): string {
  const full = join(home, ".claude/projects", path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return full;
}
