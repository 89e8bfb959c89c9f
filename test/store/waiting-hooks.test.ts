/** Spooled hooks are included when the library, a server or MCP reads their session. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { SPOOL_PATH, spoolLine, spoolName } from "../../src/dialects/hooks/hook-spool.ts";
import { resume } from "../../src/doors/resume.ts";
import { openVerified } from "../../src/doors/signing.ts";
import { mcpServer } from "../../src/integrations/mcp/server.ts";
import { startServer } from "../../src/server/serve.ts";
import { type ListedSession, newUser, serveSessions } from "../server/sessions/served.ts";
import { findingsIn } from "../support/examining.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

const ID = "claude-code-hooks/6f1c";

let order = Date.now();

/** Records a hook's input, as `verbatim record` does. */
function recorded(root: string, prompt: string): void {
  const directory = join(root, ...SPOOL_PATH);
  mkdirSync(directory, { recursive: true });
  const hook = { session_id: "6f1c", hook_event_name: "UserPromptSubmit", prompt };
  const id = randomUUID();
  const how = {
    from: "claude-code-hooks",
    sign: false,
    durability: "disk",
    isExact: true,
  } as const;
  const at = new Date().toISOString();
  const line = spoolLine({ id, at, ...how, hook: JSON.stringify(hook) }, null);
  writeFileSync(join(directory, spoolName(order++, id)), line, { mode: 0o600 });
}

const waiting = (root: string) =>
  readdirSync(join(root, ...SPOOL_PATH)).filter((name) => name.endsWith(".json")).length;

test("resume reads spooled hooks, also of a session that has nothing else", async () => {
  newUser();
  const root = tempDirectory();
  for (const prompt of ["Hello", "And now?"]) {
    recorded(root, prompt);
    const { messages } = await resume(ID, { for: "anthropic", root, allowUnsigned: true });
    assert.ok(JSON.stringify(messages).includes(prompt));
    assert.equal(waiting(root), 0);
  }
});

test("openVerified reads spooled hooks", async () => {
  newUser();
  const root = tempDirectory();
  recorded(root, "Hello");
  const session = await openVerified(ID, { root, allowUnsigned: true });
  let entries = 0;
  for await (const _ of session.entries()) entries++;
  session.close();
  assert.equal(entries, 1);
});

test("a server lists, reads, searches and follows spooled hooks, from its start on", async () => {
  newUser();
  const root = tempDirectory();
  recorded(root, "Hello");
  const { json, url } = await serveSessions([root]);
  await until(() => waiting(root) === 0, "they are moved without a request");

  recorded(root, "Second");
  const listed = await json<{ sessions: ListedSession[] }>("");
  const { id = "" } = listed.sessions[0] ?? {};
  assert.equal(waiting(root), 0);

  recorded(root, "Third");
  const { entries } = await json<{ entries: unknown[] }>(`/${id}/entries`);
  assert.equal(entries.length, 3);

  recorded(root, "Cardamom");
  const found = await fetch(url("").replace("/v1/sessions", "/v1/search?q=cardamom"));
  assert.equal(((await found.json()) as { hits: unknown[] }).hits.length, 1);
});

test("a server reports hooks that it cannot move into their session, once", async () => {
  newUser();
  const root = tempDirectory();
  recorded(root, "Hello");
  // A directory in the place of the log.
  mkdirSync(join(root, ".verbatim/claude", ID, "transcript.jsonl"), { recursive: true });
  const faults: string[] = [];
  const server = await startServer({
    port: 0,
    dataDirectory: tempDirectory(),
    roots: [root],
    onFault: (what, cause) => void faults.push(`${what}: ${cause}`),
  });
  for (let at = 0; at < 3; at++) await fetch(`${server.url}/v1/sessions`);
  await server.close();
  const about = faults.filter((fault) => fault.startsWith("putting recorded hooks"));
  assert.equal(about.length, 1, faults.join("\n"));
  assert.match(about[0] ?? "", /1 recorded hooks wait in .*\.hooks/);
});

test("MCP's tools list and read hooks that were spooled just before", async () => {
  newUser();
  const root = tempDirectory();
  const warnings: string[] = [];
  const onWarning = (warning: string) => void warnings.push(warning);
  const where = { cwd: root, root };
  const server = mcpServer({ host: nodeHost, where, nowMs: Date.now, onWarning });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1" });
  await Promise.all([server.connect(ours as never), client.connect(theirs)]);
  const call = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name, arguments: args }));

  recorded(root, "Hello");
  assert.ok((await call("list_sessions", {})).includes(ID));
  recorded(root, "Cardamom");
  assert.ok((await call("read_session", { session: ID })).includes("Cardamom"));
  await client.close();
  assert.deepEqual(warnings, []);
});

test("doctor notes spooled hooks, with the command that drains them, and leaves them there", async () => {
  newUser();
  const root = tempDirectory();
  for (const prompt of ["Hello", "And now?"]) recorded(root, prompt);
  const findings = await findingsIn(root, "claude");
  expect(findings).toMatchObject([
    {
      code: "HOOKS_WAITING",
      severity: "note",
      session: ID,
      detail: expect.stringMatching(/^2 .*`verbatim ls`/),
    },
  ]);
  assert.equal(waiting(root), 2);
  assert.ok(!existsSync(join(root, ".verbatim/claude", ID)));
});
