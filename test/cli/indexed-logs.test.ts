/**
 * A search of unchanged histories compares the logs with a list, and does not ask the index for them.
 * Whatever changes, in the logs or in the index, is noticed.
 */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { CliUser } from "./cli.ts";

const SESSIONS = 100;

class Searched {
  readonly user = new CliUser();
  readonly index = join(this.user.home, ".cache/verbatim/search.db");
  readonly list = `${this.index}.logs`;
  readonly #projects = join(this.user.home, ".claude/projects/-home-me-app");

  constructor() {
    mkdirSync(this.#projects, { recursive: true });
    for (let n = 0; n < SESSIONS; n++) this.put(n, "apple");
  }

  pathOf(n: number): string {
    return join(this.#projects, `00000000-0000-4000-8000-${String(n).padStart(12, "0")}.jsonl`);
  }

  put(n: number, word: string): void {
    writeFileSync(this.pathOf(n), "");
    this.say(n, word);
  }

  say(n: number, word: string): void {
    const row = { type: "user", uuid: `${n}-${word}`, timestamp: "2026-01-01T00:00:00.000Z" };
    const line = JSON.stringify({ ...row, message: { role: "user", content: `a ${word} here` } });
    appendFileSync(this.pathOf(n), `${line}\n`);
  }

  /**
   * In its own process: one that lived on could write to the index when it collects a database that
   * was closed (core/sqlite/sqlite.ts, Q4), and the list would then be of an older index.
   */
  async count(word: string): Promise<number> {
    const asked = ["search", word, "--json", "--limit", "1000"];
    const { stdout } = await this.user.run(asked, { isOwnProcess: true });
    return stdout.split("\n").length - 1;
  }

  /** Searches until the list is of the index and the logs as they are. */
  async settle(): Promise<void> {
    await this.count("apple");
    for (const path of [this.index, `${this.index}-wal`]) {
      if (existsSync(path)) utimesSync(path, 1_700_000_000, 1_700_000_000);
    }
    rmSync(this.list, { force: true });
    await this.count("apple");
    assert.ok(existsSync(this.list));
  }
}

test("a search stores the list of logs only if the index has them all, and uses it after that", async () => {
  const searched = new Searched();
  assert.equal(await searched.count("apple"), SESSIONS);
  assert.ok(!existsSync(searched.list)); // It wrote to the index.
  await searched.settle();
  const { mtimeMs } = statSync(searched.list);
  assert.equal(await searched.count("apple"), SESSIONS);
  assert.equal(statSync(searched.list).mtimeMs, mtimeMs);
  // With a list that says so, a changed log counts as indexed: the list is used.
  searched.say(3, "banana");
  const { size, mtimeMs: changedMs } = statSync(searched.pathOf(3));
  const line = /(000003\.jsonl\0)\d+ \d+/;
  const kept = readFileSync(searched.list, "utf8");
  const other = kept.replace(line, `$1${size} ${Math.round(changedMs * 1000)}`);
  const [header = ""] = kept.split("\n", 1);
  const grown = Buffer.byteLength(other) - Buffer.byteLength(kept);
  const { logsBytes, ...rest } = JSON.parse(header);
  const newHeader = JSON.stringify({ ...rest, logsBytes: logsBytes + grown });
  writeFileSync(searched.list, other.replace(header, newHeader), { mode: 0o600 });
  assert.equal(await searched.count("banana"), 0);
  rmSync(searched.list);
  assert.equal(await searched.count("banana"), 1);
});

test("a search notices logs that grew, were written again, came or went, and an index that changed", async () => {
  const searched = new Searched();
  await searched.settle();
  searched.say(0, "banana");
  assert.equal(await searched.count("banana"), 1);
  await searched.settle();
  const { size } = statSync(searched.pathOf(1));
  searched.put(1, "mango");
  assert.equal(statSync(searched.pathOf(1)).size, size);
  assert.equal(await searched.count("mango"), 1);
  await searched.settle();
  searched.put(SESSIONS, "cherry");
  assert.equal(await searched.count("cherry"), 1);
  await searched.settle();
  rmSync(searched.pathOf(SESSIONS));
  assert.equal(await searched.count("cherry"), 0);
  await searched.settle();
  for (const ending of ["", "-wal", "-shm"]) rmSync(searched.index + ending, { force: true });
  assert.equal(await searched.count("apple"), SESSIONS - 1);
  await searched.settle();
  writeFileSync(searched.index, "not a database");
  assert.equal(await searched.count("apple"), SESSIONS - 1);
  await searched.settle();
  const { code } = await searched.user.run(["search", "--rebuild"], { isOwnProcess: true });
  assert.equal(code, 0);
  assert.equal(await searched.count("apple"), SESSIONS - 1);
});
