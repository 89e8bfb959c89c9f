/** Grok Build's sessions, from real files, compared with a count that does not use the reader. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";

const samples = sharedFiles("samples/more/grok", "sample files", "tests that read Grok's");
const DIRECTORY = "%2Ftmp%2Fapp";
const sample = (name: string) => readFileSync(join(samples.path, name), "utf8");

interface Row {
  readonly type: string;
  readonly content?: unknown;
  readonly synthetic_reason?: string;
  readonly tool_calls?: readonly unknown[];
}

function countRows(rows: readonly Row[]) {
  const of = (type: string) => rows.filter((row) => row.type === type);
  return {
    prompts: of("user").filter((row) => !row.synthetic_reason).length,
    answers: of("assistant").filter(({ content }) => content !== "").length,
    calls: rows.flatMap(({ tool_calls = [] }) => tool_calls).length,
    results: of("tool_result").length,
  };
}

test.runIf(samples.isThere)("every row of the samples is an entry, and counts agree", async () => {
  for (const name of ["chat_history.jsonl", "subagent/chat_history.jsonl"]) {
    const root = tempDirectory();
    put(root, `sessions/${DIRECTORY}/s1/chat_history.jsonl`, sample(name));
    const read = await readSession("grok", root, `${DIRECTORY}/s1`);
    const rows = rowsIn<Row>(sample(name));
    assert.equal(read.entries.length + read.badLines, rows.length);
    assert.equal(read.badLines, 0);
    assert.deepEqual(countsOf(read), countRows(rows), name);
  }
});

test.runIf(samples.isThere)("the summary gives title, project, branch and times", async () => {
  const root = tempDirectory();
  for (const name of ["chat_history.jsonl", "summary.json"]) {
    put(root, `sessions/${DIRECTORY}/s1/${name}`, sample(name));
  }
  const summary = JSON.parse(sample("summary.json"));
  const [row] = await storeAt("grok", root).list();
  assert.equal(row?.title, summary.generated_title);
  assert.equal(row?.project, summary.info.cwd);
  assert.equal(row?.branch, summary.head_branch);
  assert.equal(row?.model, summary.current_model_id);
  assert.equal(row?.createdAt, new Date(summary.created_at).toISOString());
  assert.equal(row?.updatedAt, new Date(summary.last_active_at).toISOString());
});

test("without a summary, the title is the first prompt and the project is the directory", async () => {
  const root = tempDirectory();
  const text = "<user_query>\nFix it.\n</user_query>";
  const row = { type: "user", content: [{ type: "text", text }], prompt_index: 0 };
  put(root, `sessions/${DIRECTORY}/s1/chat_history.jsonl`, `${JSON.stringify(row)}\n`);
  put(root, `sessions/%E0%A4/s2/chat_history.jsonl`, "{}\n");
  put(root, "sessions/%E0%A4/s2/summary.json", '{"info":7,"parent_session_id":"s0"}');
  const listed = await storeAt("grok", root).list();
  assert.deepEqual(
    listed.map(({ id, title, project, parent }) => [id, title, project, parent]).sort(),
    [
      [`${DIRECTORY}/s1`, "Fix it.", "/tmp/app", null],
      ["%E0%A4/s2", null, null, "%E0%A4/s0"],
    ],
  );
});

test("the directory is the one that Grok uses", () => {
  const at = (environment: Record<string, string>) =>
    dialectNamed("grok").program?.roots({ environment, home: "/home/me", platform: "linux" });
  assert.deepEqual(at({}), ["/home/me/.grok"]);
  assert.deepEqual(at({ GROK_HOME: "/g" }), ["/g"]);
});
