/** Summaries that are continued where they ended are those of the whole log. */

import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { grownSummary, type KeptSummary } from "../../src/sessions/summary/grown-summary.ts";
import { sampleLogs } from "../support/samples.ts";
import { runs } from "../support/seed.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { put, storeAt } from "./read-session.ts";

const samples = sharedFiles("samples");
const CODEX =
  "sessions/2025/09/25/rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a";
const PLACES = [
  { dialect: "claude-code", folder: "claude-code", id: "p/s1", path: "projects/p/s1.jsonl" },
  { dialect: "codex", folder: "codex", id: CODEX, path: `${CODEX}.jsonl` },
  { dialect: "codex", folder: "more/codex", id: CODEX, path: `${CODEX}.jsonl` },
];
const PUBLIC_FILES = PLACES.flatMap((place) => {
  if (!samples.isThere) return [];
  const names = readdirSync(join(samples.path, place.folder), { recursive: true }).map(String);
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => ({ ...place, name, file: join(samples.path, place.folder, name) }));
});
const OWN_FILES = ["claude-code", "codex", "copilot-cli", "qwen"].flatMap((dialect) =>
  sampleLogs(dialect).map(({ name, id, folder, path }) => ({
    dialect,
    id,
    path: relative(folder.path, path),
    name: `${dialect} ${name}`,
    file: path,
  })),
);

/** The summary after each growth, each continued from the JSON of the one before. */
async function grown(dialect: string, root: string, id: string, steps: readonly (() => void)[]) {
  const store = storeAt(dialect, root);
  let kept: KeptSummary | undefined;
  for (const step of steps) {
    step();
    const read = await grownSummary(nodeHost, store, { id }, kept, 2 ** 30);
    kept = read?.kept ? (JSON.parse(JSON.stringify(read.kept)) as KeptSummary) : undefined;
    assert.deepEqual(read?.summary, await store.summaries().summarise(id));
  }
  return kept;
}

test.each([...OWN_FILES, ...PUBLIC_FILES])(
  "$name, read as it grows, has the summary of the whole file",
  async ({ dialect, id, path, file }) => {
    const bytes = readFileSync(file);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: bytes.length }), { minLength: 1, maxLength: 4 }),
        async (cuts) => {
          const root = tempDirectory();
          put(root, path, "");
          const ends = [...cuts.sort((a, b) => a - b), bytes.length];
          const steps = ends.map((end, at) => () => {
            appendFileSync(join(root, path), bytes.subarray(ends[at - 1] ?? 0, end));
          });
          await grown(dialect, root, id, steps);
        },
      ),
      { numRuns: runs(4) },
    );
  },
);

const row = (n: number, text: string) => {
  const said = {
    type: "user",
    uuid: `${n}`,
    timestamp: "2026-01-01T00:00:00.000Z",
    cwd: "/home/me",
  };
  return `${JSON.stringify({ ...said, message: { role: "user", content: text } })}\n`;
};
const many = (text: string) =>
  Array.from({ length: 40 }, (_, n) => row(n, `${text} ${n}`)).join("");

test("a file that was rewritten, cut or replaced is read again from its first byte", async () => {
  const root = tempDirectory();
  const file = join(root, "projects/p/s1.jsonl");
  put(root, "projects/p/s1.jsonl", many("first"));
  await grown("claude-code", root, "p/s1", [
    () => {},
    () => appendFileSync(file, row(50, "more")),
    () => truncateSync(file, row(0, "first 0").length),
    () => appendFileSync(file, many("again")),
    () => writeFileSync(file, many("other") + many("other")),
    () => writeFileSync(file, ""),
    () => appendFileSync(file, row(1, "last").slice(0, -1)),
    () => appendFileSync(file, `x\n${row(2, "end")}`),
  ]);
});

test("what was read before is not read again", async () => {
  const root = tempDirectory();
  const file = join(root, "projects/p/s1.jsonl");
  put(root, "projects/p/s1.jsonl", many("first"));
  const kept = await grown("claude-code", root, "p/s1", [() => {}]);
  const bytes = readFileSync(file);
  bytes.fill("x", 2_000, 2_010); // A bad line, where nothing is compared.
  writeFileSync(file, bytes + row(99, "more"));
  const read = (before: KeptSummary | undefined, bytesMax = 2 ** 20) =>
    grownSummary(nodeHost, storeAt("claude-code", root), { id: "p/s1" }, before, bytesMax);
  const { lines, badLines } = (await read(kept))?.summary ?? assert.fail();
  assert.deepEqual({ lines, badLines }, { lines: 41, badLines: 0 });
  assert.equal((await read(undefined))?.summary.badLines, 1);
  assert.equal(await read(undefined, 1_000), null);
  assert.ok(await read(kept, 1_000));
});
