/**
 * A command that shares its process with others (command-servers.ts) behaves as in its own process.
 */

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { test } from "vitest";
import { CliUser, type Ran, type RunOptions } from "./cli.ts";
import { putThread } from "./stores.ts";

const HOOK = JSON.stringify({ session_id: "6f1c", hook_event_name: "Told" });
const RECORD = ["record", "--from", "claude-code-hooks"];

/** Arguments, the exit code, and what else it gets. */
type Command = readonly [readonly string[], code: number, RunOptions?];

/** Of each group, one runs after the ones before it, in the same directory. */
const COMMANDS: Readonly<Record<string, readonly Command[]>> = {
  "of help": [
    [[], 0],
    [["--version"], 0],
    [["show", "--help"], 0],
    [["shwo"], 2],
  ],
  "that read": [
    [["ls"], 0],
    [["show", "hello-1"], 0],
    [["show", "hello-1", "--json"], 0],
    [["show", "none"], 7],
    [["keys", "ls"], 0],
    [["verify"], 3],
    [["verify", "--json"], 3],
  ],
  "that record": [
    [RECORD, 0, { input: HOOK }],
    [RECORD, 0, { input: "no JSON" }],
    [[...RECORD, "--within", "60000"], 0, { input: HOOK }],
    [["show", "claude-code-hooks/6f1c", "--json"], 0, { env: { TZ: "Asia/Tokyo" } }],
    [["show", "claude-code-hooks/6f1c"], 7], // It has no message to show.
    [["usage"], 0],
    [["doctor"], 1],
  ],
};

async function ranAll(
  user: CliUser,
  commands: readonly Command[],
  isOwnProcess: boolean,
): Promise<Ran[]> {
  const all: Ran[] = [];
  for (const [args, , options] of commands) {
    all.push(await user.run(args, { ...options, isOwnProcess }));
  }
  return all;
}

/** Without what differs from run to run: the user's directories, times and random ids. */
function comparable(user: CliUser, all: readonly Ran[]): string {
  return JSON.stringify(all, null, 1)
    .replaceAll(user.cwd, "CWD")
    .replaceAll(user.home, "HOME")
    .replaceAll(/\d+(-\d+-\d+T[\d:.]+Z| ms\b)|\b\d+:\d+(:\d+)?\b/g, "TIME")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
}

test.each(Object.entries(COMMANDS))(
  "commands %s print and exit the same in a shared process as in a process each",
  async (_, commands) => {
    const [alone, together] = [new CliUser(), new CliUser()];
    putThread(alone.cwd, "hello-1");
    cpSync(alone.cwd, together.cwd, { recursive: true, preserveTimestamps: true });
    const [own, shared] = await Promise.all([
      ranAll(alone, commands, true),
      ranAll(together, commands, false),
    ]);
    assert.equal(comparable(together, shared), comparable(alone, own));
    assert.deepEqual(
      own.map(({ code }) => code),
      commands.map(([, code]) => code),
    );
  },
);
