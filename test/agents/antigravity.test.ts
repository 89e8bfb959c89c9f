/** Antigravity's transcripts, compared with a count without the reader. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { copyOfSamples, logsWith, sampleFolders, sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";
import { filesIn } from "./sample.ts";

const shared = sharedFiles("samples/more/antigravity");
const FILES = logsWith("antigravity", shared, filesIn);
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
    prompts: steps.filter(({ type, source }) => type === "USER_INPUT" && source !== "SYSTEM")
      .length,
    answers: steps.filter(({ type, content }) => type === said[1] && content).length,
    calls: steps.flatMap(({ tool_calls = [] }) => tool_calls).length,
    results: steps.filter(
      ({ type, source, content }) => !said.includes(type) && source !== "SYSTEM" && content,
    ).length,
  };
}

test("there is a sample of a session with and without an error", () => {
  assert.equal(sampleLogs("antigravity").length, 2);
  if (shared.isThere) assert.equal(FILES.length, 4);
});

test.each(FILES)("every step of %s is an entry, and counts agree", async (_, path) => {
  const root = tempDirectory();
  const text = readFileSync(path, "utf8");
  put(root, LOG, text);
  const read = await readSession("antigravity", root, "c1");
  const steps = rowsIn<Step>(text);
  assert.equal(read.entries.length + read.badLines, steps.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), countSteps(steps));
});

test("samples are listed by the request; a failed step is the error of its call", async () => {
  const [folder = assert.fail()] = sampleFolders("antigravity");
  const root = copyOfSamples(folder);
  const listed = await storeAt("antigravity", root).list();
  const id = "5c1d7e20-8a4b-4f3e-9d61-2b7f0c9a1e0";
  assert.deepEqual(listed.map(({ id, title }) => [id, title]).sort(), [
    [`${id}1`, "The watering plan forgets leap years. Please fix it."],
    [`${id}2`, "What blooms in July?"],
  ]);
  const { entries } = await readSession("antigravity", root, `${id}1`);
  const parts = entries.flatMap((entry) => entry.parts);
  const errors = parts.flatMap((part) => (part.type === "tool_result" ? (part.error ?? []) : []));
  expect(errors).toEqual([
    expect.stringContaining("exit code: 1"),
    expect.stringContaining("The model was not reached"),
  ]);
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
    "/home/me/.gemini/antigravity",
    "/home/me/.gemini/antigravity-ide",
    "/home/me/.gemini/antigravity-cli",
  ]);
});
