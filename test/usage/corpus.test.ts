/** Histories on which every total is known by construction, with duplicates of each kind. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "vitest";
import { makeCorpus } from "../../bench/usage/corpus.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { openUsage } from "../../src/usage/open-usage.ts";
import { Days } from "../../src/usage/report/days.ts";
import { sumOf } from "../../src/usage/report/groups.ts";
import { tempDirectory } from "../support/temp-directory.ts";

test("the tokens of each model are those that were written, duplicates once", async () => {
  const home = tempDirectory();
  const size = { sessions: 48, subagents: 20, rollouts: 6, answers: 60 };
  const { totals, files } = makeCorpus(home, size);
  const count = async () => {
    const { usage, changed } = await openUsage(nodeHost, {
      cwd: home,
      nowMs: Date.now(),
      directory: join(home, "usage"),
      stores: [
        { dialect: "claude-code", root: join(home, ".claude") },
        { dialect: "codex", root: join(home, ".codex") },
      ],
      ownPath: join(home, "none"),
      onFailure: (id) => assert.fail(id),
    });
    const { models } = sumOf(usage, usage.chosen(new Days("UTC")));
    const found = models.map(({ model, input, output, cacheWrite5m, cacheWrite1h, cacheRead }) => {
      return [
        model,
        { input, output, cacheWrite: cacheWrite5m + cacheWrite1h, cacheRead },
      ] as const;
    });
    return { found: new Map(found), changed };
  };
  assert.deepEqual(await count(), { found: totals, changed: files.length });
  assert.deepEqual(await count(), { found: totals, changed: 0 });
});
