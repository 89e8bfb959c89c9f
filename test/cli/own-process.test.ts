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

/** Each runs after the ones before it, in the same directory. */
const COMMANDS: readonly (readonly [readonly string[], RunOptions?])[] = [
  [[]],
  [["--version"]],
  [["show", "--help"]],
  [["shwo"]],
  [["ls"]],
  [["show", "hello-1"]],
  [["show", "hello-1", "--json"]],
  [["show", "none"]],
  [["keys", "list"]],
  [["verify"]],
  [["verify", "--json"]],
  [RECORD, { input: HOOK }],
  [RECORD, { input: "no JSON" }],
  [[...RECORD, "--within", "100"], { input: HOOK }],
  [["show", "claude-code-hooks/6f1c"], { env: { TZ: "Asia/Tokyo" } }],
  [["show", "claude-code-hooks/6f1c"]],
  [["stats"]],
  [["doctor"]],
];

async function ranAll(user: CliUser, isOwnProcess: boolean): Promise<Ran[]> {
  const all: Ran[] = [];
  for (const [args, options] of COMMANDS) {
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

test("commands print and exit the same in a shared process as in a process each", async () => {
  const [alone, together] = [new CliUser(), new CliUser()];
  putThread(alone.cwd, "hello-1");
  cpSync(alone.cwd, together.cwd, { recursive: true, preserveTimestamps: true });
  const [own, shared] = [await ranAll(alone, true), await ranAll(together, false)];
  assert.equal(comparable(together, shared), comparable(alone, own));
  assert.ok(new Set(own.map(({ code }) => code)).size > 2);
});
