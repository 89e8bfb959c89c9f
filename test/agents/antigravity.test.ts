/** Antigravity's transcripts, from real files, compared with a count without the reader. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";

const samples = sharedFiles("samples/more/antigravity", "sample files", "tests of Antigravity");
const LOG = "brain/c1/.system_generated/logs/transcript.jsonl";

interface Step {
  readonly type: string;
  readonly source: string;
  readonly content?: string;
  readonly tool_calls?: readonly unknown[];
}

function countSteps(steps: readonly Step[]) {
  const said = ["USER_INPUT", "PLANNER_RESPONSE"];
  return {
    prompts: steps.filter(({ type }) => type === "USER_INPUT").length,
    answers: steps.filter(({ type, content }) => type === said[1] && content).length,
    calls: steps.flatMap(({ tool_calls = [] }) => tool_calls).length,
    results: steps.filter(
      ({ type, source, content }) => !said.includes(type) && source !== "SYSTEM" && content,
    ).length,
  };
}

test.runIf(samples.isThere)("every step of the samples is an entry, and counts agree", async () => {
  for (const name of ["cli_small.jsonl", "cli_schema_drift.jsonl"]) {
    const root = tempDirectory();
    const text = readFileSync(join(samples.path, name), "utf8");
    put(root, LOG, text);
    const read = await readSession("antigravity", root, "c1");
    const steps = rowsIn<Step>(text);
    assert.equal(read.entries.length + read.badLines, steps.length);
    assert.equal(read.badLines, 0);
    assert.deepEqual(countsOf(read), countSteps(steps), name);
  }
});

test("a transcript is listed by its conversation, with the request as the title", async () => {
  const root = tempDirectory();
  const content =
    "<USER_REQUEST>\nFix it.\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nx\n</ADDITIONAL_METADATA>";
  const step = {
    step_index: 0,
    source: "USER_EXPLICIT",
    type: "USER_INPUT",
    status: "DONE",
    content,
  };
  put(root, LOG, `${JSON.stringify(step)}\n`);
  put(root, "brain/c2/task.md", "# Task");
  const listed = await storeAt("antigravity", root).list();
  assert.deepEqual(
    listed.map(({ id, title }) => [id, title]),
    [["c1", "Fix it."]],
  );
});

test("the directories are those of the editor and of the command", () => {
  const { program } = dialectNamed("antigravity");
  assert.deepEqual(program?.roots({ environment: {}, home: "/home/me", platform: "darwin" }), [
    ...["/home/me/.gemini/antigravity", "/home/me/.gemini/antigravity-ide"],
    "/home/me/.gemini/antigravity-cli",
  ]);
});
