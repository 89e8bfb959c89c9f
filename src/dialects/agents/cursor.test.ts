/** The examples of docs/formats/cursor.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { typedText } from "../shared/typed-text.ts";
import { cursor } from "./cursor.ts";

const page = docsPage("formats/cursor");
const rows = page.lines("jsonl cursor-row").map((line) => JSON.parse(line) as Native);

test("the example paths have the ids on the page", () => {
  const paths = JSON.parse(page.block("json cursor-ids")) as [string, string][];
  for (const [path, id] of paths) {
    assert.equal(cursor.naming.idAt(path.split("/")), id);
    assert.equal(cursor.naming.logPath(id).join("/"), path);
  }
  const [[, main = ""] = [], [, subagent = ""] = []] = paths;
  assert.equal(cursor.reading.about?.({}, subagent)?.parent, main);
  assert.equal(cursor.reading.about?.({}, main), null);
  const roots = (environment: Record<string, string>) =>
    cursor.program?.roots({ environment, home: "/home/me", platform: "darwin" });
  assert.deepEqual(roots({ CURSOR_DATA_DIR: "/srv/c" }), ["/srv/c", "/home/me/.cursor"]);
});

test("the example rows are decoded as the page says", () => {
  const entries = rows.map((row) => cursor.reading.decode(row).entry);
  assert.deepEqual(
    entries.map((entry) => [
      entry?.kind,
      entry?.role,
      entry?.parts.map(({ type }) => type).join(" "),
    ]),
    [
      ["message", "user", "text"],
      ["message", "assistant", "reasoning text tool_call"],
      ["message", "tool", "tool_result"],
      ["message", "assistant", "text"],
      ["turn_end", null, ""],
    ],
  );
  assert.equal(entries[3]?.model, "auto");
  const [prompt] = entries[0]?.parts ?? [];
  assert.equal(prompt?.type === "text" && typedText(prompt.text), "How long is the readme?");
  assert.deepEqual(
    rows.map((row) => cursor.reading.isOwn?.(row)),
    [true, true, true, true, false],
  );
});

test("the project is the directory whose name fits, and no other", () => {
  const [, call = {}] = rows;
  const at = (id: string) => cursor.reading.about?.(call, `${id}/agent-transcripts/6f1c/6f1c`);
  assert.equal(at("home-me-app")?.cwd, "/home/me/app");
  assert.equal(at("home-you-app"), null);
});
