/** `verbatim export`: a session as a document, in its dialect's format. */

import assert from "node:assert/strict";
import { linkSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TranscriptRenderer } from "../../src/doors/rye.ts";
import { CliUser, jsonLines } from "./cli.ts";
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

test("export prints a thread as the document's renderer does (S2-7, S2-11)", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  const cases: [string[], ConstructorParameters<typeof TranscriptRenderer>[0]][] = [
    [["hello-1"], {}],
    [["hello-1", "--dialect", "rye", "--root", "."], {}],
    [["hello", "--thinking", "--no-metadata"], { thinking: true, assistantMetadata: false }],
    [["hello-1", "--no-tools"], { toolDetails: false }],
  ];
  const rendered = cases.map(async ([args, options]) => {
    const { code, stdout, stderr } = await user.run(["export", ...args]);

    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal(stdout, await new TranscriptRenderer(options).render("hello-1", user.cwd));
  });
  await Promise.all(rendered);
});

test("export prints HomeAgent sessions in neutral Markdown, and reports bad lines", async () => {
  const user = new CliUser();
  putTurns(user, "cook/s1", [turn("system", { content: "be brief" }), "bad"]);
  const { code, stdout, stderr } = await user.run(["export", "cook/s1"]);

  assert.equal(code, 0);
  assert.equal(stdout, "## System · 2026-02-09T04:03:50Z\n\nbe brief\n\n");
  assert.equal(stderr, "1 bad line was skipped: line 2 (not JSON)\n");
});

test("export --output replaces a whole file atomically, and never the log", async () => {
  const user = new CliUser();
  const log = putThread(user.cwd, "hello-1", THREAD);
  const before = readFileSync(log);
  const output = put(join(user.cwd, "out/transcript.md"), "old");
  const { code, stdout, stderr } = await user.run(["export", "hello-1", "--output", output]);

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
    const refused = await user.run(["export", "hello-1", "--output", target]);
    assert.equal(refused.code, 2);
    expect(refused.stderr).toContain("the log itself");
  }
  const nowhere = await user.run(["export", "hello-1", "--output", "no/such/place.md"]);
  assert.equal(nowhere.code, 7);
  expect(nowhere.stderr).not.toMatch(/\n\s+at /);
  assert.ok(readFileSync(log).equals(before));
});

const OTHER = [event("thread_start", { model: "m" }), event("user_message", { text: "=1+1" })];

test("sessions follow each other on stdout, or are files of a directory", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  putThread(user.cwd, "other-2", OTHER);
  putTurns(user, "cook/s1", [turn("user", { content: "eat" })]);
  const all = ["export", "hello-1", "other-2"];
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await user.run(args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const lines = jsonLines(await run(...all, "--format", "jsonl"));
  expect(lines.map(({ session }) => session)).toEqual([
    ...THREAD.map(() => "hello-1"),
    ...OTHER.map(() => "other-2"),
  ]);
  const csv = (await run(...all, "--format", "csv")).split("\r\n");
  expect(csv[0]).toMatch(/^session,line,at,kind,role,model,text/);
  expect(csv.filter((line) => line.startsWith("session"))).toHaveLength(1);
  expect(csv.at(-2)).toMatch(/^other-2,2,.*,message,user,,'=1\+1,/);
  expect(await run(...all)).toMatch(/^# hello-1\n.*\n# other-2\n/s);

  await run("export", "--all", "-o", "out/", "--format", "html");
  expect(readdirSync(join(user.cwd, "out")).sort()).toEqual([
    "cook__s1.html",
    "hello-1.html",
    "index.html",
    "other-2.html",
  ]);
  const refused = await user.run([...all, "-o", "both.html"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("name a directory")]);
});

test("export takes sessions by name, or those that filters choose", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  putTurns(user, "cook/s1", [turn("user", { content: "eat" })]);
  const codes = await Promise.all(
    [
      ["export"],
      ["export", "hello-1", "--agent", "rye"],
      ["export", "hello-1", "--all"],
      ["export", "nobody"],
      ["export", "--agent", "rye", "--since", "yesterday"],
    ].map(async (args) => (await user.run(args)).code),
  );
  assert.deepEqual(codes, [2, 2, 2, 7, 2]);
  const sessionsOf = async (...filters: string[]) => {
    const { stdout } = await user.run(["export", "--format", "jsonl", ...filters]);
    return [...new Set(jsonLines(stdout).map(({ session }) => session))].sort();
  };
  assert.deepEqual(await sessionsOf("--all"), ["cook/s1", "hello-1"]);
  assert.deepEqual(await sessionsOf("--agent", "rye"), ["hello-1"]);
  assert.deepEqual(await sessionsOf("--model", "claude"), ["hello-1"]);
  assert.deepEqual(await sessionsOf("--until", "2020-01-01"), []);
});
