/** `verbatim render`: a session as a document, in its dialect's format. */

import assert from "node:assert/strict";
import { linkSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TranscriptRenderer } from "../../src/doors/rye.ts";
import { CliUser } from "./cli.ts";
import { event, put, putThread, putTurns, turn } from "./stores.ts";

const THREAD = [
  event("thread_start", { model: "claude-x" }),
  event("user_message", { text: "do it \u001b[31m" }),
  event("assistant_reasoning", { text: "let me think" }),
  event("assistant_text", { text: "doing it" }),
  event("tool_call_start", { tool: "shell", call_id: "c1", input: { é: 1 } }),
  event("tool_call_result", { call_id: "c1", output: "file" }),
  event("unheard_of", {}),
  event("thread_complete", {
    cost: { turns: 1, tokens: 5, spend: 0.00005, duration_seconds: 0.25 },
  }),
];

test("render prints a thread as the document's renderer does, under both command names (S2-7, S2-11)", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  const cases: [string[], ConstructorParameters<typeof TranscriptRenderer>[0]][] = [
    [["hello-1"], {}],
    [["--thread-id", "hello-1", "--root", "."], {}],
    [["hello", "--thinking", "--no-metadata"], { thinking: true, assistantMetadata: false }],
    [["hello-1", "--no-tools"], { toolDetails: false }],
  ];
  const rendered = cases.map(async ([args, options]) => {
    const { code, stdout, stderr } = await user.run(["render", ...args]);

    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal(stdout, await new TranscriptRenderer(options).render("hello-1", user.cwd));
  });
  await Promise.all(rendered);
});

test("render prints HomeAgent sessions in neutral Markdown, and reports bad lines", async () => {
  const user = new CliUser();
  putTurns(user, "cook/s1", [turn("system", { content: "be brief" }), "bad"]);
  const { code, stdout, stderr } = await user.run(["render", "cook/s1"]);

  assert.equal(code, 0);
  assert.equal(stdout, "## System · 2026-02-09T04:03:50Z\n\nbe brief\n\n");
  assert.equal(stderr, "1 bad line was skipped: line 2 (not JSON)\n");
});

test("render --output replaces a whole file atomically, and never the log", async () => {
  const user = new CliUser();
  const log = putThread(user.cwd, "hello-1", THREAD);
  const before = readFileSync(log);
  const output = put(join(user.cwd, "out/transcript.md"), "old");
  const { code, stdout, stderr } = await user.run(["render", "hello-1", "--output", output]);

  assert.deepEqual([code, stdout, stderr], [0, "", ""]);
  assert.equal(
    readFileSync(output, "utf8"),
    await new TranscriptRenderer().render("hello-1", user.cwd),
  );
  assert.equal(statSync(output).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(user.cwd, "out")), ["transcript.md"]);

  // By its own name, and by another name of the same file.
  linkSync(log, join(user.cwd, "alias.md"));
  for (const target of [log, "alias.md"]) {
    const refused = await user.run(["render", "hello-1", "--output", target]);
    assert.equal(refused.code, 2);
    expect(refused.stderr).toContain("the log itself");
  }
  const nowhere = await user.run(["render", "hello-1", "--output", "no/such/place.md"]);
  assert.equal(nowhere.code, 7);
  expect(nowhere.stderr).not.toMatch(/\n\s+at /);
  assert.ok(readFileSync(log).equals(before));
});

test("render takes one session, and --thread-id takes no prefix", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  const none = user.run(["render"]);
  const two = user.run(["render", "hello-1", "--thread-id", "hello-1"]);
  const begun = user.run(["render", "--thread-id", "hello"]);
  const bad = user.run(["render", "--thread-id", "../x"]);

  assert.deepEqual(
    [(await none).code, (await two).code, (await begun).code, (await bad).code],
    [2, 2, 7, 2],
  );
  expect((await begun).stderr).toContain("SESSION_NOT_FOUND");
});
