/** `verbatim mcp`: past sessions for agents, over the Model Context Protocol on stdin and stdout. */

import type { CliCommand } from "../command/command.ts";
import { WHERE_OPTIONS, whereOf } from "../look/reading.ts";

export const mcp: CliCommand = {
  name: "mcp",
  summary: "Let agents list, search, read and verify past sessions (MCP over stdio)",
  options: [...WHERE_OPTIONS],
  examples: [
    "verbatim mcp --root /srv/project",
    "claude mcp add verbatim -- verbatim mcp --root /srv/project",
  ],

  async run({ options, io }) {
    const { nodeHost } = await import("../../core/base/node-host.ts");
    const { serveMcp } = await import("../../integrations/mcp/server.ts");
    const parts = {
      host: nodeHost,
      where: whereOf(options),
      nowMs: Date.now,
      onWarning: (warning: string) => io.err(`warning: ${warning}`),
    };
    const signal = io.interruption();
    await serveMcp(parts, { input: io.input, output: process.stdout, signal });
    return 0;
  },
};
