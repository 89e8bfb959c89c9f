/**
 * rye: a runner's thread from start to end, with its live markdown, its metadata and its cost.
 *
 *     node examples/rye.mjs [project directory]
 */

import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  readThreadMeta,
  Thread,
  ThreadTelemetry,
  TranscriptRenderer,
  TranscriptWriter,
} from "verbatim-log/rye";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-rye-"))] = process.argv;

// The helper for runners: it records every event, also if a tool or a step fails.
const thread = await Thread.start({
  projectPath: project,
  directive: "hello_world",
  model: "some-model",
  inputs: { name: "Ada" },
});
await thread.userMessage("Greet Ada.");
await thread.step(async () => {
  await thread.reasoning("She may have a nickname.");
  const name = await thread.toolCall("lookup", { name: "Ada" }, async () => "Countess");
  await thread.assistantText(`Hello, ${name}!`);
  return { tokens: { input_tokens: 120, output_tokens: 9 }, cost: { spend: 0.0004 } };
});
await thread.complete();

// The markdown grew with the events; a renderer makes it again, with other options.
const live = readFileSync(join(project, ".ai/threads", thread.id, "transcript.md"), "utf8");
const again = await new TranscriptRenderer({ thinking: true }).render(thread.id, project);
print(`live markdown equals the rendered one: ${live === again}`);
const { status, cost } = await readThreadMeta(project, thread.id);
print(`${status} after ${cost.turns} turn, $${cost.spend}`);

// Single events, as in the document's writer; several processes may write them.
const writer = new TranscriptWriter({
  transcriptDir: join(project, ".ai/threads"),
  defaultDirective: "deploy",
});
await writer.writeEvent("deploy-1", "thread_start", { model: "some-model", inputs: {} });
await writer.writeEvent("deploy-1", "thread_error", { error_code: "DENIED", detail: "no access" });
const { events, badLines } = await writer.readEvents("deploy-1");
print(`${events.map(({ type }) => type).join(", ")}; ${badLines.length} bad lines`);
await writer.close();

const { total, completed, error, total_spend } = await new ThreadTelemetry().aggregate(project);
print(`${total} threads: ${completed} completed, ${error} failed, $${total_spend}`);
print(`kept in ${project}`);

function print(text) {
  process.stdout.write(`${text}\n`);
}
