/** Grok Build's sessions, compared with a count that does not use the reader. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { dialectNamed } from "../../src/dialects/all.ts";
import { docsPage } from "../support/docs-page.ts";
import { copyOfSamples, logsWith, sampleFolders, sampleLogs } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { countsOf, put, readSession, rowsIn, storeAt } from "./read-session.ts";
import { filesIn } from "./sample.ts";

const shared = sharedFiles("samples/more/grok");
const FILES = logsWith("grok", shared, filesIn);
const DIRECTORY = "%2Ftmp%2Fapp";

interface Row {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
  readonly synthetic_reason?: string;
  readonly tool_calls?: readonly unknown[];
}

function countRows(rows: readonly Row[]) {
  const of = (type: string) => rows.filter((row) => (row.type ?? row.role) === type);
  const isTyped = ({ content, synthetic_reason: reason = "interjection" }: Row) =>
    reason === "interjection" && !JSON.stringify(content).includes("<user_info>");
  return {
    prompts: of("user").filter(isTyped).length,
    answers: of("assistant").filter(({ content }) => content !== "").length,
    calls: rows.flatMap(({ tool_calls = [] }) => tool_calls).length,
    results: of("tool_result").length + of("tool").length,
  };
}

test("there is a sample of each form of the rows", () => {
  assert.equal(sampleLogs("grok").length, 3);
  if (shared.isThere) assert.equal(FILES.length, 5);
});

test.each(FILES)("every row of %s is an entry, and counts agree", async (_, path) => {
  const root = tempDirectory();
  const text = readFileSync(path, "utf8");
  put(root, `sessions/${DIRECTORY}/s1/chat_history.jsonl`, text);
  const read = await readSession("grok", root, `${DIRECTORY}/s1`);
  const rows = rowsIn<Row>(text);
  assert.equal(read.entries.length + read.badLines, rows.length);
  assert.equal(read.badLines, 0);
  assert.deepEqual(countsOf(read), countRows(rows));
});

const SUMMARISED = FILES.filter(([, path]) => existsSync(join(dirname(path), "summary.json")));

test.each(SUMMARISED)("%s has title, project, branch and times of its summary", async (_, path) => {
  const root = tempDirectory();
  for (const name of ["chat_history.jsonl", "summary.json"]) {
    put(root, `sessions/${DIRECTORY}/s1/${name}`, readFileSync(join(dirname(path), name)));
  }
  const summary = JSON.parse(readFileSync(join(dirname(path), "summary.json"), "utf8"));
  const [row] = await storeAt("grok", root).list();
  assert.equal(row?.title, summary.generated_title);
  assert.equal(row?.project, summary.info.cwd);
  assert.equal(row?.branch, summary.head_branch);
  assert.equal(row?.model, summary.current_model_id);
  assert.equal(row?.createdAt, new Date(summary.created_at).toISOString());
  assert.equal(row?.updatedAt, new Date(summary.last_active_at).toISOString());
});

test("a sample of a subagent names the session that started it", async () => {
  const [folder = assert.fail()] = sampleFolders("grok");
  const listed = await storeAt("grok", copyOfSamples(folder)).list();
  const id = "%2Fhome%2Fme%2Fgarden/0198b1c0-4d2e-7a10-8f00-5e6d7c8b9a0";
  assert.deepEqual(listed.map(({ id, title, parent }) => [id, title, parent]).sort(), [
    [`${id}1`, "Leap years in the plan", null],
    [`${id}2`, "Look for 365 in the other plans", `${id}1`],
    [`${id}3`, "Which beds are dry?", null],
  ]);
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

test("a session that has only updates is read from them, without what was taken back", async () => {
  const root = tempDirectory();
  const rows = docsPage("formats/grok").block("jsonl grok-updates");
  put(root, `sessions/${DIRECTORY}/s1/updates.jsonl`, `${rows}{"timestamp":17880000`);
  const [id = ""] = (await storeAt("grok", root).list()).map((session) => session.id);
  assert.equal(id, `${DIRECTORY}/s1/updates`);
  const { entries, badLines } = await readSession("grok", root, id);
  assert.equal(badLines, 0);
  assert.deepEqual(
    entries.map(({ role, parts, at, model }) => [role, parts, at?.slice(11, 19), model]),
    [
      ["user", [{ type: "text", text: "Read hello.py." }], "10:40:00", null],
      [
        "assistant",
        [
          { type: "reasoning", text: "I read it." },
          { type: "text", text: "Reading." },
          {
            type: "tool_call",
            callId: "call-1",
            tool: "read_file",
            input: { target_file: "hello.py" },
          },
        ],
        "10:40:01",
        "grok-4.5",
      ],
      [
        "tool",
        [
          {
            type: "tool_result",
            callId: "call-1",
            output: "print(1)",
            error: null,
            durationMs: null,
          },
        ],
        "10:40:04",
        null,
      ],
      ["assistant", [{ type: "text", text: "It prints 1." }], "10:40:05", "grok-4.5"],
    ],
  );
  // The chat is the same session, and is preferred.
  put(
    root,
    `sessions/${DIRECTORY}/s1/chat_history.jsonl`,
    '{"role":"user","content":"Read it."}\n',
  );
  const listed = await storeAt("grok", root).list();
  assert.deepEqual(
    listed.map((session) => session.id),
    [`${DIRECTORY}/s1`],
  );
});
