/** The examples of docs/formats/claude-code.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { asideOf, isProgramsPrompt } from "../entire/aside.ts";
import { compaction } from "../entire/claude-rows.ts";
import { decode } from "../entire/decode.ts";
import { about, idAt, logPath, nameOf, parentOf } from "./claude-code.ts";

const page = docsPage("formats/claude-code");
const rows = page.lines("jsonl claude-code-row").map((line) => JSON.parse(line) as Native);

test("the paths of the page are sessions, and subagents have the session above them as parent", () => {
  const paths = [...page.text.matchAll(/^ {4}~\/\.claude\/(\S+)/gm)].map(([, path = ""]) => path);
  const ids = paths.map((path) => idAt(path.split("/")));
  assert.deepEqual(ids, [
    "<project>/<session>",
    "<project>/<session>/subagents/agent-<id>",
    "<project>/agent-<id>",
  ]);
  assert.deepEqual(
    ids.map((id) => logPath(id ?? "").join("/")),
    paths,
  );
  assert.deepEqual(
    ids.map((id) => parentOf(id ?? "", "<named>")),
    [null, "<project>/<session>", "<project>/<named>"],
  );
  assert.equal(nameOf(ids[1] ?? ""), "agent-<id>");
});

test("the example rows are read as the page says", () => {
  const read = rows.map((row) => {
    const { entry } = decode(row);
    assert.ok(entry);
    const types = entry.parts.map(({ type }) => type).join();
    return [entry.kind, entry.role, entry.saidBy, types, asideOf(row)].filter(Boolean).join(" ");
  });
  assert.deepEqual(read, [
    "other",
    "message user program text",
    "message user text",
    "message user text",
    "message assistant reasoning",
    "message assistant tool_call",
    "other",
    "message tool tool_result",
    "message user agent text other_agent",
    "message assistant text program",
    "other",
    "message user summary text",
    "other",
  ]);
  assert.deepEqual(
    [rows.findIndex(compaction.isBoundary), rows.findIndex(compaction.isSummary)],
    [10, 11],
  );
  assert.equal(isProgramsPrompt(rows[1] ?? {}), true);
});

test("the example rows say where the agent worked, and the title rows are titles", () => {
  assert.deepEqual(about(rows[3] ?? {}, "p/s1"), {
    cwd: "/home/me/app",
    branch: "main",
    parent: "",
  });
  const titles = page.lines("jsonl claude-code-title").map((line) => {
    return about(JSON.parse(line) as Native, "p/s1");
  });
  assert.deepEqual(titles, [
    { summary: "Counting lines" },
    { chosenTitle: "My readme" },
    { title: "Lines of the readme" },
  ]);
});
