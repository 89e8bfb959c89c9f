/** `verbatim doctor --fix` as a person or a script uses it. The repairs are tested with the library. */

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeSickStore } from "../doctor/sick-store.ts";
import { startChild } from "../support/child.ts";
import { WHOLE_THREAD, writeThread } from "../support/examining.ts";
import { settledTreeAt, treeAt } from "../support/tree.ts";
import { CliUser, jsonLines } from "./cli.ts";

async function userWithSickThread(): Promise<{ user: CliUser; path: string }> {
  const user = new CliUser();
  const path = await writeThread(user.cwd, "hello-1", WHOLE_THREAD);
  appendFileSync(path, '{"torn');
  rmSync(join(dirname(path), "transcript.md"));
  return { user, path };
}

test("repair prints what it did, and exits 0 when no finding is left", async () => {
  const { user, path } = await userWithSickThread();
  const { code, stdout, stderr } = await user.run(["doctor", "--fix", "hello-1"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(
    stdout,
    [
      `hello-1  ${path}`,
      `  mended TORN_TAIL: cut 6 torn bytes, kept in ${path}.torn-0`,
      "  mended DERIVED_MISSING: made transcript.md from the log",
      "looked at 1 session: mended 2, 0 left",
      "",
    ].join("\n"),
  );
  assert.equal(readFileSync(`${path}.torn-0`, "utf8"), '{"torn');
  assert.equal((await user.run(["doctor"])).code, 0);
});

test("a second run changes no name, byte, time or permission, and says so", async () => {
  const user = new CliUser();
  await makeSickStore(user.cwd);
  assert.equal((await user.run(["doctor", "--fix"])).code, 1);
  const before = [await settledTreeAt(user.cwd), treeAt(user.home)];
  const { code, stdout } = await user.run(["doctor", "--fix"]);
  assert.equal(code, 1);
  assert.match(stdout, /nothing to mend, \d+ left\n$/);
  assert.deepEqual([treeAt(user.cwd), treeAt(user.home)], before);
});

test("findings that cannot be repaired are reported with the reason, and the exit code is 1", async () => {
  const { user, path } = await userWithSickThread();
  appendFileSync(path, '"}\nno json\nno json\n');
  const { code, stdout } = await user.run(["doctor", "--fix", path]);
  assert.equal(code, 1);
  assert.match(
    stdout,
    / {2}left error BAD_LINE: line 6, .*: not JSON \(and 2 more\): --fix does not alter a log's bytes/,
  );
});

test("a dry run prints what would be repaired and what would be left", async () => {
  const { user, path } = await userWithSickThread();
  const before = await settledTreeAt(user.cwd);
  const { code, stdout } = await user.run(["doctor", "--fix", "--dry-run"]);
  assert.equal(code, 0);
  assert.match(stdout, /would mend warning TORN_TAIL: .*: --fix keeps the bytes/);
  assert.match(stdout, /looked at 1 session: would mend 2, 0 left\n$/);
  assert.deepEqual(treeAt(user.cwd), before);
  assert.equal(existsSync(`${path}.torn-0`), false);
});

test("--json prints one step per line, and a summary last", async () => {
  const { user, path } = await userWithSickThread();
  appendFileSync(path, "\n");
  const { code, stdout } = await user.run(["doctor", "--fix", "--json"]);
  assert.equal(code, 1);
  const directory = dirname(path);
  assert.deepEqual(jsonLines(stdout), [
    {
      action: "mended",
      code: "DERIVED_MISSING",
      session: "hello-1",
      path: join(directory, "transcript.md"),
      did: "made transcript.md from the log",
    },
    {
      action: "left",
      code: "BAD_LINE",
      session: "hello-1",
      path,
      line: 6,
      count: 1,
      detail: "not JSON",
    },
    { summary: { sessions: 1, mended: 1, would: 0, left: 1, failed: 0 } },
  ]);
});

test("a session that is being written is refused, the others are repaired, and the exit code is 7", async () => {
  const { user, path } = await userWithSickThread();
  const other = await writeThread(user.cwd, "other-2", WHOLE_THREAD);
  rmSync(join(dirname(other), "transcript.md"));
  const holder = startChild("test/support/lock-holder.ts", `${path}.lock`);
  assert.equal(await holder.line(), "held");
  const { code, stdout } = await user.run(["doctor", "--fix"]);
  assert.equal(code, 7);
  assert.match(stdout, /failed: .* is being written by another; .* \(LOG_LOCKED\)/);
  assert.match(stdout, /^other-2 .*\n {2}mended DERIVED_MISSING/m);
  assert.equal(readFileSync(path, "utf8").endsWith('{"torn'), true);
});

test("what only --fix takes is refused without it", async () => {
  const { user } = await userWithSickThread();
  for (const flag of ["--dry-run", "--vouch", "--yes"]) {
    const { code, stderr } = await user.run(["doctor", flag, "hello-1"]);
    assert.equal(code, 2);
    assert.match(stderr, /needs --fix/);
  }
  assert.equal((await user.run(["doctor", "--fix", "nobody"])).code, 7);
});

test("several sessions can be named, and a store by its root", async () => {
  const { user, path } = await userWithSickThread();
  const other = await writeThread(user.cwd, "other-2", WHOLE_THREAD);
  appendFileSync(other, "{");
  const { code, stdout } = await user.run(["doctor", "--fix", "hello-1", other]);
  assert.equal(code, 0);
  expect(stdout).toMatch(/looked at 2 sessions: mended 3, 0 left\n$/);
  appendFileSync(path, "{");
  const { stdout: ofStore } = await user.run(["doctor", "--fix", user.cwd]);
  expect(ofStore).toMatch(/looked at 2 sessions: mended 1, 0 left\n$/);
});
