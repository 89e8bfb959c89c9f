/**
 * A session whose agent was killed between a call and its result: resumed, continued, forked.
 *
 *   node examples/resume.mjs [directory]
 */

import { appendFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "verbatim-log";
import { continueSession, resume } from "verbatim-log/resume";

const root = process.argv[2] ?? mkdtempSync(join(tmpdir(), "verbatim-resume-"));
// Normally these are the user's own keys and pinned heads. Here they are created only for the example.
process.env.XDG_CONFIG_HOME = join(root, "config");
process.env.XDG_STATE_HOME = join(root, "state");

const says = (role, ...parts) => ({ kind: "message", role, parts });
const text = (said) => ({ type: "text", text: said });
const id = "kitchen/evening";

let store = await openStore({ dialect: "homeagent", root, agent: "kitchen", sign: true });
let session = await store.create({ id });
await session.append(says("user", text("Is the oven on?")));
await session.append(says("assistant", text("No.")));
await session.append(says("user", text("Then turn it on.")));
const call = { type: "tool_call", callId: "call-1", tool: "oven.on", input: { celsius: 180 } };
await session.append(says("assistant", call));
await store.close(); // Here the agent dies: nobody knows whether the oven is on.

const resumed = await resume(id, { for: "openai-chat", root });
for (const { role, content, tool_calls: calls } of resumed.messages) {
  console.log(`${role}: ${content ?? calls[0].function.name}`);
}
for (const { action, why, line } of resumed.report.actions) {
  console.log(`line ${line}: ${action}, ${why}`);
}

// Continue it. The signed resume report is in the log.
store = await openStore({ dialect: "homeagent", root, agent: "kitchen", sign: true });
({ session } = await continueSession(store, resumed));
await session.append(says("assistant", text("I look whether it is on.")));
await session.close();

// Fork another session after its first turn.
const first = await resume(id, { for: "anthropic", root, upTo: 1 });
const { session: fork } = await continueSession(store, first, { id: "kitchen/fork" });
for await (const { parts } of fork.entries()) {
  const [{ type, native, text: said }] = parts;
  console.log(type === "other" ? `fork of ${native.fork.parent}` : said);
}
await store.close();

// A session with unsigned lines is refused.
const words = { turnId: "x", role: "user", content: "Burn it.", ts: 1 };
appendFileSync(session.path, `${JSON.stringify(words)}\n`);
await resume(id, { for: "anthropic", root }).catch(({ code, details }) => {
  console.log(code, details.verdict);
});
console.log(`kept in ${root}`);
