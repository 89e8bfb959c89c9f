/** Sample home: sessions that our samples lack, where their agents keep them. */

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { message, SCHEMA, SESSION } from "../../agents/goose-database.ts";
import { put } from "../../cli/stores.ts";

/** There is no sample of Goose: a database as in its public source. */
export function writeGoose(home: string): void {
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

const STEPS = 80;
const STEP_MS = 120_000;
/** Of each response. */
const USAGE = { input: 1000, output: 200, cacheRead: 500_000, cacheWrite: 0, totalTokens: 501_200 };
const COST = 0.25;

/** The longest samples take a minute. This session of pi has 80 edits in 2 hours and 40 minutes. */
export function writeLongPi(home: string): void {
  const beganMs = Date.parse("2025-10-26T08:00:00.000Z");
  const at = (step: number) => new Date(beganMs + step * STEP_MS).toISOString();
  const row = (step: number, said: object) => ({
    type: "message",
    timestamp: at(step),
    message: said,
  });
  const answer = (content: object) => ({
    role: "assistant",
    content: [content],
    provider: "local",
    model: "claude-sonnet-4-5",
    usage: { ...USAGE, cost: { total: COST } },
  });
  const edit = (step: number) => {
    const edits = [{ oldText: `elm ${step}\n`, newText: `linden ${step}\nbirch ${step}\n` }];
    const input = { path: "trees.txt", edits };
    return answer({ type: "toolCall", id: `toolu_${step}`, name: "edit", arguments: input });
  };
  const result = (step: number) => ({
    role: "toolResult",
    toolCallId: `toolu_${step}`,
    toolName: "edit",
    isError: false,
    content: [{ type: "text", text: "Replaced 1 block in trees.txt." }],
  });
  const steps = Array.from({ length: STEPS }, (_, step) => step);
  const rows = [
    { type: "session", version: 3, id: "weir", timestamp: at(0), cwd: "/home/me/weir" },
    row(0, { role: "user", content: [{ type: "text", text: "Plant a linden at the weir" }] }),
    ...steps.flatMap((step) => [row(step, edit(step)), row(step + 0.5, result(step))]),
    row(STEPS, answer({ type: "text", text: "Every linden is planted." })),
  ];
  const path = ".pi/agent/sessions/--home-me-weir--/2025-10-26T08-00-00-000Z_weir.jsonl";
  const linked = rows.map((each, nth) => ({ ...each, id: `r${nth}`, parentId: `r${nth - 1}` }));
  put(join(home, path), linked.map((each) => `${JSON.stringify(each)}\n`).join(""));
}
