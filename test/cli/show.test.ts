/** `verbatim show`, also with `--follow`: the content of a log, for people and for programs. */

import assert from "node:assert/strict";
import { appendFileSync, closeSync, openSync, readFileSync, truncateSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { asLines, CliUser, jsonLines } from "./cli.ts";
import { event, putThread, putTurns, TS, turn } from "./stores.ts";

const THREAD = [
  event("thread_start", { model: "claude-x" }),
  event("user_message", { text: "do it" }),
  event("assistant_reasoning", { text: "let me think" }),
  event("assistant_text", { text: "doing it" }),
  event("tool_call_start", { tool: "shell", call_id: "c1", input: { command: "ls" } }),
  event("tool_call_result", { call_id: "c1", output: "file\n```\nnot a fence", duration_ms: 1500 }),
  event("token_delta", { text: "x" }),
  event("step_finish", {
    tokens: { input_tokens: 1200, output_tokens: 34 },
    cost: { spend: 0.0123 },
  }),
  event("thread_error", { error_code: "LIMIT", detail: "too many\nturns" }),
];

test("show prints a call with its result in one row, usage once per turn, and reports what it omits", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  const { code, stdout, stderr } = await user.run(["show", "hello"]);

  assert.equal(code, 0);
  assert.deepEqual(stdout.split("\n"), [
    "Started · claude-x · 2026-02-09T04:03:50Z",
    "",
    "## User · 2026-02-09T04:03:50Z",
    "",
    "do it",
    "",
    "## Assistant · 2026-02-09T04:03:50Z",
    "",
    "doing it",
    "",
    "▸ $ ls 1.5 s",
    "    file",
    "    ```",
    "    not a fence",
    "",
    "## Failed · 2026-02-09T04:03:50Z",
    "",
    "LIMIT: too many",
    "turns",
    "",
    "Turn · 1,234 tokens · $0.0123 · 1 call · 1 failed",
    "",
  ]);
  assert.equal(stderr, "1 entry has no text and is hidden; --json shows it\n");
  const more = await user.run(["show", "hello", "--thinking", "--no-tools"]);
  expect(more.stdout).toContain("Thinking:\nlet me think\n");
  expect(more.stdout).toContain("▸ shell\n");
  expect(more.stdout).not.toContain("file");
});

test("show --json prints every entry whole, one per line, with its offset", async () => {
  const user = new CliUser();
  const path = putTurns(user, "cook/s1", [
    turn("user", { content: "\u009b31m \u202e hi", custom: 1 }),
    "",
    turn("assistant", {
      toolCalls: [{ id: "c", name: "oven", args: { on: true } }],
      metadata: { model: "m", tokens: { prompt: 3, completion: 4 } },
    }),
  ]);
  const { code, stdout, stderr } = await user.run(["show", "cook", "--json"]);

  assert.deepEqual([code, stderr], [0, ""]);
  const entries = jsonLines(stdout);
  const lines = readFileSync(path, "utf8").split("\n");
  assert.deepEqual(
    entries.map(({ native }) => native),
    [lines[0], lines[2]].map((line) => JSON.parse(line ?? "")),
  );
  assert.deepEqual(
    entries.map(({ kind, role, line, start, end, at }) => [kind, role, line, start, end, at]),
    [
      ["message", "user", 1, 0, Buffer.byteLength(`${lines[0]}\n`), "2026-02-09T04:03:50.365Z"],
      [
        "message",
        "assistant",
        3,
        Buffer.byteLength(`${lines[0]}\n\n`),
        readFileSync(path).length,
        "2026-02-09T04:03:50.365Z",
      ],
    ],
  );
  assert.deepEqual(entries[1]?.usage, {
    inputTokens: 3,
    outputTokens: 4,
    totalTokens: null,
    spend: null,
  });
  // The same JSON, without anything that a terminal would act on.
  expect(stdout).toContain("\\u009b31m \\u202e hi");
});

