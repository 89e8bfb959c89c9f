/**
 * Another program's session in a store: every reading command reports that it understood nothing.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asLines, CliUser } from "./cli.ts";

const CODEX = asLines(
  { timestamp: "2026-01-01T00:00:00Z", type: "session_meta", payload: { id: "x" } },
  { timestamp: "2026-01-01T00:00:01Z", type: "event_msg", payload: { message: "needle" } },
);
const SAID = /2 lines were read and no message was understood: this is a Codex rollout/;

/** A user whose Entire store holds a rollout of Codex. */
function userWithRollout(): CliUser {
  const user = new CliUser();
  const directory = join(user.cwd, ".entire/metadata/codex-1");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "full.jsonl"), CODEX);
  return user;
}

test.each([
  [["show", "codex-1"]],
  [["show", "codex-1", "--json"]],
  [["show", "codex-1", "--last", "1"]],
  [["render", "codex-1"]],
  [["export", "codex-1", "--format", "etf"]],
  [["search", "needle"]],
])("%s reports that no message was understood, and which program wrote the file", async (args) => {
  const { stderr } = await userWithRollout().run(args);
  expect(stderr).toMatch(SAID);
  expect(stderr).toMatch(/Verbatim reads its own sessions .*Entire and Claude Code transcripts/);
});

test("a page of such a session reports it, too", async () => {
  const user = userWithRollout();
  const { stderr } = await user.run(["show", "codex-1", "--html", "page.html"]);
  expect(stderr).toMatch(SAID);
  expect(readFileSync(join(user.cwd, "page.html"), "utf8")).toMatch(SAID);
});

test("doctor names the program that wrote it", async () => {
  const { stdout } = await userWithRollout().run(["doctor", "codex-1"]);
  expect(stdout).toMatch(/NOTHING_UNDERSTOOD: 2 lines, .*: this is a Codex rollout/);
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
