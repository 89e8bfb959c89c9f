/** The search index between processes, some of which are killed. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { findEntries } from "../../src/sessions/search/find-entries.ts";
import { freshenIndex, HURRIED } from "../../src/sessions/search/freshen-index.ts";
import { SearchIndex } from "../../src/sessions/search/search-index.ts";
import { understandQuery } from "../../src/sessions/search/search-page.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { startChild } from "../support/child.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const SESSIONS = 30;
const ENTRIES = 40;

test("concurrent indexing processes that are killed leave each entry in the index once", async () => {
  const root = tempDirectory();
  const path = join(tempDirectory(), "search.db");
  for (let n = 0; n < SESSIONS; n++) {
    const directory = join(root, ".ai/threads", `cook-${n}`);
    mkdirSync(directory, { recursive: true });
    const line = { ts: "2026-01-01T00:00:00Z", type: "user_message", text: `all word${n}` };
    const text = `${JSON.stringify({ ...line, thread_id: `cook-${n}`, directive: "cook" })}\n`;
    writeFileSync(join(directory, "transcript.jsonl"), text.repeat(ENTRIES));
  }
  const start = () => startChild("test/crash/indexing-child.ts", path, root);
  for (const begun of [3, 9]) {
    const children = [start(), start()];
    const [killed] = children;
    for (let line: string | null = ""; line !== null && line !== `begun ${begun}`; ) {
      line = (await killed?.line()) ?? null;
    }
    await Promise.all(children.map((child) => child.kill()));
  }
  const last = [start(), start()];
  for (const child of last) assert.equal(await child.exitCode(), 0);

  const index = await SearchIndex.open(path);
  onTestFinished(() => index.close());
  const store = new Store(nodeHost, { dialect: "rye", root });
  const onFailure = (id: string) => assert.fail(id);
  assert.equal(await freshenIndex(nodeHost, index, [store], { pace: HURRIED, onFailure }), true);
  const page = await index.attempt((cache) =>
    findEntries(cache, understandQuery("all", 0), {
      places: [store],
      after: null,
      limit: 9_999,
      examinedMax: 99_999,
    }),
  );
  const places = new Set(page.entries.map(({ id, start }) => `${id}@${start}`));
  assert.deepEqual([page.entries.length, places.size], [SESSIONS * ENTRIES, SESSIONS * ENTRIES]);
  const check = "INSERT INTO words (words, rank) VALUES ('integrity-check', 0)";
  await index.attempt((cache) => cache.run(check)); // Refused if anything in it is wrong.
});
