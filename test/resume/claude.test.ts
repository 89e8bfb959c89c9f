/** Claude's sessions as conversations: what hooks report, and subagents' own logs. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { hookLine } from "../../src/dialects/hooks/hooks.ts";
import { claudeSessionStore } from "../../src/doors/claude-agent.ts";
import { openStore } from "../../src/doors/index.ts";
import { exportSpans } from "../../src/doors/otel.ts";
import { continueSession, resume } from "../../src/doors/resume.ts";
import type { AnthropicMessage } from "../../src/resume/targets/anthropic.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const ASKED = { hook_event_name: "UserPromptSubmit", prompt: "Tidy up." };

/** The hook's input for a call, in versions without a call id. */
function hookInput(name: string, tool: string, input: unknown, more: object = {}) {
  return { hook_event_name: name, tool_name: tool, tool_input: input, ...more };
}

async function hooksSession(hooks: readonly object[]) {
  const root = tempDirectory();
  const store = await openStore({ dialect: "claude", root, durability: "os" });
  const session = store.session("claude-code-hooks/6f1c");
  for (const hook of [ASKED, ...hooks]) {
    await session.appendLines([
      hookLine({ session_id: "6f1c", ...hook }, { nowMs: 0, text: null }),
    ]);
  }
  await store.close();
  return session;
}

/** Every call with its result. */
function outcomes(messages: readonly AnthropicMessage[]): [unknown, string][] {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks.flatMap((block): [unknown, string][] => {
    if (block.type !== "tool_use") return [];
    const result = blocks.find(
      (other) => other.type === "tool_result" && other.tool_use_id === block.id,
    );
    return [[block.input, JSON.stringify(result)]];
  });
}

async function resumedHooks(hooks: readonly object[]) {
  const options = { for: "anthropic", allowUnsigned: true, prompt: null } as const;
  const { messages, report } = await resume(await hooksSession(hooks), options);
  const done = report.actions.map(({ why, line }) => `${why} ${line}`);
  return { outcomes: outcomes(messages), text: JSON.stringify(messages), done };
}

test("a hook that does not name its call answers the one with its tool and its input, or none", async () => {
  const rm = { command: "rm -rf /data" };
  const ls = { command: "ls" };
  const read = { file_path: "notes" };
  const { outcomes } = await resumedHooks([
    hookInput("PreToolUse", "Bash", rm),
    hookInput("PreToolUse", "Bash", ls),
    hookInput("PostToolUse", "Bash", ls, { tool_response: "two files" }),
    hookInput("PreToolUse", "Read", read),
    hookInput("PostToolUseFailure", "Read", read, { error: "no such file" }),
    hookInput("PreToolUse", "Bash", ls),
    hookInput("PostToolUse", "Bash", ls, { tool_response: "one file" }),
  ]);
  const inputs = outcomes.map(([input]) => input);
  assert.deepEqual(inputs, [rm, ls, read, ls]);
  const results = [/UNCERTAIN/, /two files/, /no such file/, /one file/];
  for (const [at, result] of results.entries()) assert.match(outcomes[at]?.[1] ?? "", result);

  const stray = await resumedHooks([
    hookInput("PreToolUse", "Bash", rm),
    hookInput("PostToolUse", "Bash", { command: "rm -rf /tmp" }, { tool_response: "gone" }),
    hookInput("PostToolUse", "Bash", rm, { tool_response: "gone, too", agent_id: "7" }),
  ]);
  assert.match(stray.outcomes[0]?.[1] ?? "", /UNCERTAIN/);
  assert.ok(stray.done.includes("stray_result_as_text 3"), stray.done.join());
});

