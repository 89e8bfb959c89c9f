import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { SessionStore } from "@anthropic-ai/claude-agent-sdk";
import { onTestFinished, test } from "vitest";
import { compiledText } from "../../../test/support/program.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { ID_CHARS_MAX } from "../../dialects/hooks/session-id.ts";
import { type ClaudeSessionStoreOptions, claudeSessionStore } from "./session-store.ts";
import type { ClaudeSessionEntry, ClaudeSessionKey } from "./summary-files.ts";

const KEY: ClaudeSessionKey = { projectKey: "-home-me-app", sessionId: "6f1c" };

function open(options: ClaudeSessionStoreOptions = {}) {
  const store = claudeSessionStore({ root: tempDirectory(), durability: "os", ...options });
  onTestFinished(() => store.close());
  return store;
}

function entry(n: number, more: object = {}): ClaudeSessionEntry {
  return { type: "user", uuid: `uuid-${n}`, message: { role: "user", content: `${n}` }, ...more };
}

const logOf = (root: string, id = "-home-me-app/6f1c") =>
  join(root, ".verbatim/claude", id, "transcript.jsonl");

test("it has the SDK's session store type, without a cast", () => {
  const store: SessionStore = open();
  assert.equal(typeof store.append, "function");
});

test("the line of an entry is its JSON: keys in their order, numbers and texts unchanged", async () => {
  const store = open();
  const given = [
    {
      type: "user",
      z: 1,
      a: [1.5, -0.25, 1e21, 2 ** 53],
      7: "seven",
      uuid: "u",
      deep: { b: 1, a: 2 },
    },
    JSON.parse('{"type":"odd","__proto__":{"x":1},"text":"é 😀 \\ud800 \\u2028"}'),
    { type: "checkpoint", event_type: "checkpoint" },
  ];
  await store.append(KEY, given);
  const lines = readFileSync(logOf(store.root), "utf8").trimEnd().split("\n");
  assert.equal(lines[0], JSON.stringify(given[0]));
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    given,
  );
  assert.deepEqual(await store.load(KEY), given);
});

test("entries are returned in call order, even if none is awaited before the next", async () => {
  const store = open();
  const given = Array.from({ length: 60 }, (_, n) => entry(n));
  await Promise.all(given.map((each) => store.append(KEY, [each])));
  assert.deepEqual(await store.load(KEY), given);
});

test("a batch that is passed again adds nothing, in this process and in the next", async () => {
  const store = open();
  const batch = [entry(1), { type: "tag", tag: "x" }, entry(2), entry(2)];
  await store.append(KEY, batch);
  await store.append(KEY, batch);
  const again = open({ root: store.root });
  await again.append(KEY, [...batch, entry(3)]);
  // Without a uuid repeats cannot be detected, and the SDK's contract is to keep each.
  const tag = { type: "tag", tag: "x" };
  assert.deepEqual(await again.load(KEY), [entry(1), tag, entry(2), tag, tag, entry(3)]);
  assert.deepEqual(await store.load(KEY), await again.load(KEY));
  await store.append(KEY, [entry(3), entry(4)]);
  assert.deepEqual((await again.load(KEY))?.slice(-2), [entry(3), entry(4)]);
});

test("after a kill anywhere in a batch, passing it again adds exactly the missing entries", async () => {
  const store = open();
  await store.append(KEY, [entry(0)]);
  const path = logOf(store.root);
  const before = readFileSync(path).length;
  const batch = [1, 2, 3].map((n) => entry(n));
  await store.append(KEY, batch);
  await store.close();
  const whole = readFileSync(path);
  for (let cut = before; cut <= whole.length; cut++) {
    writeFileSync(path, whole);
    truncateSync(path, cut);
    const next = claudeSessionStore({ root: store.root, durability: "os" });
    await next.append(KEY, batch);
    await next.close();
    assert.ok(readFileSync(path).equals(whole), `cut at ${cut}`);
  }
});

test("every key has its own place below the root, whatever it contains", async () => {
  const store = open();
  const keys: ClaudeSessionKey[] = [
    { projectKey: "..", sessionId: ".." },
    { projectKey: "../..", sessionId: "/etc/passwd" },
    { projectKey: "a/b", sessionId: "c" },
    { projectKey: "a", sessionId: "b/c" },
    { projectKey: "a", sessionId: "b", subpath: "c" },
    { projectKey: "a", sessionId: "b", subpath: "../c" },
    { projectKey: "a", sessionId: "b", subpath: "/c" },
    { projectKey: "a", sessionId: "b", subpath: "c/" },
    { projectKey: "a", sessionId: "b", subpath: "c//d" },
    { projectKey: "a", sessionId: "b", subpath: "transcript.jsonl" },
    { projectKey: "", sessionId: "" },
    { projectKey: "%", sessionId: "%2E%2E" },
    { projectKey: "é 😀\0\n", sessionId: "x".repeat(500) },
    { projectKey: "A".repeat(208), sessionId: "x" },
  ];
  for (const [n, key] of keys.entries()) await store.append(key, [entry(n)]);
  for (const [n, key] of keys.entries()) assert.deepEqual(await store.load(key), [entry(n)]);
  const subkeys = await store.listSubkeys({ projectKey: "a", sessionId: "b" });
  assert.deepEqual(subkeys.sort(), ["../c", "/c", "c", "c/", "c//d", "transcript.jsonl"].sort());
  assert.deepEqual(
    (await store.listSessions("é 😀\0\n")).map(({ sessionId }) => sessionId),
    ["x".repeat(500)],
  );
});

