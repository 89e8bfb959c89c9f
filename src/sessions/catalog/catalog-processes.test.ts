/** The catalog between processes, and on a full disk: real processes, real limits. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { compiledText } from "../../../test/support/program.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { Catalog } from "./catalog.ts";

/** Freshens 300 sessions and prints the outcome. */
const program = compiledText(`
import { Catalog } from "./src/sessions/catalog/catalog.ts";
import { NOTHING_KNOWN } from "./src/sessions/summary/summary.ts";

const [path, root] = process.argv.slice(2);
const found = Array.from({ length: 300 }, (_, n) => (
  { id: "s" + n, path: "s" + n + ".jsonl", size: n, mtimeMs: 5 }
));
const catalog = await Catalog.open(path);
const { lines, failures, summarised } = await catalog.freshen("rye", root, found, async (id) => (
  { ...NOTHING_KNOWN, title: id.padEnd(200, "x") }
));
const { problem } = catalog;
catalog.close();
console.log(JSON.stringify({ rows: lines.length, failures: failures.length, summarised, problem }));
`);

async function run(path: string, root: string, limit = ""): Promise<Record<string, unknown>> {
  const node = [process.execPath, await program, path, root];
  const child = spawn("sh", ["-c", `${limit} exec "$@"`, "sh", ...node], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  return JSON.parse(out) as Record<string, unknown>;
}

test("processes that list at the same time all get every row, and leave a catalog that is whole", async () => {
  const root = tempDirectory();
  const path = join(tempDirectory(), "catalog.db");
  const results = await Promise.all(Array.from({ length: 4 }, () => run(path, root)));

  for (const { rows, failures, problem } of results) {
    assert.deepEqual({ rows, failures, problem }, { rows: 300, failures: 0, problem: null });
  }
  const catalog = await Catalog.open(path);
  const count = "SELECT count(*) FROM sessions";
  assert.equal(await catalog.attempt((cache) => cache.value(count), 0), 300);
  catalog.close();
  assert.equal((await run(path, root)).summarised, 0);
});

test("processes that find a damaged catalog at the same time all continue, and leave a catalog that is whole", async () => {
  const root = tempDirectory();
  const path = join(tempDirectory(), "cache/catalog.db");
  mkdirSync(join(path, ".."));
  writeFileSync(path, "no database at all\n".repeat(1000));

  const results = await Promise.all(Array.from({ length: 4 }, () => run(path, root)));
  for (const { rows, failures } of results) assert.deepEqual([rows, failures], [300, 0]);
  await run(path, root);
  const last = await run(path, root);
  assert.deepEqual([last.summarised, last.problem], [0, null]);
});

test("a disk that is full costs time and nothing else", async () => {
  // Method: files may grow to 32 blocks only, too little for 300 rows.
  const root = tempDirectory();
  const path = join(tempDirectory(), "catalog.db");
  const { rows, failures, summarised, problem } = await run(path, root, "ulimit -f 32;");

  assert.deepEqual([rows, failures, summarised], [300, 0, 300]);
  assert.match(String(problem), /^SQLITE_(FULL|IOERR)/);
  const next = await run(path, root);
  assert.deepEqual([next.rows, next.problem], [300, null]);
});
