/** Claude Code's files in a test's home, written as it writes them. */

import { join } from "node:path";
import { put } from "../cli/stores.ts";

export interface ClaudeSession {
  /** The directory that Claude Code worked in. */
  readonly cwd?: string;
  readonly id: string;
  readonly prompt?: string;
  readonly answer?: string;
  readonly branch?: string;
  readonly at?: string;
  readonly model?: string;
  /** The subagent's name, if the session is a subagent's. */
  readonly subagent?: string;
}

/** Writes a session of one turn; returns its path. */
export function putClaude(home: string, session: ClaudeSession, more: readonly object[] = []) {
  const { cwd = "/home/me/app", id, subagent } = session;
  const folder = join(home, ".claude/projects", cwd.replaceAll(/[/.]/g, "-"));
  const path =
    subagent === undefined
      ? join(folder, `${id}.jsonl`)
      : join(folder, id, "subagents", `agent-${subagent}.jsonl`);
  const lines = [...turnOf(session), ...more].map((row) => `${JSON.stringify(row)}\n`);
  return put(path, lines.join(""));
}

/** A prompt and its answer. */
export function turnOf(session: ClaudeSession): object[] {
  const { cwd = "/home/me/app", id, prompt = `Fix ${session.id}`, subagent } = session;
  const { branch = "main", at = "2026-11-01T10:00:00.000Z", model = "claude-opus-4-5" } = session;
  const common = {
    cwd,
    sessionId: id,
    gitBranch: branch,
    timestamp: at,
    version: "2.1.0",
    userType: "external",
    isSidechain: subagent !== undefined,
    ...(subagent === undefined ? {} : { agentId: subagent }),
  };
  const said = { role: "user", content: prompt };
  const answer = [{ type: "text", text: session.answer ?? "Done." }];
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: `msg_${id}`, role: "assistant", model, content: answer, usage };
  return [
    { ...common, type: "user", uuid: `${id}-1`, parentUuid: null, message: said },
    { ...common, type: "assistant", uuid: `${id}-2`, parentUuid: `${id}-1`, message },
  ];
}
