/** The commands on sessions that Entire reads: recorded, listed, shown, followed, exported. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { assertChain, rowsAt } from "../support/entire-rows.ts";
import { asLines, CliUser, jsonLines } from "./cli.ts";
import { event, put, putThread, TS } from "./stores.ts";

const RECORD = ["record", "--dialect", "entire"];
const UUID = "a1b2c3d4-e5f6-4890-abcd-ef1234567890";
const USAGE = { input_tokens: 1200, output_tokens: 350 };

const ROWS = [
  { type: "user", message: { content: "explain main.rs" } },
  {
    type: "assistant",
    message: {
      id: "msg_1",
      content: [
        { type: "thinking", thinking: "Which file?", signature: "s" },
        { type: "text", text: "Let me read it." },
        { type: "tool_use", id: "t1", name: "read_file", input: { path: "src/main.rs" } },
      ],
      usage: USAGE,
    },
  },
  {
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id: "t1", content: "fn main() {}" }] },
  },
  { type: "assistant", message: { id: "msg_2", content: "It does nothing.", usage: USAGE } },
] as const;

/** A user in a project with one session, recorded by `record`. */
async function recorded(args: readonly string[] = []) {
  const user = new CliUser();
  const input = asLines(...ROWS);
  const ran = await user.run([...RECORD, "--model", "claude-opus-4-5", ...args], { input });
  assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  const [first] = jsonLines(ran.stdout);
  return { user, ran, id: String(first?.session), path: String(first?.path) };
}