test("a subagent's hooks are not part of the main agent's conversation", async () => {
  const call = hookInput(
    "PreToolUse",
    "Bash",
    { command: "ls" },
    { tool_use_id: "t1", agent_id: "7" },
  );
  const hooks = [
    call,
    { ...call, hook_event_name: "PostToolUse", tool_response: "two files" },
    { hook_event_name: "Stop", last_assistant_message: "Done.", agent_type: "tidy" },
  ];
  const { outcomes, text, done } = await resumedHooks(hooks);
  assert.deepEqual(outcomes, []);
  assert.ok(text.includes("Done."), "an agent with a type and no id is the main one");
  assert.deepEqual(done, ["sidechain 2", "sidechain 3"]);
});

test("a call that was denied is known not to have run", async () => {
  const call = hookInput("PreToolUse", "Bash", { command: "rm" }, { tool_use_id: "t1" });
  const denied = { ...call, hook_event_name: "PermissionDenied" };
  for (const hook of [{ ...denied, reason: "it deletes" }, denied]) {
    const { outcomes, done } = await resumedHooks([call, hook]);
    const [, result = ""] = outcomes[0] ?? [];
    assert.match(result, /NOT STARTED.*did not run/);
    assert.equal(result.includes("it deletes"), "reason" in hook);
    assert.ok(result.includes('"is_error":true'));
    assert.deepEqual(done, []);
  }
});

test("in a subagent's own log its rows are the conversation, in its session's they are not", async () => {
  const root = tempDirectory();
  const row = (type: "user" | "assistant", content: string) => {
    const message = { role: type, content };
    const timestamp = "2026-11-15T12:00:00.000Z";
    return { type, uuid: content, isSidechain: true, agentId: "7", timestamp, message };
  };
  const message = { role: "assistant", model: "<synthetic>", content: "API Error" };
  const error = { ...row("assistant", "error"), message };
  const rows = [row("user", "Look for it."), error, row("assistant", "Found.")];
  const store = claudeSessionStore({ root, durability: "os" });
  const key = { projectKey: "app", sessionId: "s1" };
  await store.append(key, rows);
  await store.append({ ...key, subpath: "subagents/agent-7" }, rows);
  await store.close();

  const saidIn = async (id: string) => {
    const options = { root, for: "openai-chat", allowUnsigned: true, prompt: null } as const;
    const { messages } = await resume(id, options);
    return messages.map(({ content }) => content);
  };
  assert.deepEqual(await saidIn("app/s1/subagents/agent-7"), ["Look for it.", "Found."]);
  assert.deepEqual(await saidIn("app/s1"), ["Look for it.", "Found."], "it holds no other's");
  const main = { ...row("user", "Go on."), isSidechain: false };
  const again = claudeSessionStore({ root, durability: "os" });
  await again.append(key, [main]);
  await again.close();
  assert.deepEqual(await saidIn("app/s1"), ["Go on."]);

  const claude = await openStore({ dialect: "claude", root });
  const spansOf = async (id: string) => {
    const exporter = async () => {};
    return (await exportSpans(claude.session(id), { exporter })).spans;
  };
  assert.ok((await spansOf("app/s1/subagents/agent-7")) > 0);
  await claude.close();
});

test("a fork of a subagent's own log is next to it, and its rows are the conversation there", async () => {
  const root = tempDirectory();
  const row = (type: "user" | "assistant", content: string) => {
    const timestamp = "2026-11-15T12:00:00.000Z";
    const message = { role: type, content };
    return { type, uuid: content, isSidechain: true, agentId: "7", timestamp, message };
  };
  const sdk = claudeSessionStore({ root, durability: "os" });
  const key = { projectKey: "app", sessionId: "s1", subpath: "subagents/agent-7" };
  const texts = ["Look for it.", "Found.", "Look again.", "Found more."];
  await sdk.append(
    key,
    texts.map((text, at) => row(at % 2 === 0 ? "user" : "assistant", text)),
  );
  await sdk.close();

  const options = { root, for: "openai-chat", allowUnsigned: true, prompt: null } as const;
  const resumed = await resume("app/s1/subagents/agent-7", { ...options, upTo: 1 });
  const store = await openStore({ dialect: "claude", root, durability: "os" });
  const { session } = await continueSession(store, resumed);
  await store.close();
  assert.match(session.id, /^app\/s1\/subagents\/agent-[\w-]+$/);
  const { messages } = await resume(session.id, options);
  assert.deepEqual(
    messages.map(({ content }) => content),
    texts.slice(0, 2),
  );
});

