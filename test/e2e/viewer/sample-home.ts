/** Sample home: real sessions of nine agents in a home directory, laid out as the agents do. */

import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { message, SCHEMA, SESSION } from "../../agents/goose-database.ts";

const CLAUDE = ".claude/projects";
const PARENT = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
export const SMALL_CLAUDE = `${CLAUDE}/-tmp-project/0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001.jsonl`;

/** From the samples to the home. */
const FILES: Readonly<Record<string, string>> = {
  [`more/claude/subagent/${PARENT}.jsonl`]: `${CLAUDE}/-tmp/${PARENT}.jsonl`,
  [`more/claude/subagent/${PARENT}`]: `${CLAUDE}/-tmp/${PARENT}`,
  "more/claude/small.jsonl": SMALL_CLAUDE,
  "claude-code/agentcmd-full-session-four.jsonl": `${CLAUDE}/-app/2d984148-cddb-4605-aac1-13e720fe613c.jsonl`,
  "codex/agentcmd-rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a.jsonl":
    ".codex/sessions/2025/09/25/rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a.jsonl",
  "gemini-cli/vct-gemini.jsonl": ".gemini/tmp/app/chats/session-2026-04-23T12-52-0ab84937.jsonl",
  "more/gemini/small.json": ".gemini/tmp/app/chats/session-2026-04-24T12-52-0ab84938.json",
  "copilot-cli/vct-copilot.jsonl": ".copilot/session-state/96ef38f0/events.jsonl",
  "pi/large-session.jsonl":
    ".pi/agent/sessions/--pi-mono--/2025-11-20T23-33-50-805Z_d703a1a9-1b7b-4fb1-b512-c9738b1fe617.jsonl",
  "more/kimi/assistant_tools.jsonl": ".kimi-code/sessions/wd_p/session_1/agents/main/wire.jsonl",
  "more/kimi/assistant_tools.state.json": ".kimi-code/sessions/wd_p/session_1/state.json",
  "more/qwen/019f0000-0000-7000-8000-000000000001.jsonl":
    ".qwen/projects/-tmp/chats/019f0000-0000-7000-8000-000000000001.jsonl",
  "more/opencode/storage_v2": ".local/share/opencode/storage",
};

export function writeSampleHome(samples: string, home: string): void {
  for (const [from, to] of Object.entries(FILES)) {
    mkdirSync(dirname(join(home, to)), { recursive: true });
    cpSync(join(samples, from), join(home, to), { recursive: true });
  }
  writeGoose(home);
}

/** There is no sample of Goose: a database as in its public source. */
function writeGoose(home: string): void {
  const path = join(home, ".local/share/goose/sessions/sessions.db");
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(SCHEMA);
  database.exec(SESSION);
  const value = { name: "developer__shell", arguments: { command: "wc -l src/main.rs" } };
  const output = { status: "success", value: [{ type: "text", text: "91 src/main.rs" }] };
  const call = { type: "toolRequest", id: "g1", toolCall: { status: "success", value } };
  const rows = [
    message("user", [{ type: "text", text: "How long is main.rs?" }], 1),
    message("assistant", [call], 2),
    message("user", [{ type: "toolResponse", id: "g1", toolResult: output }], 4),
    message("assistant", [{ type: "text", text: "It has **91** lines." }], 5),
  ];
  for (const row of rows) database.exec(row);
  database.close();
}
