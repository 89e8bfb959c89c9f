/**
 * `npm run bench -- hooks`: the processor time of one hook call beyond a bare `node -e 0`. The two run
 * alternately, so that other load on the machine affects both.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runBench, say } from "./measure/frame.ts";
import type { Result } from "./measure/result.ts";
import { CLI } from "./sessions/built.ts";

const CPU = fileURLToPath(new URL("./sessions/cpu.mjs", import.meta.url));
const TELL = `process.on("exit", () => { const { user, system } = process.cpuUsage();
  require("node:fs").writeSync(3, String((user + system) / 1000)); });`;
const HOOK = {
  session_id: "bench",
  hook_event_name: "PostToolUse",
  tool_name: "Bash",
  tool_input: { command: "cat README.md" },
  tool_response: { stdout: "x".repeat(4000) },
};
const ATMOST_MS = 60;

await runBench("hooks", async ({ directory, isQuick }) => {
  const runs = isQuick ? 9 : 31;
  const hook = [CPU, fileURLToPath(CLI), "record", "--from", "claude-code-hooks"];
  return [
    beyondNode("one call of a hook", hook, directory, runs),
    beyondNode("the same, to be signed", [...hook, "--sign", "append"], directory, runs),
  ];
});

function beyondNode(what: string, args: readonly string[], home: string, runs: number): Result {
  const measure = `${what}, processor ms beyond node -e 0`;
  say(measure);
  const values: number[] = [];
  cpuMs(args, home); // Creates the spool and the key.
  for (let run = 0; run < runs; run++) {
    const bare = cpuMs(["-e", TELL], home);
    values.push(cpuMs(args, home) - bare);
  }
  const bound = { atMost: ATMOST_MS };
  return { measure, ours: null, reference: null, values, unit: "ms", bound };
}

function cpuMs(args: readonly string[], home: string): number {
  const child = spawnSync(process.execPath, args, {
    cwd: home,
    env: { ...process.env, XDG_STATE_HOME: join(home, "state"), CLAUDE_PROJECT_DIR: home },
    input: JSON.stringify(HOOK),
    encoding: "utf8",
    stdio: ["pipe", "ignore", "inherit", "pipe"],
  });
  if (child.status !== 0) throw new Error(`${args.join(" ")} exited with ${child.status}`);
  return Number(child.output[3]);
}
