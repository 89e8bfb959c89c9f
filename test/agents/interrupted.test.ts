/** Ctrl-C at a terminal, during the first listing and the first search of many sessions. */

import assert from "node:assert/strict";
import { appendFileSync, linkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { putClaude, turnOf } from "./claude-files.ts";

const SESSIONS = 400;
const CTRL_C = "\x03";

/** One file under many names: long to read and quick to make. */
function userWithMany(): CliUser {
  const user = new CliUser();
  const id = "6f1c2d3e-1000-4000-8000-000000000000";
  const path = putClaude(user.home, { id, prompt: "Fix the zebra", answer: "Fixed." });
  const turn = turnOf({ id, prompt: "And the parser", answer: "Mended. ".repeat(100) });
  const lines = turn.map((row) => `${JSON.stringify(row)}\n`).join("");
  writeFileSync(path, lines.repeat(50));
  for (let at = 1; at < SESSIONS; at++) {
    linkSync(
      path,
      join(dirname(path), `6f1c2d3e-1000-4000-8000-${String(at).padStart(12, "0")}.jsonl`),
    );
  }
  return user;
}

async function interrupted(user: CliUser, args: readonly string[]): Promise<void> {
  const running = user.startAtTerminal(args);
  await running.shows(`of ${SESSIONS} sessions`);
  running.type(CTRL_C);
  assert.equal(await running.ended(), 130, running.shown);
  expect(running.shown).toContain("what was read is kept, and the next time continues from there");
}

test("Ctrl-C ends the first ls with 130, and the next one lists all sessions", async () => {
  const user = userWithMany();
  await interrupted(user, ["ls"]);
  const { code, stdout, stderr } = await user.run(["ls", "--json"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(jsonLines(stdout).length, SESSIONS);
});

test("Ctrl-C ends the first search with 130, and the next one finds words in all sessions", async () => {
  const user = userWithMany();
  await interrupted(user, ["search", "parser"]);
  const oldest = "session:6f1c2d3e-1000-4000-8000-000000000399";
  for (const query of ["parser", `parser ${oldest}`]) {
    const { code, stderr } = await user.run(["search", query, "--json", "--limit", "1"]);
    assert.deepEqual([code, stderr], [0, ""], query);
  }
});

/** 96 MB of rows. */
function userWithOneLong(): CliUser {
  const user = new CliUser();
  const id = "6f1c2d3e-1000-4000-8000-000000000000";
  const path = putClaude(user.home, { id, prompt: "Fix the zebra", answer: "Fixed." });
  const turn = turnOf({ id, prompt: "And the parser", answer: "Mended. ".repeat(1000) });
  const lines = turn.map((row) => `${JSON.stringify(row)}\n`).join("");
  const many = lines.repeat(Math.ceil(2 ** 24 / lines.length));
  for (let n = 0; n < 6; n++) appendFileSync(path, many);
  return user;
}

test("a first ls and a first search show how much of a long session they have read", async () => {
  const user = userWithOneLong();
  for (const args of [["ls"], ["search", "zebra"]]) {
    const running = user.startAtTerminal(args);
    assert.equal(await running.ended(), 0, running.shown);
    const parts = [...running.shown.matchAll(/0 of 1 sessions \w+, (\d+) of 10\d MB of the next/g)];
    const read = parts.map(([, megabytes]) => Number(megabytes));
    assert.ok(new Set(read).size >= 2, running.shown);
    assert.deepEqual(
      read.toSorted((a, b) => a - b),
      read,
    );
  }
});

test("verbatim alone shows the sessions without reading all of them", async () => {
  const running = userWithMany().startAtTerminal([]);
  assert.equal(await running.ended(), 0, running.shown);
  expect(running.shown).toContain(`Sessions: Claude Code ${SESSIONS}`);
  expect(running.shown).not.toContain("sessions read");
});
