/**
 * claude-agent: sessions of Claude's Agent SDK, stored so that kill -9 loses nothing.
 *
 *     node examples/claude-agent.mjs [directory] [turns]
 *
 * Run it again with the same directory, and it continues the session, however it ended. It needs no
 * API key: it calls the store as the SDK would. In an agent this is one line:
 *
 *     query({ prompt, options: { sessionStore: claudeSessionStore({ root, sign: "append" }) } });
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getSessionMessages, listSessions } from "@anthropic-ai/claude-agent-sdk";
import { claudeSessionStore } from "verbatim-log/claude-agent";
import { verify } from "verbatim-log/signing";

const [, , root = mkdtempSync(join(tmpdir(), "verbatim-claude-")), turns = "3"] = process.argv;
// Normally these are the user's own keys. Here they are created only for the example.
process.env.XDG_CONFIG_HOME = join(root, "config");
process.env.XDG_STATE_HOME = join(root, "state");

const sessionId = "6f1c1f2e-0a53-4a3c-9f0a-3d1a5b6c7d01";
const dir = "/home/me/kitchen";
const key = { projectKey: "-home-me-kitchen", sessionId }; // As the SDK makes it of `dir`.
const sessionStore = claudeSessionStore({ root, sign: "append" });

// The SDK's first call when it resumes.
const there = (await sessionStore.load(key)) ?? [];
const done = there.filter(({ type }) => type === "assistant").length;
print(done === 0 ? "a new session" : `resumed after ${done} turns`);

for (let turn = done + 1; turn <= Number(turns); turn++) {
  const batch = [
    row(2 * turn - 1, "user", `Is dish ${turn} done?`),
    row(2 * turn, "assistant", [{ type: "text", text: `Dish ${turn} is done.` }]),
  ];
  await sessionStore.append(key, batch); // On the disk when this resolves, and signed.
  print(`turn ${turn} is on the disk`);
  await sessionStore.append(key, batch); // A retry, as after a timeout: nothing is doubled.
}
await sessionStore.append({ ...key, subpath: "subagents/agent-7" }, [row(1, "user", "Taste it.")]);

// The SDK's own functions, on this store.
const messages = await getSessionMessages(sessionId, { dir, sessionStore });
print(`${messages.length} messages, the last: ${messages.at(-1).message.content[0].text}`);
const [listed] = await listSessions({ dir, sessionStore });
print(`listed as: ${listed.summary}`);

const { verdict } = await verify(sessionStore.sessionName(key), { root });
print(verdict);
await sessionStore.close();
print(`kept in ${root}`);

/** A line of a transcript; rows name the row before them. */
function row(n, type, content) {
  return {
    parentUuid: n === 1 ? null : uuid(n - 1),
    sessionId,
    type,
    message: { role: type, content },
    uuid: uuid(n),
    timestamp: new Date(Date.UTC(2026, 10, 15) + n * 1000).toISOString(),
  };
}

function uuid(n) {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
