/**
 * OpenAI Agents SDK: an agent whose session is a signed, append-only log. Its process is killed with
 * -9; the next one finds everything that was acknowledged, and continues.
 *
 * Runs without OpenAI: the model is a few lines below.
 *
 *     node examples/openai-agents.mjs [project directory]
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Agent, Runner, tool, Usage } from "@openai/agents-core";
import { VerbatimSession } from "verbatim-log/openai-agents";
import { verify } from "verbatim-log/signing";
import { z } from "zod";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-agents-")), role] = process.argv;
// Normally these are the user's own keys. Here they are created only for the example.
process.env.XDG_CONFIG_HOME = join(project, "config");
process.env.XDG_STATE_HOME = join(project, "state");

// This is all you need: pass it to `run`.
const session = new VerbatimSession({ sessionId: "kitchen", root: project, sign: true });

if (role === "talk") await talk();
else await killAndGoOn();

/** The victim: reports what it added once it is on the disk. */
async function talk() {
  for (let n = 1; ; n++) {
    await session.addItems([{ type: "message", role: "user", content: `note ${n}` }]);
    writeSync(1, `${n}\n`);
  }
}

async function killAndGoOn() {
  const victim = spawn(process.execPath, [fileURLToPath(import.meta.url), project, "talk"]);
  let acknowledged = 0;
  for await (const line of createInterface({ input: victim.stdout })) {
    acknowledged = Number(line);
    if (acknowledged === 5) victim.kill("SIGKILL");
  }
  if (victim.exitCode === null && victim.signalCode === null) await once(victim, "exit");
  const kept = await session.getItems();
  print(`killed; all that was acknowledged is there: ${kept.length >= acknowledged}`);

  const look = tool({
    name: "look",
    description: "Looks into a room",
    parameters: z.object({ room: z.string() }),
    execute: async ({ room }) => `30 degrees in the ${room}`,
  });
  const cook = new Agent({ name: "cook", model: scripted(), tools: [look] });
  const runner = new Runner({ tracingDisabled: true });
  const { finalOutput } = await runner.run(cook, "Is it warm?", { session });
  print(`cook: ${finalOutput}`);
  print(`added: ${(await session.getItems(4)).map(({ type, role }) => role ?? type).join(", ")}`);

  // Withdrawn, not erased: the log has the item and the line that withdrew it.
  const popped = await session.popItem();
  print(`popped: ${popped.content[0].text}`);
  await session.clearSession();
  const types = readFileSync(session.path, "utf8").matchAll(/^\{"type":"(\w+)"/gm);
  print(
    `${(await session.getItems()).length} items; the log ends: ${[...types].slice(-3).map(([, type]) => type)}`,
  );
  await session.close();
  const { verdict } = await verify("openai-agents/kitchen", { root: project });
  // Incomplete: the kill came between an item and its signature, and no person vouched for it.
  print(["verified", "incomplete"].includes(verdict) ? "nothing was altered" : verdict);
  print(`kept in ${project}`);
}

/** Looks once, and reports what it saw. */
function scripted() {
  const call = {
    type: "function_call",
    callId: "c1",
    name: "look",
    arguments: '{"room":"kitchen"}',
  };
  const said = { type: "message", role: "assistant", status: "completed" };
  const script = [
    [{ ...call, status: "completed" }],
    [{ ...said, content: [{ type: "output_text", text: "Yes, it is warm." }] }],
  ];
  return {
    getResponse: async () => ({ usage: new Usage(), output: script.shift() }),
  };
}

function print(text) {
  process.stdout.write(`${text}\n`);
}
