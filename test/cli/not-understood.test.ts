/**
 * Another program's session in a store: every reading command reports that it understood nothing.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser } from "./cli.ts";

const COPILOT = asLines(
  { timestamp: "2026-01-01T00:00:00Z", type: "session.start", data: { sessionId: "x" } },
  { timestamp: "2026-01-01T00:00:01Z", type: "user.message", data: { content: "needle" } },
);
const SAID = /2 lines were read and no message was understood: this is a Copilot CLI session/;

/** A user whose Entire store holds a session of Copilot CLI. */
function userWithOthers(): CliUser {
  const user = new CliUser();
  const directory = join(user.cwd, ".entire/metadata/copilot-1");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "full.jsonl"), COPILOT);
  return user;
}

test.each([
  [["show", "copilot-1"]],
  [["show", "copilot-1", "--json"]],
  [["show", "copilot-1", "--last", "1"]],
  [["render", "copilot-1"]],
  [["export", "copilot-1", "--format", "etf"]],
  [["search", "needle"]],
])("%s reports that no message was understood, and which program wrote the file", async (args) => {
  const { stderr } = await userWithOthers().run(args);
  expect(stderr).toMatch(SAID);
  expect(stderr).toMatch(/Verbatim reads its own sessions .*Entire and Claude Code transcripts/);
});

test("a page of such a session reports it, too", async () => {
  const user = userWithOthers();
  const { stderr } = await user.run(["show", "copilot-1", "--html", "page.html"]);
  expect(stderr).toMatch(SAID);
  expect(readFileSync(join(user.cwd, "page.html"), "utf8")).toMatch(SAID);
});

test("doctor names the program that wrote it", async () => {
  const { stdout } = await userWithOthers().run(["doctor", "copilot-1"]);
  expect(stdout).toMatch(/NOTHING_UNDERSTOOD: 2 lines, .*: this is a Copilot CLI session/);
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
