import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../../test/support/temp-directory.ts";
import { findThreadMetas, META_BYTES_MAX } from "./threads.ts";

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function found(project: string): Promise<Map<string, unknown>> {
  const metas = new Map<string, unknown>();
  for await (const { below, meta } of findThreadMetas(project)) metas.set(below, meta);
  return metas;
}

test("every thread is found, at any depth, with its parsed thread.json", async () => {
  const project = tempDirectory();
  const threads = join(project, ".ai/threads");
  put(join(threads, "a/thread.json"), '{"a":1}');
  put(join(threads, "a/b/c/thread.json"), "null");
  put(join(threads, "corrupt/thread.json"), "{");
  put(join(threads, "without/transcript.jsonl"), "");
  put(join(threads, "above/notes.txt"), "no thread's");
  mkdirSync(join(threads, "won"));
  put(join(threads, "registry.db"), "");

  assert.deepEqual(
    await found(project),
    new Map<string, unknown>([
      ["a", { a: 1 }],
      ["a/b/c", null],
      ["corrupt", undefined],
      ["without", undefined],
      ["won", undefined],
    ]),
  );
});

test("a thread.json at the limit is read, one past it is not", async () => {
  const project = tempDirectory();
  const json = (length: number) => `"${"x".repeat(length - 2)}"`;
  put(join(project, ".ai/threads/at/thread.json"), json(META_BYTES_MAX));
  put(join(project, ".ai/threads/past/thread.json"), json(META_BYTES_MAX + 1));
  const metas = await found(project);

  assert.equal(typeof metas.get("at"), "string");
  assert.equal(metas.has("past"), true);
  assert.equal(metas.get("past"), undefined);
});

test("no link is followed, not even to the directory of threads itself (TH1)", async () => {
  const elsewhere = tempDirectory();
  put(join(elsewhere, ".ai/threads/x/thread.json"), "{}");
  const project = tempDirectory();
  mkdirSync(join(project, ".ai/threads/y"), { recursive: true });
  symlinkSync(join(elsewhere, ".ai/threads/x"), join(project, ".ai/threads/x"));
  symlinkSync(
    join(elsewhere, ".ai/threads/x/thread.json"),
    join(project, ".ai/threads/y/thread.json"),
  );
  const linked = tempDirectory();
  symlinkSync(join(elsewhere, ".ai"), join(linked, ".ai"));

  assert.deepEqual([...(await found(project))], []);
  assert.deepEqual([...(await found(linked))], []);
  assert.deepEqual([...(await found(join(project, "nowhere")))], []);
});

test("reading many threads yields to other work, and reports progress (TH2)", async () => {
  const project = tempDirectory();
  for (let n = 0; n < 3000; n++) put(join(project, `.ai/threads/t-${n}/thread.json`), `{"n":${n}}`);
  let turns = 0;
  let isDone = false;
  const others = (async () => {
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
  })();
  const told: number[] = [];
  let count = 0;
  for await (const _ of findThreadMetas(project, (found) => told.push(found))) count++;
  isDone = true;
  await others;

  assert.equal(count, 3000);
  assert.ok(told.length > 0 && turns >= told.length);
  assert.deepEqual(
    told,
    [...told].sort((a, b) => a - b),
  );
});