test("a key that cannot have a place is refused by every method, and nothing is created", async () => {
  const store = open();
  const bad: ClaudeSessionKey[] = [
    { ...KEY, subpath: "" },
    { ...KEY, sessionId: "\ud800" },
    { ...KEY, projectKey: 7 as unknown as string },
    { ...KEY, sessionId: "x".repeat(ID_CHARS_MAX) },
    { ...KEY, subpath: "a/".repeat(30) },
    { ...KEY, projectKey: "claude-code-hooks" },
  ];
  for (const key of bad) {
    await refusal(store.append(key, [entry(1)]), "BAD_ID");
    await refusal(store.load(key), "BAD_ID");
    await refusal(store.delete(key), "BAD_ID");
  }
  await refusal(store.listSessions("\ud800"), "BAD_ID");
  assert.deepEqual(await store.listSessions(KEY.projectKey), []);
  assert.equal(await store.load(KEY), null);
});

test("a symbolic link in a session's place is not followed", async () => {
  const store = open();
  const outside = tempDirectory();
  await store.append({ ...KEY, sessionId: "other" }, [entry(1)]);
  symlinkSync(outside, join(dirname(dirname(logOf(store.root))), "6f1c"));
  await refusal(store.append(KEY, [entry(1)]), "UNSAFE_PATH");
  await assert.rejects(store.load(KEY));
  assert.deepEqual(
    (await store.listSessions(KEY.projectKey)).map((s) => s.sessionId),
    ["other"],
  );
});

test("a deleted session is gone for the SDK and stays in the log; written again, it is new", async () => {
  const store = open();
  const sub = { ...KEY, subpath: "subagents/agent-1" };
  await store.append(KEY, [entry(1)]);
  await store.append(sub, [entry(2)]);
  const before = readFileSync(logOf(store.root), "utf8");
  await store.delete(KEY);
  assert.equal(await store.load(KEY), null);
  assert.equal(await store.load(sub), null);
  assert.deepEqual(await store.listSubkeys(KEY), []);
  assert.deepEqual(await store.listSessions(KEY.projectKey), []);
  assert.deepEqual(await store.listSessionSummaries(KEY.projectKey), []);
  const after = readFileSync(logOf(store.root), "utf8");
  assert.ok(after.startsWith(before));
  assert.match(after.slice(before.length), /^\{"type":"verbatim:deleted","timestamp":"[^"]+"\}\n$/);
  await store.delete(KEY);
  assert.equal(readFileSync(logOf(store.root), "utf8"), after);

  await store.append(KEY, [entry(1), entry(3)]);
  assert.deepEqual(await open({ root: store.root }).load(KEY), [entry(1), entry(3)]);
  assert.deepEqual(await store.listSubkeys(KEY), []);
  await store.delete({ ...KEY, sessionId: "never" });
});

test("an entry too long for a line is refused with nothing written, and a large batch is split", async () => {
  const store = open();
  const room = LOG_LIMITS.lineBytesMax - JSON.stringify({ type: "user", text: "" }).length;
  const longest = { type: "user", text: "x".repeat(room) };
  await refusal(
    store.append(KEY, [entry(1), { type: "user", text: "x".repeat(room + 1) }]),
    "LINE_TOO_LONG",
  );
  await refusal(store.append(KEY, [entry(1), { type: 5 as unknown as string }]), "INVALID_ENTRY");
  await refusal(store.append(KEY, [entry(1), { type: "verbatim:deleted" }]), "INVALID_ENTRY");
  await refusal(store.append(KEY, [entry(1), { type: "user", big: 1n }]), "INVALID_ENTRY");
  assert.equal(await store.load(KEY), null);
  await store.append(KEY, [entry(1), longest, entry(2)]);
  assert.deepEqual(await store.load(KEY), [entry(1), longest, entry(2)]);
});

test("an empty batch creates nothing, and a line that is not an entry is reported and left out", async () => {
  const warnings: string[] = [];
  const store = open({ onWarning: (warning) => warnings.push(warning) });
  await store.append(KEY, []);
  assert.equal(await store.load(KEY), null);
  await store.append(KEY, [entry(1)]);
  writeFileSync(logOf(store.root), "no json\n[1]\n", { flag: "a" });
  assert.deepEqual(await store.load(KEY), [entry(1)]);
  assert.match(warnings.join(), /^2 lines of .* are not entries/);
});

test("an entry with a known uuid and other content is reported, and a retry is not", async () => {
  const warnings: string[] = [];
  const store = open({ onWarning: (warning) => warnings.push(warning) });
  await store.append(KEY, [entry(1), entry(2)]);
  await store.append(KEY, [entry(1), { ...entry(2), more: true }, entry(3)]);
  const path = logOf(store.root);
  const warning = `${path} has an entry with the uuid uuid-2 and other content; the first is kept`;
  assert.deepEqual(warnings, [warning]);
  assert.deepEqual(await store.load(KEY), [entry(1), entry(2), entry(3)]);
  const again = open({ root: store.root, onWarning: (warning) => warnings.push(warning) });
  await again.append(KEY, [{ ...entry(2), more: true }]);
  assert.deepEqual(warnings, [warning, warning]);
});

test("without onWarning, other content under a known uuid is a process warning", async () => {
  const program = `
    import { claudeSessionStore } from "./src/doors/claude-agent.ts";
    const store = claudeSessionStore({ root: process.argv[2], durability: "os" });
    const key = { projectKey: "p", sessionId: "s" };
    for (const tag of ["a", "b"]) await store.append(key, [{ type: "tag", uuid: "u-1", tag }]);
    await store.close();`;
  const argv = [await compiledText(program), tempDirectory()];
  const { stderr } = await promisify(execFile)(process.execPath, argv);
  assert.match(stderr, /Warning: .*transcript\.jsonl has an entry with the uuid u-1 and other/);
});
