import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { nodeDoctor } from "../../../test/support/examining.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { FIND_DEPTH_MAX, findLogs } from "../../dialects/find.ts";
import { examineSessions } from "./examine.ts";

async function examined(root: string, dialect: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const step of examineSessions(nodeDoctor, { root, dialect })) {
    if ("session" in step) ids.push(step.session.id ?? "");
  }
  return ids.sort();
}

function listed(root: string, dialect: string): string[] {
  return findLogs(root, dialectNamed(dialect).naming.layout)
    .map(({ id }) => id)
    .sort();
}

function put(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
}

test("whatever the tree, the sessions examined are those that a listing finds", async () => {
  // Method: few names, so that they often collide: logs, and paths that look like logs, at any
  // depth.
  const name = fc.constantFrom("agents", "sessions", "a", "b-1", "x.y", "metadata");
  const file = fc.constantFrom("transcript.jsonl", "full.jsonl", "s.jsonl", "s.jsonl.lock", "t");
  const path = fc.tuple(fc.array(name, { maxLength: 4 }), file);
  await fc.assert(
    fc.asyncProperty(fc.array(path, { maxLength: 12 }), async (paths) => {
      const root = tempDirectory();
      for (const [directories, last] of paths) {
        for (const under of [[".ai", "threads"], [".entire", "metadata"], ["agents"]]) {
          try {
            put(join(root, ...under, ...directories, last));
          } catch {
            // Another path has a file where this one needs a directory.
          }
        }
      }
      for (const dialect of ["rye", "homeagent", "entire"] as const) {
        assert.deepEqual(await examined(root, dialect), listed(root, dialect), dialect);
      }
    }),
    { numRuns: 40 },
  );
});

test("threads are examined as deep as they are listed, and no deeper", async () => {
  const root = tempDirectory();
  const at = (depth: number) => join(root, ".ai/threads", ..."d".repeat(depth), "transcript.jsonl");
  put(at(FIND_DEPTH_MAX));
  put(at(FIND_DEPTH_MAX + 1));
  assert.deepEqual(listed(root, "rye"), [Array(FIND_DEPTH_MAX).fill("d").join("/")]);
  assert.deepEqual(await examined(root, "rye"), listed(root, "rye"));
});
