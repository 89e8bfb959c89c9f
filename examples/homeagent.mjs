/**
 * HomeAgent: two agents store their sessions as turn records, and read them.
 *
 *     node examples/homeagent.mjs [base directory]
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TranscriptWriter } from "verbatim-log/homeagent";

const [, , base = mkdtempSync(join(tmpdir(), "verbatim-homeagent-"))] = process.argv;
const transcripts = new TranscriptWriter(base);

/** Appends a turn; it is on the disk when this resolves. */
const say = (agent, turnId, turn) =>
  transcripts.append(agent, "2026-11-15", { turnId, ts: Date.now(), ...turn });

await say("kitchen", "1", { role: "user", content: "Is the oven on?" });
await say("kitchen", "2", {
  role: "assistant",
  toolCalls: [{ id: "call-1", name: "oven.status", args: { room: "kitchen" } }],
  metadata: { model: "some-model", tokens: { prompt: 112, completion: 18 } },
});
await say("kitchen", "3", {
  role: "tool",
  toolResults: [{ callId: "call-1", result: { isOn: true, celsius: 180 } }],
});
await say("kitchen", "4", { role: "assistant", content: "Yes, at 180 degrees." });
// Any number of processes may append at once: each append is atomic, and none is lost.
await Promise.all(
  ["one", "two", "three"].map((content, n) => say("nurse", `${n}`, { role: "user", content })),
);

for await (const { role, content, toolCalls, toolResults } of transcripts.readStream(
  "kitchen",
  "2026-11-15",
)) {
  const tools = [...(toolCalls ?? []), ...(toolResults ?? [])];
  print(`${role}: ${content ?? JSON.stringify(tools)}`);
}
print(`nurse has ${(await transcripts.read("nurse", "2026-11-15")).length} turns`);

try {
  await say("kitchen", "5", { role: "king", content: "Off with it!" });
} catch (error) {
  print(`${error.code}: ${error.details.field}`);
}
await transcripts.close();
print(`kept in ${base}`);

function print(text) {
  process.stdout.write(`${text}\n`);
}
