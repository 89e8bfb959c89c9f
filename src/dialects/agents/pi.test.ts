/** The examples of docs/formats/pi.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { pi } from "./pi.ts";

const rows = docsPage("formats/pi")
  .lines("jsonl pi-row")
  .map((line) => JSON.parse(line) as Native);

test("the example rows are decoded as the page says", () => {
  const entries = rows.map((row) => pi.reading.decode(row).entry);
  assert.deepEqual(
    entries.map((entry) => [entry?.kind, entry?.role, entry?.saidBy].join(" ").trim()),
    [
      "start",
      "other",
      "other",
      "message user",
      "message assistant",
      "message tool",
      "message user program",
      "message user program",
      "message user summary",
      "message user summary",
      "other",
      "other",
      "other",
    ],
  );
  assert.deepEqual(
    entries[4]?.parts.map(({ type }) => type),
    ["reasoning", "text", "tool_call"],
  );
  assert.deepEqual(entries[4]?.usage, {
    inputTokens: 12,
    outputTokens: 34,
    cacheWriteTokens: 0,
    cacheReadTokens: 100,
    totalTokens: 146,
    spend: 0.001,
  });
  assert.deepEqual(entries[6]?.parts, [{ type: "text", text: "Ran `ls`\nREADME" }]);
});

test("the example rows say what the session is about", () => {
  const said = rows.map((row) => pi.reading.about?.(row, "")).filter((about) => about !== null);
  assert.deepEqual(said, [
    { cwd: "/home/me/app", parent: "--home-me-app--/2026-05-11T09-00-00-000Z_6f1c" },
    { title: "Lines of the readme" },
  ]);
  const names = rows.map((row) => pi.reading.isOwn?.(row));
  assert.deepEqual(names.indexOf(true), 0);
  assert.deepEqual(names.lastIndexOf(true), 0);
});

test("files directly in the directory of the variable are sessions, and other logs are not", () => {
  const id = "2026-05-11T09-00-00-000Z_6f1c";
  assert.equal(pi.naming.idAt([`${id}.jsonl`]), id);
  assert.deepEqual(pi.naming.logPath(id), [`${id}.jsonl`]);
  assert.equal(pi.naming.nameOf?.(id), "6f1c");
  assert.equal(pi.naming.nameOf?.(`--a_b--/${id}`), "6f1c");
  assert.equal(pi.naming.nameOf?.("--a_b--/odd"), "odd");
  assert.equal(pi.naming.idAt(["history.jsonl"]), null);
  const roots = (environment: Record<string, string>) =>
    pi.program?.roots({ environment, home: "/home/me", platform: "linux" });
  assert.deepEqual(roots({}), ["/home/me/.pi/agent"]);
  assert.deepEqual(
    roots({ PI_CODING_AGENT_DIR: "~/pi", PI_CODING_AGENT_SESSION_DIR: "/srv/pi/" }),
    ["/home/me/pi", "/srv/pi"],
  );
});