test("a log in no store with rows of one subagent only is that subagent's, else the main agent's", async () => {
  const directory = tempDirectory();
  let n = 0;
  const row = (type: "user" | "assistant", content: string, isSidechain = true) => {
    const message = { role: type, content };
    return { type, uuid: `u${n++}`, sessionId: "s1", isSidechain, message };
  };
  const error = {
    ...row("assistant", ""),
    message: { model: "<synthetic>", content: "API Error" },
  };
  const title = { type: "custom-title", sessionId: "s1", customTitle: "Lines" };
  const own = [title, row("user", "Look for it."), error, row("assistant", "Found.")];
  const main = [...own, title, row("user", "Is it there?", false), row("assistant", "Aside.")];

  const resumed = async (rows: readonly object[]) => {
    const path = join(directory, "agent-7.jsonl");
    writeFileSync(path, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
    const options = { for: "openai-chat", allowUnsigned: true, prompt: null } as const;
    const { messages, report } = await resume(path, options);
    const done = report.actions.map(({ why, line }) => `${why} ${line}`);
    return { said: messages.map(({ content }) => content), done };
  };
  assert.deepEqual(await resumed(own), {
    said: ["Look for it.", "Found."],
    done: ["silent 1", "synthetic 3"],
  });
  assert.deepEqual(await resumed(main), {
    said: ["Is it there?"],
    done: ["silent 1", "sidechain 2", "sidechain 3", "sidechain 4", "silent 5", "sidechain 7"],
  });
});

test("an image reported by a hook is sent as an image, and another file is never sent as text", async () => {
  const call = hookInput("PreToolUse", "Read", { file_path: "a.png" }, { tool_use_id: "t1" });
  const gave = (response: object) => {
    return resumedHooks([
      call,
      { ...call, hook_event_name: "PostToolUse", tool_response: response },
    ]);
  };
  const image = await gave({
    type: "image",
    file: { base64: "AAAA", type: "image/png", originalSize: 3 },
  });
  const [, result = ""] = image.outcomes[0] ?? [];
  assert.ok(result.includes('{"type":"base64","media_type":"image/png","data":"AAAA"}'), result);
  assert.deepEqual(image.done, []);

  const pdf = await gave({ type: "pdf", file: { filePath: "a.pdf", base64: "AAAA" } });
  assert.ok(!pdf.text.includes("AAAA"));
  assert.deepEqual(pdf.done, ["block_not_taken 3"]);
});

test("a text sent without its citations is reported", async () => {
  const root = tempDirectory();
  const store = claudeSessionStore({ root, durability: "os" });
  const cited = (citations: readonly object[]) => ({ type: "text", text: "Found.", citations });
  const rows = [[], [{ type: "char_location", cited_text: "it" }]].map((citations, n) => {
    const message = { role: "assistant", content: [cited(citations)] };
    return { type: "assistant", uuid: `u${n}`, timestamp: "2026-11-15T12:00:00.000Z", message };
  });
  await store.append({ projectKey: "app", sessionId: "s1" }, rows);
  await store.close();
  const options = { root, for: "anthropic", allowUnsigned: true, prompt: null } as const;
  const { messages, report } = await resume("app/s1", options);
  assert.equal(JSON.stringify(messages).match(/Found/g)?.length, 2);
  const leftOut = report.actions.filter(({ action }) => action === "left_out");
  assert.deepEqual(
    leftOut.map(({ why, line }) => [why, line]),
    [["block_not_taken", 2]],
  );
});
