/** `verbatim export --format html`: a session as one page for a browser. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ParsedHtml } from "../e2e/parsed-html.ts";
import { asLines, CliUser } from "./cli.ts";
import { event, put, putThread, putTurns, turn } from "./stores.ts";

const THREAD = [
  event("thread_start", { model: "claude-x" }),
  event("user_message", { text: "do **it**" }),
  event("assistant_reasoning", { text: "let me think" }),
  event("assistant_text", { text: "doing it" }),
  event("tool_call_start", { tool: "shell", call_id: "c1", input: { command: "ls" } }),
  event("tool_call_result", { call_id: "c1", output: "file\n".repeat(30), duration_ms: 1500 }),
  event("token_delta", { text: "x" }),
  "bad <line>",
  "",
  event("step_finish", { tokens: { input_tokens: 1200, output_tokens: 34 }, cost: { spend: 0.5 } }),
];

/** A user with the thread hello-1, torn at its end. */
function userOfThread(): { user: CliUser; log: string } {
  const user = new CliUser();
  const log = putThread(user.cwd, "hello-1", THREAD);
  appendFileSync(log, "{torn");
  return { user, log };
}

const TOLD =
  "1 entry has no text and is hidden; --json shows it\n" +
  "1 bad line was skipped: line 8 (not JSON)\n" +
  "the log ends with 5 torn bytes that a crash left; they are not shown\n";

test("export writes a session as one page, whole or not at all", async () => {
  const { user } = userOfThread();
  put(
    join(user.cwd, ".ai/threads/hello-1/thread.json"),
    '{"thread_id":"hello-1","status":"paused"}',
  );
  put(join(user.cwd, "out/page.html"), "old");
  const { code, stdout, stderr } = await user.run(["export", "hello", "--output", "out/page.html"]);

  assert.deepEqual([code, stdout], [0, ""]);
  const file = join(user.cwd, "out/page.html");
  assert.equal(stderr, TOLD);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(user.cwd, "out")), ["page.html"]);

  const page = ParsedHtml.page(readFileSync(file, "utf8"));
  assert.deepEqual(page.faults, []);
  assert.deepEqual(page.named("h1"), ["do **it**"]);
  assert.deepEqual(page.withClass("session"), ["hello-1"]);
  assert.deepEqual(page.withClass("status"), ["paused"]);
  assert.deepEqual(page.named("strong"), ["it", "Bad line"]);
  assert.deepEqual(page.named("dd").slice(1), [
    "hello",
    "claude-x",
    "1",
    "1,234 1,200 in, 34 out",
    "$0.5000",
    ...page.named("dd").slice(6),
  ]);
  assert.deepEqual(page.withClass("at"), ["#1", "#2", "#3", "#4", "#5", "#8", "#10"]);
  assert.deepEqual(page.withClass("took"), ["1.5 s"], "the result is in the row of its call");
  expect(page.text).toContain("1 line of the log could not be read.");
  expect(page.text).toContain("5 torn bytes");
});

test("what is printed and what is written is the same page", async () => {
  const { user } = userOfThread();
  const ways = [
    ["export", "hello", "--format", "html"],
    ["export", "hello", "--format", "html", "--output", "page.html"],
    ["export", "hello", "-o", "other.html"],
  ];
  const [shown, written, named] = await Promise.all(ways.map((args) => user.run(args)));

  for (const ran of [shown, written, named]) {
    assert.deepEqual([ran?.code, ran?.stderr], [0, TOLD]);
  }
  expect(shown?.stdout).toContain("<!doctype html>");
  assert.deepEqual([written?.stdout, named?.stdout], ["", ""]);
  for (const name of ["page.html", "other.html"]) {
    assert.equal(readFileSync(join(user.cwd, name), "utf8"), shown?.stdout);
  }
});

test("--last shows a session's end with bad lines in their places, and no totals", async () => {
  const { user, log } = userOfThread();
  const { code, stdout } = await user.run(["export", "hello", "--format", "html", "--last", "3"]);

  assert.equal(code, 0);
  const page = ParsedHtml.page(stdout);
  assert.deepEqual(page.named("h1"), ["hello-1"]);
  assert.deepEqual(page.named("dt"), ["Agent", "Last entry"]);
  const text = readFileSync(log, "utf8");
  const at = (part: string) => {
    return `byte-${Buffer.byteLength(text.slice(0, text.lastIndexOf("\n", text.indexOf(part)) + 1))}`;
  };
  const ids = page.elements.flatMap(({ attrs }) => attrs.filter(({ name }) => name === "id"));
  assert.deepEqual(
    ids.slice(1).map(({ value }) => value),
    [at("file"), at("bad <"), at("step_finish")],
  );
  assert.deepEqual(page.withClass("note"), ["Only the last 3 entries are in this page."]);
});

test("--thinking unfolds thinking, --no-tools shows only the names of tools", async () => {
  const { user } = userOfThread();
  const run = async (...args: string[]) => {
    return ParsedHtml.page(
      (await user.run(["export", "hello", "--format", "html", ...args])).stdout,
    );
  };
  const isOpen = ({ elements }: ParsedHtml) =>
    elements.some(({ attrs }) => attrs.some(({ name }) => name === "open"));
  const [plain, thinking, noTools] = await Promise.all([
    run(),
    run("--thinking"),
    run("--no-tools"),
  ]);
  assert.deepEqual([isOpen(plain), isOpen(thinking)], [false, true]);
  for (const page of [plain, thinking, noTools]) expect(page.text).toContain("let me think");
  assert.deepEqual(noTools.withClass("verb"), ["shell"]);
  expect(noTools.text).not.toContain("file\n");
});

