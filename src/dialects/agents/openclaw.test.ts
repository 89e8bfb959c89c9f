/** The examples of docs/formats/openclaw.md, checked against the code. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import type { Native } from "../../core/model/entry.ts";
import { openclaw } from "./openclaw.ts";

const page = docsPage("formats/openclaw");

test("the example paths have the ids on the page", () => {
  for (const [path, id] of JSON.parse(page.block("json openclaw-ids")) as [string, string][]) {
    assert.equal(openclaw.naming.idAt(path.split("/")), id);
    assert.deepEqual(openclaw.naming.logPath(id).join("/"), path);
    assert.equal(openclaw.naming.agentOf?.(id), "main");
  }
  for (const path of [
    "agents/main/sessions/6f1c.checkpoint.01.jsonl",
    "agents/main/sessions/6f1c.trajectory.jsonl",
    "agents/main/sessions/sessions.json",
  ]) {
    assert.equal(openclaw.naming.idAt(path.split("/")), null);
  }
});

test("the example rows are decoded as the page says", () => {
  const rows = page.lines("jsonl openclaw-row").map((line) => JSON.parse(line) as Native);
  assert.deepEqual(
    rows.map((row) => {
      const { kind, role } = openclaw.reading.decode(row).entry ?? {};
      return [kind, role, openclaw.reading.asideOf?.(row, null) ?? null];
    }),
    [
      ["start", null, null],
      ["message", "user", null],
      ["message", "assistant", null],
      ["message", "tool", null],
      ["message", "assistant", "program"],
    ],
  );
  const [header = {}] = rows;
  assert.deepEqual(openclaw.reading.about?.(header, "main/sessions/7a2d"), {
    cwd: "/home/me/clawd",
    parent: "main/sessions/6f1c",
  });
  const bare = { ...header, parentSession: "6f1c" };
  assert.equal(openclaw.reading.about?.(bare, "main/sessions/7a2d")?.parent, "main/sessions/6f1c");
});

test("the directories follow OpenClaw's variables", () => {
  const roots = (environment: Record<string, string>) =>
    openclaw.program?.roots({ environment, home: "/home/me", platform: "darwin" });
  assert.deepEqual(roots({ OPENCLAW_STATE_DIR: "~/claw" }), ["/home/me/claw"]);
  assert.equal(roots({ OPENCLAW_HOME: "/srv/me" })?.[0], "/srv/me/.openclaw");
  assert.deepEqual(roots({})?.slice(0, 2), ["/home/me/.openclaw", "/home/me/.clawdbot"]);
});
