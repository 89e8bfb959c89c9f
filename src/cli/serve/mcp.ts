/** `verbatim mcp`: past sessions for agents, over the Model Context Protocol on stdin and stdout. */

import type { Run } from "../command/command.ts";
import { whereOf } from "../command/options.ts";

export async function runMcp({ options, io }: Run): Promise<number> {
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
}
