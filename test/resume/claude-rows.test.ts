/** What Claude Code adds to a conversation: waiting prompts, attachments, summaries, other files. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { entire } from "../../src/dialects/entire/dialect.ts";
import { claude } from "../../src/dialects/hooks/dialect.ts";
import { resume } from "../../src/doors/resume.ts";
import { renderEntry } from "../../src/sessions/render/entry-markdown.ts";
import { tempDirectory } from "../support/temp-directory.ts";

let n = 0;
const row = (type: "user" | "assistant", content: unknown, more: object = {}) => {
  const message = { role: type, content, ...(type === "user" ? {} : { model: "claude-opus-5" }) };
  return { type, uuid: `u${n++}`, sessionId: "s1", isSidechain: false, message, ...more };
};
const queue = (operation: string, content?: string, more: object = {}) => {
  return { type: "queue-operation", operation, sessionId: "s1", content, ...more };
};
const attachment = (given: object, more: object = {}) => {
  return { type: "attachment", uuid: `u${n++}`, sessionId: "s1", attachment: given, ...more };
};

async function resumed(rows: readonly object[]) {
  const path = join(tempDirectory(), "s1.jsonl");
  writeFileSync(path, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const options = { for: "openai-chat", allowUnsigned: true, prompt: null } as const;
  const { messages, report } = await resume(path, options);
  return {
    said: messages.map(({ role, content }) => `${role}: ${content}`),
    done: report.actions.map(({ why, line }) => `${why} ${line}`),
  };
}

test("a queued prompt is sent once, from its attachment, its row or its removal", async () => {
  const ask = row("user", "Go.");
  const answer = row("assistant", "Done.");
  const old = await resumed([ask, queue("enqueue", "And then?"), queue("remove"), answer]);
  assert.deepEqual(old.said, ["user: Go.", "user: And then?", "assistant: Done."]);

  const typed = attachment({ type: "queued_command", prompt: "And then?", commandMode: "prompt" });
  for (const rows of [
    [queue("enqueue", "And then?"), typed, queue("remove", "And then?")],
    [attachment({ type: "skill_listing" }), queue("enqueue", "And then?"), queue("remove"), typed],
    [queue("enqueue", "And then?"), queue("dequeue"), row("user", "And then?")],
  ]) {
    const { said } = await resumed([ask, ...rows, answer]);
    assert.deepEqual(said, ["user: Go.", "user: And then?", "assistant: Done."]);
  }
  for (const rows of [
    [queue("enqueue", "And then?"), queue("popAll", "And then?")],
    [queue("enqueue", "And then?"), queue("remove", "And then?", { reason: "agent_stopped" })],
    [queue("enqueue", "And then?")],
  ]) {
    assert.deepEqual((await resumed([ask, ...rows, answer])).said, [
      "user: Go.",
      "assistant: Done.",
    ]);
  }
});

test("the row of a prompt says which one was taken from the queue", async () => {
  const { said } = await resumed([
    queue("enqueue", "one"),
    queue("enqueue", "two"),
    queue("dequeue"),
    row("user", "two"),
    row("assistant", "2"),
    queue("remove"),
    row("assistant", "1"),
  ]);
  assert.deepEqual(said, ["user: two", "assistant: 2", "user: one", "assistant: 1"]);
});

test("an attachment's text is sent; one without its text has its own reason", async () => {
  const content = { type: "text", file: { filePath: "/a.txt", content: "forty-two" } };
  const file = attachment({ type: "file", filename: "/a.txt", content });
  // As Claude Code 2.1.326 and later write it: messages that are nothing but their content.
  const rendered = ["Mind the list.", [{ type: "text", text: "Now." }]].map((each) => {
    const reminder = { rendered: [{ content: each }], renderedRole: "user" };
    return attachment({ type: "task_reminder" }, reminder);
  });
  const { said, done } = await resumed([
    row("user", "Look at @a.txt"),
    file,
    ...rendered,
    attachment({ type: "skill_listing" }),
    row("assistant", "42"),
  ]);
  assert.deepEqual(said, [
    "user: Look at @a.txt",
    "user: [Attached: /a.txt]\nforty-two",
    "user: Mind the list.",
    "user: Now.",
    "assistant: 42",
  ]);
  assert.deepEqual(done, ["attachment 5"]);
});

const boundary = (metadata: object = {}) => {
  const compactMetadata = { trigger: "manual", ...metadata };
  return { type: "system", subtype: "compact_boundary", uuid: `u${n++}`, compactMetadata };
};
const summary = row("user", "What was said, in short.", { isCompactSummary: true });

test("a compacted session is resumed from its last summary", async () => {
  const before = [row("user", "one"), row("assistant", "1")];
  const after = [row("user", "two"), row("assistant", "2")];
  const { said, done } = await resumed([...before, boundary(), summary, ...after]);
  assert.deepEqual(said, ["user: What was said, in short.", "user: two", "assistant: 2"]);
  assert.deepEqual(done, ["compacted 1", "compacted 2", "silent 3"]);

  const [asked, answered] = before;
  const preservedSegment = { headUuid: asked?.uuid, tailUuid: answered?.uuid };
  const kept = await resumed([
    row("user", "zero"),
    row("assistant", "0"),
    ...before,
    boundary({ preservedSegment }),
    summary,
    ...after,
  ]);
  assert.deepEqual(kept.said, [
    "user: What was said, in short.",
    "user: one",
    "assistant: 1",
    "user: two",
    "assistant: 2",
  ]);
  const stopped = await resumed([...before, boundary()]);
  assert.deepEqual(stopped.said, ["user: one", "assistant: 1"], "no summary came");
});

test("a log without a message is refused", async () => {
  const rows = [1, 2, 3].map((n) => ({ type: "response_item", payload: { n } }));
  const path = join(tempDirectory(), "s1.jsonl");
  writeFileSync(path, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const options = { for: "anthropic", dialect: "entire", allowUnsigned: true } as const;
  await expect(resume(path, options)).rejects.toMatchObject({
    code: "NOTHING_UNDERSTOOD",
    details: { lines: 3 },
  });
});

test("text of a program or an agent in the user role is not shown as the user's", () => {
  const headings = [
    row("user", "Caveat", { isMeta: true }),
    row("user", "Short", { isCompactSummary: true }),
    row("user", "Find it.", { isSidechain: true }),
    row("user", "<task-notification>done</task-notification>"),
    attachment({ type: "queued_command", prompt: "ready", origin: { kind: "peer" } }),
    attachment({ type: "queued_command", prompt: "And then?", origin: { kind: "human" } }),
    row("user", "Go."),
  ].map((native) => {
    const [one, other] = [entire, claude].map(({ reading: { decode } }) => {
      const { entry } = decode(native);
      assert.ok(entry);
      return renderEntry(entry).split("\n")[0];
    });
    assert.equal(one, other);
    return one;
  });
  assert.deepEqual(headings, [
    "## Program",
    "## Summary",
    "## Agent",
    "## Program",
    "## Program",
    "## User",
    "## User",
  ]);
});
