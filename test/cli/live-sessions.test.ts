/** Which sessions `verbatim ls` calls live: the same as the viewer. */

import assert from "node:assert/strict";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openStore } from "../../src/doors/index.ts";
import { CliUser, jsonLines } from "./cli.ts";
import { put } from "./stores.ts";

async function liveOf(user: CliUser): Promise<Record<string, unknown>> {
  const { stdout } = await user.run(["ls", "--json"]);
  return Object.fromEntries(jsonLines(stdout).map(({ name, live }) => [String(name), live]));
}

test("ls calls a session live while its lock is held, and not when its writer has ended", async () => {
  const user = new CliUser();
  const store = await openStore({ dialect: "rye", root: user.cwd, durability: "os", agent: "me" });
  const session = store.session("me-1");
  await session.append({ kind: "message", role: "user", parts: [{ type: "text", text: "a" }] });
  const past = new Date(Date.now() - 3_600_000);
  utimesSync(join(user.cwd, ".ai/threads/me-1/transcript.jsonl"), past, past);
  const held = await liveOf(user);
  const { stdout: table } = await user.run(["ls"]);
  await store.close();
  assert.deepEqual([held, await liveOf(user)], [{ "me-1": true }, { "me-1": false }]);
  assert.match(table, /^me-1 .* live /m);
});

test("ls calls an agent's session live if it just wrote an entry, and not an imported one", async () => {
  const user = new CliUser();
  const log = (name: string, at: Date) => {
    const row = { type: "user", sessionId: name, uuid: name, cwd: "/home/me/app" };
    const message = { role: "user", content: "Hello" };
    const line = JSON.stringify({ ...row, timestamp: at.toISOString(), message });
    return put(join(user.home, `.claude/projects/-home-me-app/${name}.jsonl`), `${line}\n`);
  };
  const past = new Date(Date.now() - 3_600_000);
  const soon = new Date(Date.now() + 3_600_000); // However slow we are, it is new.
  utimesSync(log("growing", soon), soon, soon);
  log("imported", past);
  utimesSync(log("rested", new Date()), past, past);
  assert.deepEqual(await liveOf(user), { growing: true, imported: false, rested: false });
});