test("HomeAgent sessions and logs outside any store can be shown as a page", async () => {
  const user = new CliUser();
  putTurns(user, "cook/s1", [
    turn("user", { content: "I am hungry" }),
    turn("assistant", { toolCalls: [{ id: "c", name: "oven", args: { on: true } }] }),
  ]);
  put(join(user.cwd, "stray.jsonl"), `${JSON.stringify(turn("user", { content: "stray" }))}\n`);
  const [stored, stray] = await Promise.all([
    user.run(["export", "cook/s1", "--format", "html"]),
    user.run(["export", "./stray.jsonl", "--format", "html"]),
  ]);

  assert.deepEqual([stored.code, stray.code], [0, 0], stored.stderr + stray.stderr);
  const page = ParsedHtml.page(stored.stdout);
  assert.deepEqual(page.named("h1"), ["I am hungry"]);
  assert.equal(page.named("dd")[0], "cook");
  expect(ParsedHtml.page(stray.stdout).withClass("session")).toEqual(["stray.jsonl"]);
});

test("a page never overwrites the log or a device", async () => {
  const { user, log } = userOfThread();
  const before = readFileSync(log);
  for (const target of [log, "/dev/null"]) {
    const { code, stderr } = await user.run(["export", "hello", "--format", "html", "-o", target]);
    assert.equal(code, 2, target);
    expect(stderr).toContain("choose another");
  }
  assert.ok(readFileSync(log).equals(before));
  assert.ok(statSync("/dev/null").isCharacterDevice());
  const nowhere = await user.run(["export", "hello", "--output", "no/such/page.html"]);
  assert.equal(nowhere.code, 7);
});

test("a format refuses an empty path and the options of others", async () => {
  const { user } = userOfThread();
  for (const args of [
    ["export", "hello", "-o", ""],
    ["export", "hello", "--format", "html", "--json"],
    ["export", "hello", "--content"],
    ["export", "hello", "--format", "otlp", "-o", "x"],
    ["export", "hello", "--last", "3"],
    ["export", "hello", "--format", "html", "--no-metadata"],
  ]) {
    assert.equal((await user.run(args)).code, 2, args.join(" "));
  }
});

test("consecutive bad lines are listed up to a limit, then counted", async () => {
  const user = new CliUser();
  const bad = (count: number) => Array.from({ length: count }, () => "bad");
  putThread(user.cwd, "hello-1", [...bad(100), event("user_message", { text: "x" }), ...bad(101)]);
  for (const args of [[], ["--last", "1"]]) {
    const { stdout } = await user.run(["export", "hello-1", "--format", "html", ...args]);
    const { length } = ParsedHtml.page(stdout).withClass("bad");
    // Read from the end, the bad lines before the entry are never reached.
    assert.equal(length, args.length === 0 ? 201 : 101, args.join());
    expect(stdout).toContain("And 1 more bad line<");
  }
});

test("a session far larger than memory can be shown as a page", async () => {
  // Method: a heap of 32 MiB, and a log of 64 MiB.
  const user = new CliUser();
  const path = putThread(user.cwd, "hello-1", []);
  const log = openSync(path, "a");
  onTestFinished(() => closeSync(log));
  const text = "Some *words*, then some more, and `code`.\n\n".repeat(100);
  const output = "one line of many, as tools print them <x>\n".repeat(2500);
  for (let n = 0; n < 650; n++) {
    const call = { call_id: `${n}`, tool: "shell", input: { n } };
    const lines = [
      event("assistant_text", { text }),
      event("tool_call_start", call),
      event("tool_call_result", { call_id: call.call_id, output }),
    ];
    writeSync(log, asLines(...lines));
  }
  const env = { NODE_OPTIONS: "--max-old-space-size=32" };
  const options = { env, stuckAfterMs: 300_000 };
  const args = ["export", "hello-1", "--output", "page.html"];
  const { code, stderr } = await user.run(args, options);

  assert.equal(code, 0, stderr.slice(-2000));
  assert.ok(statSync(join(user.cwd, "page.html")).size > 64 * 1024 * 1024);
});

test("several pages in a folder have an index, which never replaces another page", async () => {
  const { user } = userOfThread();
  putThread(user.cwd, "later-2", [
    event("thread_start", { model: "x" }),
    event("user_message", { text: "<b>and</b> token ghp_0123456789abcdefghijABCDEFGHIJ012345" }),
  ]);
  const folder = join(user.cwd, "out");
  const args = ["export", "--all", "--format", "html", "-o", "out/"];
  const { code } = await user.run(args);
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(folder).sort(), ["hello-1.html", "index.html", "later-2.html"]);
  const index = ParsedHtml.page(readFileSync(join(folder, "index.html"), "utf8"));
  const links = ['<a href="./hello-1.html">', '<a href="./later-2.html">'];
  assert.deepEqual([...index.faults].sort(), links, "nothing else leads anywhere");
  assert.deepEqual(index.named("a").toSorted(), ["do **it**", "later-2"], "a masked page's id");
  assert.ok(!index.text.includes("ghp_"));

  put(join(folder, "index.html"), "my own page");
  const { stderr } = await user.run(args);
  assert.match(stderr, /no index is written: .*index\.html is another page/);
  assert.equal(readFileSync(join(folder, "index.html"), "utf8"), "my own page");
});
