import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { openUsage } from "./open-usage.ts";

const DAY_S = 86_400;
const NOW_S = Math.floor(Date.now() / 1000);
const SESSION = "projects/p/s1.jsonl";
const SUBAGENT = "projects/p/s1/subagents/agent-1.jsonl";

const row = (id: string) =>
  `${JSON.stringify({
    type: "assistant",
    sessionId: "s1",
    cwd: "/app",
    timestamp: "2026-11-10T10:00:00.000Z",
    message: { id, model: "m", usage: { input_tokens: 1 } },
  })}\n`;

function place() {
  const home = tempDirectory();
  const root = join(home, ".claude");
  const write = (path: string, ids: string, daysAgo: number) => {
    const full = join(root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, Array.from(ids, row).join(""));
    for (const each of [full, dirname(full)]) {
      utimesSync(each, NOW_S - daysAgo * DAY_S, NOW_S - daysAgo * DAY_S);
    }
  };
  /** How many logs had changed. */
  const look = async (daysLater = 0) => {
    const { changed } = await openUsage(nodeHost, {
      cwd: home,
      nowMs: (NOW_S + daysLater * DAY_S) * 1000,
      directory: join(home, "usage"),
      ownPath: join(home, "x"),
      stores: [{ dialect: "claude-code", root }],
      onFailure: (id) => assert.fail(id),
    });
    return changed;
  };
  return { write, look };
}

test("a subagent that is writing is found, though its session does not change", async () => {
  const { write, look } = place();
  write(SESSION, "a", 9);
  write(SUBAGENT, "b", 0.5);
  assert.equal(await look(), 2);
  write(SUBAGENT, "bc", 0.4);
  assert.equal(await look(), 1);
});

test("a folder of subagents at rest is looked into when its session or the folder changes", async () => {
  const { write, look } = place();
  write(SESSION, "a", 9);
  write(SUBAGENT, "b", 9);
  assert.equal(await look(), 2);
  write(SUBAGENT, "bc", 8);
  assert.equal(await look(), 0);
  write(SESSION, "ad", 0);
  assert.equal(await look(), 2);
  write("projects/p/s1/subagents/agent-2.jsonl", "e", 0);
  assert.equal(await look(), 1);
});

test("a folder with several logs at rest is listed when the newest of them is a day old or less", async () => {
  const { write, look } = place();
  const other = "projects/p/s1/subagents/agent-2.jsonl";
  write(SESSION, "a", 9);
  write(other, "b", 0.5);
  write(SUBAGENT, "c", 9); // Its folder, too, is old by its own time.
  assert.equal(await look(), 3);
  write(SUBAGENT, "cd", 8);
  assert.equal(await look(), 1);
});

test("what is new in a folder whose session is at rest is found within a day", async () => {
  const { write, look } = place();
  write(SESSION, "a", 9);
  write(SUBAGENT, "b", 9);
  assert.equal(await look(), 2);
  write("projects/p/s1/subagents/agent-2.jsonl", "c", -0.1);
  assert.equal(await look(0.2), 0);
  assert.equal(await look(1.1), 1);
});
