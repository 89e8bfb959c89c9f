/** The examples of docs/formats/usage.md on sums and served stores, checked against the code. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { servedFolder } from "../../src/server/usage/live-usage.ts";
import { openUsage } from "../../src/usage/open-usage.ts";
import { readSums } from "../../src/usage/sums/sums-file.ts";
import { docsPage } from "../support/docs-page.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const page = docsPage("formats/usage");

test("the example of kept sums has the fields that are written", async () => {
  const home = tempDirectory();
  const root = join(home, ".claude");
  mkdirSync(join(root, "projects/p"), { recursive: true });
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "a", model: "claude-opus-4-5-20251101", usage };
  const timestamp = "2026-11-16T10:00:00.000Z";
  writeFileSync(join(root, "projects/p/6f1c.jsonl"), `${JSON.stringify({ timestamp, message })}\n`);
  const directory = join(home, "usage");
  await openUsage(nodeHost, {
    cwd: home,
    nowMs: Date.parse("2026-11-17T12:00:00Z"),
    directory,
    stores: [{ dialect: "claude-code", root }],
    ownPath: join(home, "none"),
    onFailure: (id) => assert.fail(id),
  });
  const [line = ""] = page.lines("json sums");
  const example = JSON.parse(line) as Record<string, unknown>;
  const written = readSums(directory)?.head as unknown as Record<string, unknown>;
  assert.deepEqual(Object.keys(example), Object.keys(written));
  for (const name of ["models", "dialects", "sessions", "limited"]) {
    assert.deepEqual(example[name], written[name], name);
  }
  assert.equal(String(example.first).slice(0, 8), String(written.first).slice(0, 8));
  const head = readFileSync(join(directory, "sums.bin")).subarray(0, 20);
  assert.equal(head.toString("latin1", 0, 4), "VBUC");
  assert.deepEqual(
    [4, 12, 16].map((at) => head.readUInt32LE(at)),
    [4, 1, 1],
  );
});

test("the example of a served store has the folder that the server uses", () => {
  const [store = "", folder] = page.lines("text served");
  const [dialect = "", root = ""] = store.split(" ");
  assert.equal(servedFolder([{ dialect, root }]), folder);
});
