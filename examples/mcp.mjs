/**
 * mcp: an agent that looks up a past session over the Model Context Protocol.
 *
 *     npm install @modelcontextprotocol/sdk
 *     node examples/mcp.mjs [project directory]
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { openStore } from "verbatim-log";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-mcp-"))] = process.argv;

// Yesterday. If it is killed here, the next run records the rest.
const SAID = [
  ["user", "Which spice was missing?"],
  ["assistant", "Cardamom. I put it on the list."],
];
const store = await openStore({ dialect: "rye", root: project, agent: "kitchen" });
const session = store.session("kitchen-1");
let known = 0;
if (await store.has(session.id)) for await (const _ of session.entries()) known++;
for (const [role, text] of SAID.slice(known)) {
  await session.append({ kind: "message", role, parts: [{ type: "text", text }] });
}
await store.close();

// Today. Installed, the command is `verbatim` with the arguments ["mcp", "--root", project].
const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const client = new Client({ name: "agent", version: "1.0.0" });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [main, "mcp", "--root", project],
    env: { ...process.env, XDG_CACHE_HOME: join(project, ".cache") },
  }),
);
const { tools } = await client.listTools();
print(tools.map(({ name }) => name).join(", "));

const { hits } = await ask("search_sessions", { query: "spice" });
print(`${hits[0].session}: ${hits[0].snippet}`);
const read = { session: hits[0].session, offset: hits[0].end, limit: 1 };
const { entries } = await ask("read_session", read);
print(entries[0].text.split("\n")[2]);
const { verdict } = await ask("verify_session", { session: hits[0].session });
print(verdict);
await client.close();
print(`kept in ${project}`);

async function ask(name, given) {
  const { content } = await client.callTool({ name, arguments: given });
  return JSON.parse(content[0].text);
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
