/**
 * entire: an agent's session that Entire reads, from the first prompt to its context.md.
 *
 *     node examples/entire.mjs [project directory]
 */

import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SessionTranscript } from "verbatim-log/entire";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-entire-"))] = process.argv;

// Nothing is created on the disk before the first row.
const transcript = await SessionTranscript.open({
  cwd: project,
  model: "claude-opus-4-5",
  version: "0.0.44",
});
const beside = (name) => readFileSync(join(dirname(transcript.path), name), "utf8");

// When this resolves, the row and prompt.txt are on the disk.
await transcript.user("explain main.rs");
print(`prompt.txt: ${beside("prompt.txt")}`);

// An answer as the Messages API returns it. `verbatim-log/capture` records it from the stream.
await transcript.assistant({
  id: "msg_01A",
  content: [
    { type: "text", text: "Let me read that file." },
    { type: "tool_use", id: "toolu_01X", name: "read_file", input: { path: "src/main.rs" } },
  ],
  stop_reason: "tool_use",
  usage: { input_tokens: 1200, output_tokens: 350, cache_read_input_tokens: 800 },
});
await transcript.toolResults([
  { type: "tool_result", tool_use_id: "toolu_01X", content: "fn main() {}" },
]);
await transcript.assistant({ content: "It does nothing." });
try {
  await transcript.assistant({ content: "Oops.", usage: { output_tokens: 7.5 } });
} catch (error) {
  print(`${error.code}: ${error.details.field}`);
}
await transcript.end(); // Writes context.md.

// The same session, read as neutral entries.
const again = await SessionTranscript.open({
  cwd: project,
  model: "claude-opus-4-5",
  sessionId: transcript.sessionId,
});
for await (const { role, parts } of again.session.entries()) {
  print(`${role}: ${parts.map(({ type }) => type).join(", ")}`);
}
await again.end();
print(beside("context.md").split("\n").at(-2));
print(`kept in ${project}`);

function print(text) {
  process.stdout.write(`${text}\n`);
}
