import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { beginningOf } from "../../test/support/beginning.ts";
import { isOthersLine, isTranscriptRow, recognise } from "./recognise.ts";

const samples = new URL("../../../../shared/samples", import.meta.url).pathname;

function named(text: string): string | null {
  return recognise(beginningOf(Buffer.from(text)));
}

function json(value: unknown): string {
  return JSON.stringify(value);
}

test.each([
  ["a Codex rollout", json({ timestamp: "t", type: "session_meta", payload: { id: "x" } })],
  ["a Copilot CLI session", json({ type: "session.start", data: {}, id: "1" })],
  ["a Gemini CLI chat", json({ sessionId: "s", projectHash: "p", kind: "main" })],
  ["a Gemini CLI chat", '{\n  "sessionId": "s",\n  "projectHash": "p",\n  "messages": [\n'],
  [
    "a Qwen Code chat",
    json({ uuid: "u", sessionId: "s", type: "user", message: { role: "user", parts: [] } }),
  ],
  ["a pi or OpenClaw session", json({ type: "session", id: "i", timestamp: "t", cwd: "/p" })],
  ["a Droid session", json({ type: "session_start", id: "d", title: "t" })],
  ["a Cursor agent transcript", json({ role: "user", message: { content: [] } })],
  ["an opencode file", json({ id: "m", sessionID: "s", role: "user", time: {} })],
  ["a Cline task", '[{"role":"user","content":[{"type":"text"'],
  ["an aider chat history", "\n# aider chat started at 2026-01-01 10:00:00\n\n#### hello\n"],
  ["a HomeAgent session", json({ turnId: "1", role: "user", ts: 1, content: "hi" })],
  ["a rye thread", json({ ts: "2026-02-09T04:03:50Z", type: "user_message", text: "hi" })],
  [
    "a Claude Code transcript",
    json({ type: "user", uuid: "u", sessionId: "s", message: { role: "user", content: "hi" } }),
  ],
])("%s is recognised by its first lines", (name, text) => {
  assert.equal(named(`${text}\n`), name);
});

test("a file that no known program writes gets no name", () => {
  for (const text of ["", "{}\n", '{"type":"user"}\n', "[1]\n", "plain text\n", "\0\0\0"]) {
    assert.equal(named(text), null, JSON.stringify(text));
  }
});

test("our rows are not mistaken for another program's, whatever a caller adds to them", () => {
  const row = {
    ...{ type: "user", uuid: "u", sessionId: "s", payload: {}, data: {} },
    message: { role: "user", content: "hi" },
  };
  assert.equal(isOthersLine(row), false);
  assert.equal(isTranscriptRow(row), true);
});

test.skipIf(!existsSync(samples))("real files of other programs get their names", () => {
  const names: Readonly<Record<string, RegExp>> = {
    codex: /Codex/,
    "copilot-cli": /Copilot/,
    "gemini-cli": /Gemini/,
    pi: /pi or/,
    "claude-code": /Claude Code/,
    "more/antigravity": /Antigravity/,
    "more/copilot": /Copilot/,
    "more/cursor": /Cursor/,
    "more/grok": /Grok/,
    "more/kimi": /Kimi/,
    "more/openclaw": /OpenClaw/,
    "more/pi": /pi or/,
    "more/qwen": /Qwen/,
  };
  for (const [folder, name] of Object.entries(names)) {
    const files = readdirSync(join(samples, folder)).filter((file) => file.endsWith(".jsonl"));
    assert.ok(files.length > 0, folder);
    for (const file of files) {
      const found = recognise(beginningOf(readFileSync(join(samples, folder, file))));
      expect(found, `${folder}/${file}`).toMatch(name);
    }
  }
});
