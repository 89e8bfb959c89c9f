/** The usage that the index counts for sessions of other programs. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { nodeHost } from "../base/node-host.ts";
import { SearchIndex } from "../catalog/search/search-index.ts";
import { sumUsage } from "../catalog/search/usage-report.ts";
import { Store } from "../store/store.ts";
import { freshenIndex, HURRIED } from "./indexing.ts";

test("for Claude Code, turns and models are those of the conversation, and every row's usage counts", async () => {
  const root = tempDirectory();
  const answer = (id: string, model: string, output_tokens: number, more = {}) => ({
    type: "assistant",
    sessionId: "s",
    timestamp: "2026-11-15T12:00:00.000Z",
    message: { id, model, content: [{ type: "text", text: id }], usage: { output_tokens } },
    ...more,
  });
  const rows = [
    answer("m1", "small", 5, { isSidechain: true }),
    answer("m2", "large", 7),
    answer("m3", "<synthetic>", 0),
  ];
  const path = join(root, ".entire/metadata/s/full.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

  const index = await SearchIndex.open(join(tempDirectory(), "search.db"));
  onTestFinished(() => index.close());
  const store = new Store(nodeHost, { dialect: "entire", root, onWarning: () => {} });
  const onFailure = (id: string, cause: unknown) => assert.fail(`${id}: ${String(cause)}`);
  await freshenIndex(nodeHost, index, [store], { pace: HURRIED, onFailure });
  const wanted = { places: [store], since: null, until: null, rowsMax: 99, toolsMax: 99 };
  const { rows: used } = await sumUsage(index, wanted);
  const counts = used.map(({ model, turns, outputTokens }) => [model, turns, outputTokens]);
  assert.deepEqual(counts.sort(), [
    ["large", 1, 7],
    ["small", 0, 5],
  ]);
});
