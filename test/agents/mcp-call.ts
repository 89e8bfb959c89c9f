/** MCP call: calls tools of `verbatim mcp` as a user with a home would; answers are JSON text. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { onTestFinished } from "vitest";
import { type CliUser, main } from "../cli/cli.ts";

export async function mcpCall(user: CliUser) {
  const client = new Client({ name: "test", version: "1" });
  const env = { PATH: process.env.PATH ?? "", HOME: user.home };
  const transport = { command: process.execPath, args: [...main, "mcp"], cwd: user.cwd, env };
  await client.connect(new StdioClientTransport(transport));
  onTestFinished(() => client.close());
  return async (name: string, given: Record<string, unknown>) => {
    return JSON.stringify(await client.callTool({ name, arguments: given }));
  };
}
