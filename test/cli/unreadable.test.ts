/** Sessions that cannot be read: every command reports them. */

import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tempDirectory } from "../support/temp-directory.ts";
import { asLines, CliUser, jsonLines } from "./cli.ts";
import { event, putThread } from "./stores.ts";

/**
 * A user with two signed threads and no pins. A part of the second one was moved, and replaced by a
 * link.
 */
async function userWithMoved(...segments: string[]): Promise<CliUser> {
  const user = new CliUser();
  for (const id of ["hi-1", "hi-2"]) {
    const input = asLines({ type: "user_message", text: `I am ${id}` });
    const args = ["record", "--dialect", "rye", "--directive", "hi", "--session", id, "--sign"];
    assert.equal((await user.run(args, { input })).code, 0);
  }
  rmSync(join(user.home, ".local/state"), { recursive: true });
  const place = join(user.cwd, ".ai/threads/hi-2", ...segments);
  const elsewhere = join(tempDirectory(), "moved");
  renameSync(place, elsewhere);
  symlinkSync(elsewhere, place);
  return user;
}

test.each([
  ["log", ["transcript.jsonl"], "hi-2"],
  ["directory", [], null],
] as const)(
  "a session whose %s is a link is unreadable, and the others are verified",
  async (_, moved, id) => {
    const user = await userWithMoved(...moved);
    const { code, stdout } = await user.run(["verify", "--json"]);
    assert.equal(code, 7);
    const verdicts = jsonLines(stdout).map(({ session, verdict }) => [session, verdict]);
    expect(verdicts).toHaveLength(2);
    expect(verdicts).toContainEqual(["hi-1", "verified"]);
    expect(verdicts).toContainEqual([id, "unreadable"]);
    expect(stdout).toContain(join(user.cwd, ".ai/threads/hi-2", ...moved));
  },
);

test("ls and search report a place that could not be read, and continue with the rest", async () => {
  const user = await userWithMoved("transcript.jsonl");
  const listed = await user.run(["ls", "--json"]);
  assert.deepEqual([listed.code, jsonLines(listed.stdout).map(({ id }) => id)], [0, ["hi-1"]]);
  expect(listed.stderr).toMatch(/^warning: 1 place could not be looked at.*hi-2/);
  const searched = await user.run(["search", "hi"]);
  expect(searched.stdout).toContain("I am hi-1");
  expect(searched.stderr).toContain("1 session could not be read");
});

test("a cached listing still reports a session that became unreadable", async () => {
  const user = new CliUser();
  for (let n = 0; n < 1000; n++) {
    // The listing of sessions that have not changed for a while is cached.
    utimesSync(putThread(user.cwd, `hi-${n}`, [END]), 1_700_000_000, 1_700_000_000);
  }
  for (let n = 0; n < 2; n++) assert.equal((await user.run(["ls"])).stderr, "");
  const log = join(user.cwd, ".ai/threads/hidden-1/transcript.jsonl");
  mkdirSync(dirname(log));
  symlinkSync("/nowhere", log);
  const { stdout, stderr } = await user.run(["ls"]);
  assert.equal(stdout.split("\n").length, 1002);
  expect(stderr).toMatch(/^warning: 1 place could not be looked at/);
});

const END = event("thread_complete");
