import assert from "node:assert/strict";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { RowSet } from "../row-set.ts";
import { FLAGS } from "../usage-row.ts";
import { UsageLedger } from "./ledger.ts";
import { type Pack, packOf } from "./pack.ts";

/** Rows with these keys, as a file that was counted. */
function packWith(path: string, keys: readonly number[], output: number, flags = 0): Pack {
  const set = new RowSet();
  for (const key of keys) {
    set.next.keyLow[0] = key;
    set.next.output[0] = output;
    set.next.at[0] = 1_000 + key;
    set.next.flags[0] = flags;
    set.next.model[0] = set.modelIndex(`model-${key % 3}`);
    set.put();
  }
  const file = {
    dialect: "claude-code",
    root: "/root",
    id: path,
    path,
    size: output,
    mtimeMs: 1,
    reached: null,
    name: path,
    parent: null,
    project: null,
    directory: null,
    scope: path,
    replays: null,
    startedAt: null,
    rows: set.rows.length,
  };
  return packOf([file], set.models, set.rows);
}

function stateOf(directory: string) {
  const ledger = UsageLedger.open(directory);
  const { rows, models, files } = ledger;
  return {
    files: files.map(({ path, size, firstAt }) => [path, size, firstAt]),
    rows: Array.from({ length: rows.length }, (_, row) => {
      return [
        rows.keyLow[row],
        rows.output[row],
        models[rows.model[row] ?? 0],
        ledger.ownerOf(row),
      ];
    }).sort(([a], [b]) => Number(a) - Number(b)),
  };
}

const some = Array.from({ length: 9_000 }, (_, n) => n + 1);

test("a ledger is the same with and without its snapshot", async () => {
  const directory = tempDirectory();
  const ledger = UsageLedger.open(directory);
  ledger.add(packWith("a", some, 5));
  assert.equal(await ledger.save(), true);
  assert.ok(statSync(join(directory, "snapshot.bin")).size > 0);
  const next = UsageLedger.open(directory);
  next.add(packWith("b", [1, 2, 99_999], 7));
  await next.save();
  const withSnapshot = stateOf(directory);
  rmSync(join(directory, "snapshot.bin"));
  assert.deepEqual(stateOf(directory), withSnapshot);
  assert.equal(withSnapshot.rows.length, some.length + 1);
});

test("a ledger with many repeated rows is written again, and says the same", async () => {
  const directory = tempDirectory();
  let longest = 0;
  for (let time = 1; time <= 24; time++) {
    const ledger = UsageLedger.open(directory);
    ledger.add(packWith("a", some, time, FLAGS.lastWins));
    await ledger.save();
    longest = Math.max(longest, statSync(join(directory, "ledger.bin")).size);
  }
  assert.ok(longest < 12e6, String(longest));
  const { rows, files } = stateOf(directory);
  assert.deepEqual([rows.length, rows[0]?.[1], files.length], [some.length, 24, 1]);
});

test("two processes that write at once lose nothing: the second counts again", async () => {
  const directory = tempDirectory();
  const [one, other] = [UsageLedger.open(directory), UsageLedger.open(directory)];
  one.add(packWith("a", [1], 5));
  other.add(packWith("b", [2], 5));
  assert.deepEqual([await one.save(), await other.save()], [true, false]);
  const next = UsageLedger.open(directory);
  assert.equal(next.known("/root", "b"), undefined);
  next.add(packWith("b", [2], 5));
  assert.equal(await next.save(), true);
  assert.equal(stateOf(directory).rows.length, 2);
});
