/** docs/resume.md, compared with the code: its program runs, and it lists every reason. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "vitest";
import { RECORDED_ACTIONS_MAX, reportEntry } from "../../src/resume/continue.ts";
import { REPAIR_REASONS, type RepairReport } from "../../src/resume/repair-report.ts";
import { docsPage } from "../support/docs-page.ts";
import { compiledText } from "../support/program.ts";
import { SigningUser, said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const execute = promisify(execFile);
const { text: page, block } = docsPage("resume");
const sourceOf = (path: string) =>
  fileURLToPath(new URL(`../../src/doors/${path}`, import.meta.url));

test("docs/resume.md: the program resumes a session and continues it", async () => {
  const user = new SigningUser();
  const root = tempDirectory();
  await user.write(
    { dialect: "rye" },
    [
      said("Deploy it."),
      {
        kind: "message",
        role: "assistant",
        model: "claude-opus-5",
        parts: [{ type: "tool_call", callId: "c1", tool: "deploy", input: {} }],
      },
    ],
    { root, id: "deploy-1" },
  );
  const program = block("js resume")
    .replace('"verbatim-log"', JSON.stringify(sourceOf("index.ts")))
    .replace('"verbatim-log/resume"', JSON.stringify(sourceOf("resume.ts")));
  const args = [await compiledText(program)];
  const { stdout, stderr } = await execute(process.execPath, args, { cwd: root });
  assert.equal(stderr, "");
  const lines = stdout.trimEnd().split("\n");
  assert.ok(
    lines.some((line) => /^added uncertain_result at line \d+$/.test(line)),
    stdout,
  );
  assert.equal(lines.at(-1), "claude-opus-5 is sent 3 messages");
});

test("docs/resume.md: the program with messages for every request creates a session, and continues it when run again", async () => {
  new SigningUser();
  const root = tempDirectory();
  const ending = "await store.close();";
  const copying = `${block("javascript cache-control")}\nconsole.log(last.content.at(-1).cache_control.type);`;
  const program = block("js resumable")
    .replace(ending, `${copying}\n${ending}`)
    .replace('"verbatim-log"', JSON.stringify(sourceOf("index.ts")))
    .replace('"verbatim-log/resume"', JSON.stringify(sourceOf("resume.ts")));
  const args = [await compiledText(program)];
  for (const counts of [
    [1, 3],
    [5, 7],
  ]) {
    const { stdout, stderr } = await execute(process.execPath, args, { cwd: root });
    assert.equal(stderr, "");
    assert.equal(stdout, `${counts.map((count) => `${count} messages\n`).join("")}ephemeral\n`);
  }
});

test("docs/resume.md has a row for every reason, and no others", () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (?:added|changed|left out|moved) \|/gm)];
  assert.deepEqual(rows.map(([, why]) => why).sort(), [...REPAIR_REASONS].sort());
});

test("docs/resume.md shows a report as it is in a log", () => {
  const shown = JSON.parse(block("jsonl resume-report"));
  const report: RepairReport = { ...shown, upTo: null, system: null, messages: [] };
  const [part] = reportEntry(report).parts ?? [];
  const written = (part as { native: object }).native;
  assert.deepEqual(Object.keys(shown).sort(), Object.keys(written).sort());
  assert.ok(page.includes(`${RECORDED_ACTIONS_MAX.toLocaleString("en-US")}`));
});

test("docs/resume.md: the program hands a session over and unpacks it", async () => {
  const user = new SigningUser();
  const root = tempDirectory();
  await user.write({ dialect: "rye" }, [said("Deploy it.")], { root, id: "deploy-1" });
  const program = block("js handoff").replace(
    '"verbatim-log/resume"',
    JSON.stringify(sourceOf("resume.ts")),
  );
  const args = [await compiledText(program)];
  const { stdout, stderr } = await execute(process.execPath, args, { cwd: root });
  assert.equal(stderr, "");
  assert.match(stdout, /^verified 1 of \d+ lines in \d{4}-\d\d-\d\d-[0-9a-f-]{36}\n$/);
});
