import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { openUsage } from "../open-usage.ts";
import { blocksOf } from "./blocks.ts";
import { Days } from "./days.ts";

async function blocksAt(times: readonly string[], now: string) {
  const home = tempDirectory();
  const root = join(home, ".claude");
  mkdirSync(join(root, "projects/p"), { recursive: true });
  const rows = times.map((timestamp, n) => {
    const message = { id: `m${n}`, model: "gpt-5", usage: { output_tokens: 1_000 } };
    return `${JSON.stringify({ timestamp, message, sessionId: "s" })}\n`;
  });
  writeFileSync(join(root, "projects/p/s.jsonl"), rows.join(""));
  const { usage } = await openUsage(nodeHost, {
    cwd: home,
    nowMs: Date.parse(now),
    directory: join(home, "usage"),
    stores: [{ dialect: "claude-code", root }],
    ownPath: join(home, "none"),
    onFailure: (id) => assert.fail(id),
  });
  return blocksOf(usage, usage.chosen(new Days("UTC")), Date.parse(now));
}

test("a block begins with the hour of its first response and lasts five hours", async () => {
  const times = ["T08:59:00Z", "T12:59:59Z", "T13:00:00Z"].map((time) => `2026-11-15${time}`);
  const blocks = await blocksAt(times, "2026-11-15T13:30:00Z");
  assert.deepEqual(
    blocks.map(({ start, responses, isActive }) => [
      new Date(start).toISOString(),
      responses,
      isActive,
    ]),
    [
      ["2026-11-15T08:00:00.000Z", 2, false],
      ["2026-11-15T13:00:00.000Z", 1, true],
    ],
  );
});

test("an active block has a rate, once it lasts a minute", async () => {
  const times = ["T10:00:00Z", "T10:30:00Z"].map((time) => `2026-11-15${time}`);
  const [block] = await blocksAt(times, "2026-11-15T11:00:00Z");
  // 2,000 tokens at 10 dollars per million, in half an hour.
  assert.equal(block?.costPerHour, 0.04);
  assert.equal(Math.round(block?.tokensPerMinute ?? 0), 67);
});
