/** `verbatim agents`: the agent programs found, and what they are about to delete. */

import type { FoundAgent } from "../../sessions/list/agents.ts";
import type { CliCommand, Io } from "../command/command.ts";
import { jsonLine } from "../command/json-line.ts";

export const agents: CliCommand = {
  name: "agents",
  summary: "List the agents whose sessions are on this machine, and what they will delete",
  options: [{ flags: "--json", summary: "print one JSON object per agent and directory" }],
  examples: ["verbatim agents", "verbatim agents --json | jq -r 'select(.due > 0).label'"],

  async run({ options, io }) {
    const { findAgents } = await import("../../sessions/list/agents.ts");
    const nowMs = Date.now();
    const found = await findAgents(process.cwd(), nowMs);
    if (found.length === 0) {
      const { lookedInText } = await import("./agent-text.ts");
      io.err(`no agent's sessions were found; ${lookedInText()}`);
      return 0;
    }
    for (const agent of found) {
      if (options.json) await io.print(jsonLine(jsonOf(agent)));
      else await print(agent, nowMs, io);
    }
    const due = found.reduce((sum, { retention }) => sum + (retention?.due ?? 0), 0);
    if (!options.json && due > 0) io.err("`verbatim guard` keeps a copy of every session for good");
    return 0;
  },
};

function jsonOf({ firstMs, lastMs, retention, isGuarded: _, ...agent }: FoundAgent): object {
  return {
    ...agent,
    firstUse: isoOf(firstMs),
    lastUse: isoOf(lastMs),
    retentionDays: retention?.days ?? null,
    retentionSetting: retention?.setting ?? null,
    due: retention?.due ?? 0,
    dueBytes: retention?.dueBytes ?? 0,
  };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function print(agent: FoundAgent, nowMs: number, io: Io): Promise<void> {
  const { agentLines } = await import("./agent-text.ts");
  const { safeText } = await import("../../sessions/render/text.ts");
  await io.print(`${safeText(agentLines(agent, nowMs).join("\n"))}\n`);
}