test("bad lines are skipped, counted, and reported by number (S0-15, S2-14)", async () => {
  const user = new CliUser();
  const bad = ["not JSON", "\u0000", '{"ts":"x"}', "[]", "3", '{"type":"x"}', "{", "}"];
  putThread(user.cwd, "hello-1", [event("user_message", { text: "first" }), ...bad, ...THREAD]);
  const { code, stdout, stderr } = await user.run(["show", "hello-1", "--json"]);

  assert.equal(code, 0);
  assert.equal(jsonLines(stdout).length, 1 + THREAD.length);
  assert.equal(
    stderr,
    "8 bad lines were skipped: line 2 (not JSON), line 3 (holds NUL), " +
      "line 4 (missing ts/type), line 5 (not an object), line 6 (not an object), and 3 more\n",
  );
});

test("show --last prints the last entries in order, and reports where bad lines are", async () => {
  const user = new CliUser();
  const path = putThread(user.cwd, "hello-1", [
    ...THREAD,
    "bad",
    event("user_message", { text: "last" }),
  ]);
  const { code, stdout, stderr } = await user.run(["show", "hello-1", "--last", "2", "--json"]);

  assert.equal(code, 0);
  assert.deepEqual(
    jsonLines(stdout).map(({ kind, line }) => [kind, line]),
    [
      ["end", null],
      ["message", null],
    ],
  );
  const offset = readFileSync(path, "utf8").indexOf("bad\n");
  assert.equal(stderr, `1 bad line was skipped: at byte ${offset} (not JSON)\n`);
  const all = await user.run(["show", "hello-1", "--last", "1000"]);
  expect(all.stdout).toContain("do it");
});

test("an entry nested too deep for the call stack is shown and printed", async () => {
  const user = new CliUser();
  const depth = 200_000;
  const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const line = `{"ts":"${TS}","type":"tool_call_start","tool":"deep","input":${deep}}`;
  putThread(user.cwd, "hello-1", [line]);
  const shown = await user.run(["show", "hello-1"]);
  const printed = await user.run(["show", "hello-1", "--json"]);

  assert.deepEqual([shown.code, printed.code], [0, 0], shown.stderr + printed.stderr);
  expect(shown.stdout.includes(deep)).toBe(true);
  expect(printed.stdout.includes(`"input":${deep}`)).toBe(true);
});

test("show ends quietly, also with --follow, if the reader closes stdout early", async () => {
  const user = new CliUser();
  const entries = Array.from({ length: 20_000 }, (_, n) =>
    event("user_message", { text: String(n) }),
  );
  putThread(user.cwd, "hello-1", entries);
  for (const args of [
    ["show", "hello-1"],
    ["show", "hello-1", "--json"],
    ["show", "hello-1", "--follow", "--last", "20000"],
  ]) {
    const { code, stdout, stderr } = await user.run(args, { stdoutBytesMax: 100 });

    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
    assert.ok(stdout.length < 1_000_000);
  }
});

test("a full disk for stdout is exit code 7, and does not stop a recording", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", THREAD);
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  for (const args of [["show", "hello-1"], ["ls"], ["usage", "--json"]]) {
    const { code, stderr } = await user.run(args, { stdoutTo: full });
    assert.equal(code, 7, args.join(" "));
    expect(stderr).toContain("ENOSPC");
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  const record = ["record", "--dialect", "rye", "--session", "hello-1", "--ack"];
  const input = asLines({ type: "user_message", text: "still" }, { type: "thread_complete" });
  assert.equal((await user.run(record, { input, stdoutTo: full })).code, 7);
  const { stdout } = await user.run(["show", "hello-1", "--last", "2"]);
  expect(stdout).toMatch(/still.*Completed/s);
});

test("show --follow shows the last entries, then those that another process appends, each once", async () => {
  const user = new CliUser();
  const log = putThread(user.cwd, "hello-1", THREAD.slice(0, 4));
  const recorder = user.start(["record", "--dialect", "rye", "--session", "hello-1", "--ack"]);
  assert.equal((await recorder.json()).path, log);
  const tail = user.start(["show", "hello-1", "--follow", "--last", "2", "--json"]);
  const texts = [(await tail.json()).native, (await tail.json()).native];
  for (let n = 0; n < 50; n++) {
    recorder.say(JSON.stringify({ type: "user_message", text: `new ${n}` }));
    await recorder.json();
    texts.push((await tail.json()).native);
  }
  // Written by another program, and bad: skipped, reported at the end, and not a reason to stop.
  recorder.endInput();
  assert.equal(await recorder.exitCode(), 0);
  appendFileSync(log, `bad\n${asLines(event("assistant_text", { text: "good" }))}`);
  texts.push((await tail.json()).native);
  tail.signal("SIGINT");

  assert.equal(await tail.exitCode(), 0);
  assert.equal(await tail.line(), null);
  assert.deepEqual(
    texts.map((native) => (native as { text: string }).text),
    ["let me think", "doing it", ...Array.from({ length: 50 }, (_, n) => `new ${n}`), "good"],
  );
  expect(tail.stderr).toContain("1 bad line was skipped");
});

