/** Usage of real sessions, compared with counts that do not use this code. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/base/node-host.ts";
import { openUsage } from "../../src/usage/open-usage.ts";
import { Days } from "../../src/usage/report/days.ts";
import { sumOf } from "../../src/usage/report/groups.ts";
import { put } from "../agents/sample.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const samples = sharedFiles("samples", "sample files", "tests that count their usage");

async function count(dialect: string, files: Readonly<Record<string, string>>) {
  const home = tempDirectory();
  const root = join(home, "root");
  for (const [path, name] of Object.entries(files)) {
    put(join(root, path), readFileSync(join(samples.path, name)));
  }
  const { usage } = await openUsage(nodeHost, {
    ...{
      cwd: home,
      nowMs: Date.now(),
      directory: join(home, "usage"),
      ownPath: join(home, "none"),
    },
    stores: [{ dialect, root }],
    onFailure: (id, cause) => assert.fail(`${id}: ${String(cause)}`),
  });
  return sumOf(usage, usage.chosen(new Days("UTC")));
}

test.runIf(samples.isThere)(
  "Gemini CLI's tokens are those that another reader expects",
  async () => {
    const { models } = await count("gemini-cli", {
      "tmp/app/chats/session-2026-04-23T12-52-0ab84937.jsonl": "gemini-cli/vct-gemini.jsonl",
    });
    const text = readFileSync(join(samples.path, "gemini-cli/vct-gemini.expected.json"), "utf8");
    const { records } = JSON.parse(text) as {
      records: { conversationUsage: Record<string, Record<string, number>> }[];
    };
    const expected = Object.entries(records[0]?.conversationUsage ?? {}).map(([model, usage]) => [
      model,
      (usage.total_tokens ?? 0) - (usage.tool_tokens ?? 0),
    ]);
    const found = models.map(({ model, total }) => [model, total]);
    assert.deepEqual(new Map(found as [string, number][]), new Map(expected as [string, number][]));
  },
);

const ROLLOUT = "agentcmd-rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a";

test.runIf(samples.isThere)("a rollout of Codex has the tokens of its last total", async () => {
  const name = `codex/${ROLLOUT}.jsonl`;
  const path =
    "sessions/2025/09/25/rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a.jsonl";
  const sum = await count("codex", { [path]: name });
  const rows = readFileSync(join(samples.path, name), "utf8").split("\n").filter(Boolean);
  const totals = rows
    .map((row) => JSON.parse(row).payload?.info?.total_token_usage)
    .filter((total) => total);
  const last = totals.at(-1);
  assert.deepEqual(
    [sum.input + sum.cacheRead, sum.cacheRead, sum.output],
    [last.input_tokens, last.cached_input_tokens, last.output_tokens],
  );
});
