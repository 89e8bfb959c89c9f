/**
 * Another program's session in a store: every reading command reports that it understood nothing.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleFolders } from "../support/samples.ts";
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
  [["show", "droid-1"], 7],
  [["show", "droid-1", "--json"], 0],
  [["show", "droid-1", "--last", "1"], 7],
  [["export", "droid-1"], 7],
  [["export", "droid-1", "--format", "etf"], 7],
] as const)(
  "%s reports that no message was understood, and which program wrote the file",
  async (...given) => {
    const [args, expected] = given;
    const { code, stderr } = await userWithOthers().run(args);
    // Lines as JSON are something; otherwise nothing of the file is shown.
    assert.equal(code, expected);
    expect(stderr).toMatch(SAID);
    expect(stderr).toMatch(/Verbatim reads its own sessions .*Entire and Claude Code transcripts/);
  },
);

test("a page of such a session reports it, too", async () => {
  const user = userWithOthers();
  const { code, stderr } = await user.run(["export", "droid-1", "--output", "page.html"]);
  assert.equal(code, 7);
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

/** Rows that OpenClaw wrote, in a folder that is laid out like a store of HomeAgent. */
const OPENCLAW = "agents/main/sessions/sample-edit.jsonl";

test.each(["backup", ".homeagent", "agents"])(
  "a session of OpenClaw is read by its content, in a directory %s too",
  async (directory) => {
    const user = new CliUser();
    const [folder] = sampleFolders("openclaw");
    cpSync(folder?.path ?? assert.fail(), join(user.cwd, directory), { recursive: true });
    const shown = await user.run(["show", join(directory, OPENCLAW)]);
    assert.equal(shown.code, 0, shown.stderr);
    expect(shown.stdout).toContain("Put the linden first");
    expect(shown.stderr).not.toContain("no message was understood");
  },
);

test("a file of no dialect is what its path says, and what is shown of it is not success", async () => {
  const user = new CliUser();
  const directory = join(user.cwd, "base/agents/main/sessions");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "s1.jsonl"), asLines({ color: "green" }, { color: "red" }));
  const { code, stderr } = await user.run(["show", "base/agents/main/sessions/s1.jsonl", "--json"]);
  assert.equal(code, 7);
  expect(stderr).toMatch(/2 lines were read and no message was understood/);
});