test("show --follow continues after a last line without LF, and shows it once", async () => {
  const user = new CliUser();
  const log = putTurns(user, "cook/s1", [turn("user", { content: "old" })]);
  appendFileSync(log, JSON.stringify(turn("user", { content: "unfinished" })));
  const one = user.start(["show", "cook/s1", "--follow", "--last", "1", "--json"]);
  const shown = [contentOf(await one.json())];
  const recorder = user.start([...RECORD_COOK, "--ack"]);
  await recorder.json();
  recorder.say(JSON.stringify(turn("user", { content: "new" })));
  shown.push(contentOf(await one.json()));
  one.signal("SIGTERM");

  assert.equal(await one.exitCode(), 0);
  assert.deepEqual(shown, ["unfinished", "new"]);
});

test("show --follow reports a log that was truncated or replaced, and shows its new content", async () => {
  const user = new CliUser();
  const said = (n: number) => turn("user", { content: `said ${n}` });
  const log = putTurns(user, "cook/s1", [said(1), said(2), said(3)]);
  const tail = user.start(["show", "cook/s1", "--follow", "--last", "1", "--json"]);
  assert.equal(contentOf(await tail.json()), "said 3");
  // It does not report when it starts to follow; entries appended now are shown once it does.
  appendFileSync(log, asLines(said(4)));
  assert.equal(contentOf(await tail.json()), "said 4");
  const first = asLines(said(1));
  truncateSync(log, first.length);
  await tail.saysOnStderr(`cut back from byte ${4 * first.length} to ${first.length}`);
  appendFileSync(log, asLines(said(2)));
  assert.equal(contentOf(await tail.json()), "said 2");
  tail.signal("SIGTERM");

  assert.equal(await tail.exitCode(), 0);
  assert.equal(await tail.line(), null);
});

test("show --follow counts a bad line once, even after the last entry", async () => {
  const user = new CliUser();
  const log = putTurns(user, "cook/s1", ["bad", turn("user", { content: "old" }), "worse"]);
  const tail = user.start(["show", "cook/s1", "--follow", "--last", "2", "--json"]);
  assert.equal(contentOf(await tail.json()), "old");
  appendFileSync(log, `worst\n${asLines(turn("user", { content: "new" }))}`);
  assert.equal(contentOf(await tail.json()), "new");
  tail.signal("SIGTERM");

  assert.equal(await tail.exitCode(), 0);
  expect(tail.stderr).toContain("3 bad lines were skipped");
});

test("show --follow --last 0 shows no existing entry", async () => {
  const user = new CliUser();
  putTurns(user, "cook/s1", [turn("user", { content: "old" })]);
  const tail = user.start(["show", "cook/s1", "--follow", "--last", "0", "--json"]);
  const recorder = user.start([...RECORD_COOK, "--ack"]);
  await recorder.json();
  // It does not report when it has started, so entries are appended until it shows one; then it
  // must show all that follow.
  let first: Record<string, unknown> | null = null;
  const shown = tail.json().then((entry) => {
    first = entry;
  });
  let said = 0;
  while (first === null) {
    recorder.say(JSON.stringify(turn("user", { content: `new ${said++}` })));
    await recorder.json();
  }
  await shown;
  const begun = Number(/^new (\d+)$/.exec(contentOf(first))?.[1]);
  for (let n = begun + 1; n < said; n++) assert.equal(contentOf(await tail.json()), `new ${n}`);
  tail.signal("SIGTERM");

  assert.equal(await tail.exitCode(), 0);
});

const RECORD_COOK = ["record", "--dialect", "homeagent", "--agent", "cook", "--session", "s1"];

function contentOf({ native }: Record<string, unknown>): string {
  return (native as { content: string }).content;
}
