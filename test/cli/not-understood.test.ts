/**
 * Another program's session in a store: every reading command reports that it understood nothing.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser } from "./cli.ts";

const DROID = asLines(
  { type: "session_start", id: "1", title: "needle" },
  { type: "todo_state", id: "2", todos: [] },
);
const SAID = /2 lines were read and no message was understood: this is a Droid session/;

/** A user whose Entire store holds a session of Droid. */
function userWithOthers(): CliUser {
  const user = new CliUser();
  const directory = join(user.cwd, ".entire/metadata/droid-1");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "full.jsonl"), DROID);
  return user;
}

test.each([
  [["show", "droid-1"]],
  [["show", "droid-1", "--json"]],
  [["show", "droid-1", "--last", "1"]],
  [["render", "droid-1"]],
  [["export", "droid-1", "--format", "etf"]],
  [["search", "needle"]],
])("%s reports that no message was understood, and which program wrote the file", async (args) => {
  const { stderr } = await userWithOthers().run(args);
  expect(stderr).toMatch(SAID);
  expect(stderr).toMatch(/Verbatim reads its own sessions .*Entire and Claude Code transcripts/);
});

test("a page of such a session reports it, too", async () => {
  const user = userWithOthers();
  const { stderr } = await user.run(["show", "droid-1", "--html", "page.html"]);
  expect(stderr).toMatch(SAID);
  expect(readFileSync(join(user.cwd, "page.html"), "utf8")).toMatch(SAID);
});

test("doctor names the program that wrote it", async () => {
  const { stdout } = await userWithOthers().run(["doctor", "droid-1"]);
  expect(stdout).toMatch(/NOTHING_UNDERSTOOD: 2 lines, .*: this is a Droid session/);
});

test("a session with at least one message gets no such report", async () => {
  const user = new CliUser();
  const input = asLines({ type: "user", message: { content: "hi" } });
  await user.run(["record", "--dialect", "entire", "--session", "a"], { input });
  for (const args of [
    ["show", "a"],
    ["export", "a", "--format", "etf"],
    ["search", "hi"],
  ]) {
    assert.equal((await user.run(args)).stderr, "", args.join(" "));
  }
});
