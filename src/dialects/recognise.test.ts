import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { beginningOf } from "../../test/support/beginning.ts";
import { sampleLogs } from "../../test/support/samples.ts";
import { sharedFiles } from "../../test/support/shared-files.ts";
import { isTranscriptRow } from "./entire/decode.ts";
import { isOthersLine } from "./program-formats.ts";
import { recognise } from "./recognise.ts";

const shared = sharedFiles("samples");

function named(text: string): Promise<string | null> {
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
])("%s is recognised by its first lines", async (name, text) => {
  assert.equal(await named(`${text}\n`), name);
});

test("a file that no known program writes gets no name", async () => {
  for (const text of ["", "{}\n", '{"type":"user"}\n', "[1]\n", "plain text\n", "\0\0\0"]) {
    assert.equal(await named(text), null, JSON.stringify(text));
  }
});

test("our rows are not mistaken for another program's, whatever a caller adds to them", () => {
  const row = {
    type: "user",
    uuid: "u",
    sessionId: "s",
    payload: {},
    data: {},
    message: { role: "user", content: "hi" },
  };
  assert.equal(isOthersLine(row), false);
  assert.equal(isTranscriptRow(row), true);
});

/** By dialect; the folders of public files are named in other ways as well. */
const NAMES: Readonly<Record<string, RegExp>> = {
  antigravity: /Antigravity/,
  "claude-code": /Claude Code/,
  codex: /Codex/,
  "copilot-cli": /Copilot/,
  copilot: /Copilot/,
  cursor: /Cursor/,
  "gemini-cli": /Gemini/,
  grok: /Grok/,
  kimi: /Kimi/,
  openclaw: /OpenClaw/,
  pi: /pi or/,
  qwen: /Qwen/,
};
/** Of agents that keep logs; some are made by running the agent, and may not be here yet. */
const OWN = Object.keys(NAMES).flatMap((agent) =>
  sampleLogs(agent).map((log) => ({ agent, ...log })),
);

test("samples of other programs get their names", async () => {
  assert.ok(OWN.length >= 8);
  for (const { agent, name, path } of OWN) {
    if (!path.endsWith(".jsonl") || readFileSync(path).length === 0) continue;
    const found = await recognise(beginningOf(readFileSync(path)));
    if (agent === "grok" && name.endsWith("9a03")) {
      assert.equal(found, null); // Older rows of Grok have nothing that only Grok writes.
      continue;
    }
    expect(found ?? "no name", name).toMatch(NAMES[agent] ?? "");
  }
});

const FOLDERS = [
  "codex",
  "copilot-cli",
  "gemini-cli",
  "pi",
  "claude-code",
  "more/antigravity",
  "more/copilot",
  "more/cursor",
  "more/grok",
  "more/kimi",
  "more/openclaw",
  "more/pi",
  "more/qwen",
];

test.each(shared.isThere ? FOLDERS : [])("public files in %s get their names", async (folder) => {
  const directory = join(shared.path, folder);
  const files = readdirSync(directory).filter((file) => file.endsWith(".jsonl"));
  assert.ok(files.length > 0, folder);
  for (const file of files) {
    const name = await recognise(beginningOf(readFileSync(join(directory, file))));
    expect(name, file).toMatch(NAMES[folder.replace("more/", "")] ?? "");
  }
});
