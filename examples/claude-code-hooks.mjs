/**
 * claude-code-hooks: what Claude Code does with the settings in docs/integrations.md. Each hook is a
 * process that gets an event on stdin. If the example is killed, the next run continues.
 *
 *     node examples/claude-code-hooks.mjs [project directory]
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "verbatim-log";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-hooks-"))] = process.argv;
const tool = { tool_name: "Bash", tool_use_id: "toolu_1", tool_input: { command: "ls" } };
const HOOKS = [
  { hook_event_name: "SessionStart", source: "startup" },
  { hook_event_name: "UserPromptSubmit", prompt: "What is in here?" },
  { hook_event_name: "PreToolUse", ...tool },
  { hook_event_name: "PostToolUse", ...tool, tool_response: { stdout: "readme\n" } },
  { hook_event_name: "Stop", stop_hook_active: false },
];

const store = await openStore({ dialect: "claude", root: project });
const session = store.session("claude-code-hooks/6f1c");
let known = 0;
if (await store.has(session.id)) for await (const _ of session.entries()) known++;
print(`${known} hooks are there already`);

// Installed, the command is `verbatim` with the arguments ["record", "--from", "claude-code-hooks"].
const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
for (const hook of HOOKS.slice(known)) {
  execFileSync(process.execPath, [main, "record", "--from", "claude-code-hooks"], {
    input: JSON.stringify({ session_id: "6f1c", cwd: project, ...hook }),
    env: { ...process.env, CLAUDE_PROJECT_DIR: project },
  });
  print(`recorded: ${hook.hook_event_name}`);
}

for await (const { role, parts } of session.entries()) {
  for (const part of parts) print(`${role}: ${part.type === "text" ? part.text : part.type}`);
}
await store.close();
print(`kept in ${project}`);

function print(line) {
  process.stdout.write(`${line}\n`);
}