test("record writes rows, prompt.txt, and at the end of its input context.md (S1-R5a, S1-R6d)", async () => {
  const { user, ran, id, path } = await recorded(["--ack"]);
  assert.match(id, /^\d{4}-\d\d-\d\d-[0-9a-f-]{36}$/);
  assert.equal(path, join(user.cwd, ".entire/metadata", id, "full.jsonl"));
  const rows = rowsAt(path);
  assertChain(rows);
  assert.equal(rows.length, ROWS.length);
  for (const row of rows) assert.deepEqual([row.sessionId, row.cwd], [id, user.cwd]);
  assert.deepEqual(rows[3]?.message.content, [{ type: "text", text: "It does nothing." }]);
  assert.equal(rows[3]?.message.model, "claude-opus-4-5");
  assert.equal(jsonLines(ran.stdout).at(-1)?.offset, readFileSync(path).length);
  const beside = (name: string) => readFileSync(join(dirname(path), name), "utf8");
  assert.equal(beside("prompt.txt"), "explain main.rs");
  assert.match(beside("context.md"), /## Key Actions\n\n- \*\*read_file\*\*: src\/main\.rs\n$/);
});

test("record goes on with a session that is there, and its context.md with it", async () => {
  const { user, id, path } = await recorded();
  const call = { type: "tool_use", id: "t2", name: "bash", input: { command: "cargo test" } };
  const more = { type: "assistant", message: { content: [call] } };
  const { code } = await user.run([...RECORD, "--session", id], { input: asLines(more) });
  assert.equal(code, 0);
  assertChain(rowsAt(path));
  assert.equal(rowsAt(path).length, 5);
  const context = readFileSync(join(dirname(path), "context.md"), "utf8");
  assert.match(context, /- \*\*bash\*\*: cargo test\n$/);
});

test("record stops at a row that is none, tells its line, and keeps what came before", async () => {
  const user = new CliUser();
  const input = asLines(
    ROWS[0],
    { type: "assistant", message: { content: "x", usage: { input_tokens: 7.5 } } },
    ROWS[3],
  );
  const { code, stdout, stderr } = await user.run(RECORD, { input });
  assert.equal(code, 2);
  assert.match(stderr, /^line 2: .*message\.usage\.input_tokens/);
  assert.equal(rowsAt(String(jsonLines(stdout)[0]?.path)).length, 1);
});

test("options of one dialect are refused with another", async () => {
  const user = new CliUser();
  const wrong = [
    [...RECORD, "--directive", "d"],
    [...RECORD, "--agent", "a"],
    [...RECORD, "--envelope", "flat"],
    ["record", "--dialect", "rye", "--directive", "d", "--model", "m"],
  ];
  for (const args of wrong) assert.equal((await user.run(args)).code, 2, args.join(" "));
  assert.deepEqual(readdirSync(user.cwd), []);
});

test("ls lists sessions of Entire, ours and others', with their tokens counted once a message", async () => {
  const { user, id } = await recorded();
  const fragment = (output_tokens: number) => ({
    type: "assistant",
    sessionId: "x",
    uuid: `u${output_tokens}`,
    timestamp: "2026-02-10T23:31:00Z",
    message: {
      id: "msg_9",
      model: "claude-x",
      content: [],
      usage: { input_tokens: 10, output_tokens },
    },
  });
  // As Claude Code leaves it: the last line has no LF.
  const theirs = asLines(fragment(1), fragment(40), fragment(3)).trimEnd();
  put(join(user.cwd, ".entire/metadata", UUID, "full.jsonl"), theirs);
  put(join(user.cwd, ".entire/metadata", UUID, "tasks/t1/agent-1.jsonl"), "{}\n");
  const { code, stdout, stderr } = await user.run(["ls", "--json", "--sort", "id"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const listed = jsonLines(stdout).map((row) => {
    const { dialect, agent, model, status, turns, inputTokens, outputTokens, title } = row;
    return { id: row.id, dialect, agent, model, status, turns, inputTokens, outputTokens, title };
  });
  const common = { dialect: "entire", agent: null, status: null };
  assert.deepEqual(listed, [
    {
      id,
      ...common,
      model: "claude-opus-4-5",
      turns: 2,
      inputTokens: 2400,
      outputTokens: 700,
      title: "explain main.rs",
    },
    {
      id: UUID,
      ...common,
      model: "claude-x",
      turns: 1,
      inputTokens: 10,
      outputTokens: 40,
      title: null,
    },
  ]);
});

test("a session is named by its id, the beginning of it, its log and its directory", async () => {
  const { user, id, path } = await recorded();
  for (const name of [id, id.slice(0, 20), path, dirname(path), `.entire/metadata/${id}`]) {
    const { code, stdout, stderr } = await user.run(["show", name, "--json"]);
    assert.deepEqual([code, stderr], [0, ""], name);
    assert.deepEqual(
      jsonLines(stdout).map(({ role }) => role),
      ["user", "assistant", "tool", "assistant"],
    );
  }
});

test("a full.jsonl anywhere is known by its rows, and its last line needs no LF", async () => {
  const user = new CliUser();
  const rows = [
    { type: "file-history-snapshot", messageId: "m", snapshot: {} },
    { type: "summary", summary: "…", leafUuid: "u" },
    { type: "user", uuid: "u1", message: { role: "user", content: "hello there" } },
  ];
  for (const name of ["full.jsonl", "elsewhere/copy.jsonl"]) {
    put(join(user.cwd, name), asLines(...rows).trimEnd());
    const { code, stdout, stderr } = await user.run(["show", name]);
    assert.equal(code, 0);
    assert.match(stdout, /hello there/);
    assert.match(stderr, /identity: unknown; .* is read as entire/);
    assert.match(stderr, /2 entries say nothing/);
  }
});

test("show prints a session for people, and tail what comes after", async () => {
  const { user, id } = await recorded();
  const shown = await user.run(["show", id]);
  assert.match(shown.stdout, /## User · .*\n\nexplain main\.rs\n/);
  assert.match(shown.stdout, /\*\*Tool: read_file\*\*/);
  assert.doesNotMatch(shown.stdout, /Which file\?/);
  assert.match((await user.run(["show", id, "--thinking"])).stdout, /Which file\?/);

  const tail = user.start(["tail", id, "--last", "1", "--json"]);
  assert.equal((await tail.json()).messageId, "msg_2");
  const more = { type: "user", message: { content: "thanks" } };
  await user.run([...RECORD, "--session", id], { input: asLines(more) });
  assert.equal((await tail.json()).role, "user");
  tail.signal("SIGINT");
  assert.equal(await tail.exitCode(), 0);
});

test("what is too long for a row is recorded, told by show, and whole in an export", async () => {
  const user = new CliUser();
  const long = "x".repeat(9 * 1024 * 1024);
  const { code, stdout } = await user.run(RECORD, {
    input: asLines({ type: "user", message: { content: long } }),
  });
  assert.equal(code, 0);
  const { session, path } = jsonLines(stdout)[0] ?? {};
  assert.ok(readFileSync(String(path)).length < 2000);
  const shown = await user.run(["show", String(session)]);
  assert.match(shown.stdout, /\[9437186 bytes are kept in [0-9a-f-]{36}\.0\.spill\]/);
  const exported = await user.run(["export", String(session), "--format", "etf"]);
  assert.ok(exported.stdout.includes(long));
});

test("export writes Entire's normalised transcript, to stdout or whole into a file", async () => {
  const { user, id } = await recorded();
  const args = ["export", id, "--format", "etf"];
  const { code, stdout, stderr } = await user.run(args);
  assert.deepEqual([code, stderr], [0, ""]);
  const lines = jsonLines(stdout);
  assert.deepEqual(
    lines.map(({ v, type, id: message }) => [v, type, message]),
    [
      [1, "user", undefined],
      [1, "assistant", "msg_1"],
      [1, "assistant", "msg_2"],
    ],
  );
  const content = lines[1]?.content as { result?: unknown }[];
  assert.deepEqual(content[1]?.result, { output: "fn main() {}", status: "success" });
  assert.doesNotMatch(stdout, /Which file/);
  assert.ok(
    lines.every(({ cli_version }) => typeof cli_version === "string" && cli_version !== ""),
  );

  const file = join(user.cwd, "out.jsonl");
  const written = await user.run([...args, "--output", file]);
  assert.deepEqual([written.code, written.stdout], [0, ""]);
  assert.equal(readFileSync(file, "utf8"), stdout);
});

test("export takes any dialect, and tells what has no place in its format", async () => {
  const user = new CliUser();
  putThread(user.cwd, "hello-1", [
    event("thread_start"),
    event("user_message", { text: "be brief", role: "system" }),
    event("user_message", { text: "go" }),
    event("assistant_text", { text: "going \x1b[31m" }),
    event("tool_call_start", { tool: "bash", call_id: "c1", input: {} }),
    event("tool_call_result", { call_id: "c9", output: "stray" }),
    "no json",
    event("step_finish", { tokens: { input_tokens: 5, output_tokens: 2 } }),
  ]);
  const { code, stdout, stderr } = await user.run(["export", "hello-1", "--format", "etf"]);
  assert.equal(code, 0);
  const [prompt, ...answers] = jsonLines(stdout);
  assert.deepEqual([prompt?.ts, prompt?.content], [new Date(TS).toISOString(), [{ text: "go" }]]);
  assert.deepEqual(
    answers.map(({ output_tokens }) => output_tokens),
    [undefined, 2],
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  assert.doesNotMatch(stdout, /[\x00-\x09\x0b-\x1f]/);
  assert.match(stderr, /1 tool call has no result/);
  assert.match(stderr, /1 result answers no call/);
  assert.match(stderr, /1 entry has no place/);
  assert.match(stderr, /1 bad line was passed over: line 7 \(not JSON\)/);
});

test("export refuses what it cannot do, and never writes over the log", async () => {
  const { user, id, path } = await recorded();
  const before = readFileSync(path);
  const link = join(user.cwd, "link.jsonl");
  symlinkSync(path, link);
  writeFileSync(join(user.cwd, "kept.txt"), "kept");
  const wrong = [
    ["export", id],
    ["export", id, "--format", "pdf"],
    ["export", id, "--format", "etf", "--output", ""],
    ["export", id, "--format", "etf", "--output", path],
    ["export", id, "--format", "etf", "--output", link],
  ];
  for (const args of wrong) assert.equal((await user.run(args)).code, 2, args.join(" "));
  assert.equal((await user.run(["export", "nobody", "--format", "etf"])).code, 7);
  const missing = join(user.cwd, "no/such/dir.jsonl");
  assert.equal((await user.run(["export", id, "--format", "etf", "--output", missing])).code, 7);
  assert.ok(readFileSync(path).equals(before));
  assert.equal(existsSync(missing), false);
});
