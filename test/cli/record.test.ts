/** `verbatim record`: the log has what is piped in, and every skipped line is reported. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asLines, CliUser, jsonLines } from "./cli.ts";

const RYE = ["record", "--dialect", "rye"];
const HOMEAGENT = ["record", "--dialect", "homeagent"];

function eventsAt(path: string): Record<string, unknown>[] {
  return jsonLines(readFileSync(path, "utf8"));
}

function metaBeside(log: string): Record<string, unknown> {
  return JSON.parse(readFileSync(log.replace("transcript.jsonl", "thread.json"), "utf8"));
}

test("record starts a thread, writes its start event, and leaves it paused (S2-1, S2-4, S2-8)", async () => {
  const user = new CliUser();
  // Some lines end in CR LF, one is empty, the last has no end at all.
  const input =
    '{"type":"user_message","text":"hello"}\r\n' +
    "\n\r\n" +
    '{"type":"assistant_text","text":"hi","ts":"not this","thread_id":"nor this"}\n' +
    '{"type":"step_finish","cost":{"spend":0.01}}';
  const { code, stdout, stderr } = await user.run(
    [...RYE, "--directive", "hello_world", "--root", "project", "--ack"],
    { input },
  );

  assert.deepEqual([code, stderr], [0, ""]);
  const [first, ...acks] = jsonLines(stdout);
  const id = String(first?.session);
  assert.match(id, /^hello_world-\d{10}$/);
  const path = join(user.cwd, "project/.ai/threads", id, "transcript.jsonl");
  assert.deepEqual(first, { session: id, path });

  const events = eventsAt(path);
  assert.deepEqual(
    events.map(({ type, thread_id, directive }) => [type, thread_id, directive]),
    ["thread_start", "user_message", "assistant_text", "step_finish"].map((type) => [
      type,
      id,
      "hello_world",
    ]),
  );
  assert.notEqual(events[2]?.ts, "not this");
  // One acknowledgment per input entry, each the offset after its line; the start has none.
  const lines = readFileSync(path, "utf8").split(/(?<=\n)/);
  const ends = lines.map((_, at) => Buffer.byteLength(lines.slice(0, at + 1).join("")));
  assert.deepEqual(
    acks,
    ends.slice(1).map((offset) => ({ offset })),
  );
  assert.equal(metaBeside(path).status, "paused");
  assert.ok(existsSync(path.replace(".jsonl", ".md")));
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("record continues a thread with its own directive, and an end event ends it", async () => {
  const user = new CliUser();
  const begin = [
    ...RYE,
    "--session",
    "task/day-1",
    "--directive",
    "daily",
    "--envelope",
    "payload",
  ];
  const begun = await user.run([...begin, "--no-markdown"], {
    input: asLines({ type: "thread_start", model: "m1", inputs: { a: 1 } }),
  });
  const input = asLines(
    { event_type: "user_message", payload: { text: "on" } },
    { type: "thread_complete", cost: { turns: 1, tokens: 5, spend: 0.5 } },
  );
  const continued = await user.run([...RYE, "--session", "task/day-1"], { input });

  assert.deepEqual([begun.code, continued.code], [0, 0], begun.stderr + continued.stderr);
  assert.equal(begun.stdout, continued.stdout);
  const path = join(user.cwd, ".ai/threads/task/day-1/transcript.jsonl");
  // One start, because the first input was one; and the envelope of the first line is kept.
  assert.deepEqual(
    eventsAt(path).map(({ event_type, payload }) => [event_type, payload]),
    [
      ["thread_start", { directive: "daily", model: "m1", inputs: { a: 1 } }],
      ["user_message", { directive: "daily", text: "on" }],
      ["thread_complete", { directive: "daily", cost: { turns: 1, tokens: 5, spend: 0.5 } }],
    ],
  );
  assert.equal(metaBeside(path).status, "completed");
});

test("record keeps HomeAgent turn records unchanged (S0-1, S0-2, S0-3, S0-8)", async () => {
  const user = new CliUser();
  const records = [
    { turnId: "1", role: "user", content: "hé\u2028llo\u0085", ts: 1, extra: { kept: [1.5] } },
    { turnId: "2", role: "tool", toolResults: [{ callId: "c", result: null }], ts: 2 },
  ];
  const agent = [...HOMEAGENT, "--agent", "kitchen"];
  const named = await user.run([...agent, "--session", "s1", "--ack"], {
    input: asLines(records[0]),
  });
  const again = await user.run([...agent, "--session", "s1"], { input: asLines(records[1]) });
  const fresh = await user.run([...agent, "--root", "base"], { input: asLines(records[0]) });

  assert.deepEqual([named.code, again.code, fresh.code], [0, 0, 0]);
  const path = join(user.home, ".homeagent/agents/kitchen/sessions/s1.jsonl");
  assert.deepEqual(jsonLines(named.stdout)[0], { session: "kitchen/s1", path });
  assert.deepEqual(eventsAt(path), records);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const other = jsonLines(fresh.stdout)[0];
  expect(other?.session).toMatch(/^kitchen\/[0-9a-f-]{36}$/);
  expect(other?.path).toContain(join(user.cwd, "base/agents/kitchen/sessions"));
});

test("a HomeAgent session id may have 200 bytes, also when the session is signed and repaired", async () => {
  const user = new CliUser();
  const args = ["record", "--dialect", "homeagent", "--agent", "cook", "--sign", "--session"];
  const input = asLines({ turnId: "1", role: "user", content: "hi", ts: 1 });
  for (const id of ["é".repeat(97), "x".repeat(195), "x".repeat(200)]) {
    const { code, stdout, stderr } = await user.run([...args, id], { input });
    assert.deepEqual([code, stderr], [0, ""]);
    // A torn line is copied to a file next to the log, and so is a torn checkpoint.
    const [begun] = jsonLines(stdout);
    for (const path of [`${begun?.path}`, `${begun?.path}.checkpoints`]) appendFileSync(path, "{");
    assert.equal((await user.run([...args, id], { input })).code, 0);
    const verified = await user.run(["verify", `cook/${id}`]);
    assert.deepEqual([verified.code, verified.stderr], [0, ""], verified.stdout);
  }
  assert.equal((await user.run([...args, "x".repeat(201)], { input })).code, 2);
});

test("a signed session that is continued without --sign gets a warning", async () => {
  const user = new CliUser();
  const ours = '{"kind":"message","role":"user","parts":[{"type":"text","text":"hi"}]}\n';
  const ryes = '{"type":"user_message","text":"hi"}\n';
  for (const [args, input] of [
    [["record", "--session", "deploy"], ours],
    [[...RYE, "--directive", "hello", "--session", "hello-1"], ryes],
  ] as const) {
    const record = async (...more: string[]) =>
      (await user.run([...args, ...more], { input })).stderr;
    assert.equal(await record(), "");
    assert.equal(await record(), "", "it is not signed");
    assert.doesNotMatch(await record("--sign"), /signed so far/);
    assert.match(await record(), /^warning: this session is signed so far; add --sign, or its new/);
  }
});

test.each([
  ["verbatim", []],
  ["verbatim", ["--sign"]],
  ["rye", ["--directive", "d"]],
  ["rye", ["--directive", "d", "--sign", "append"]],
  ["homeagent", ["--agent", "a", "--root", "."]],
  ["entire", ["--model", "m"]],
  ["claude", ["--session", "app/1"]],
] as const)("without an entry, %s %j leaves no session", async (dialect, options) => {
  const user = new CliUser();
  const args = ["record", "--dialect", dialect, ...options];
  for (const input of ["", "\n\n", "not JSON\n"]) {
    const { code, stderr } = await user.run(args, { input });
    assert.equal(code, input.startsWith("not") ? 2 : 0);
    expect(stderr).toContain("no entry was recorded, so there is no session");
    const left = readdirSync(user.cwd, { recursive: true, withFileTypes: true });
    assert.deepEqual(
      left.filter((each) => each.isFile() && each.name !== ".gitignore").map(({ name }) => name),
      [],
    );
  }
});

test("without an entry, a session that was there before stays, empty as it was", async () => {
  const user = new CliUser();
  const args = [...RYE, "--directive", "d", "--session", "old-1"];
  const directory = join(user.cwd, ".ai/threads/old-1");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "transcript.jsonl"), "", { mode: 0o600 });
  const { code, stderr } = await user.run(args, { input: "" });
  assert.deepEqual([code, stderr], [0, ""]);
  assert.equal(existsSync(join(directory, "transcript.jsonl")), true);
});

test("--version after a command is an unknown option, and nothing is recorded", async () => {
  const user = new CliUser();
  const { code, stdout, stderr } = await user.run(["record", "--version", "2"], { input: "{}\n" });
  assert.deepEqual([code, stdout], [2, ""]);
  expect(stderr).toContain("unknown option '--version'");
  const ours = await user.run(["--version"]);
  assert.match(ours.stdout, /^\d+\.\d+\.\d+/);
});

test("a directory as input is wrong usage, and creates nothing", async () => {
  const user = new CliUser();
  const directory = openSync(user.home, "r");
  onTestFinished(() => closeSync(directory));
  const args = ["record", "--dialect", "rye", "--directive", "hello"];
  const { code, stderr } = await user.run(args, { stdinFrom: directory });
  assert.equal(code, 2);
  expect(stderr).toContain("stdin is a directory");
  assert.deepEqual(readdirSync(user.cwd), []);

  const hook = await user.run(["record", "--from", "claude-code-hooks"], { stdinFrom: directory });
  assert.deepEqual([hook.code, hook.stdout], [0, ""]);
  expect(hook.stderr).toContain("a hook was not recorded");
});

test("a malformed line stops the recording with exit code 2, and nothing after it is recorded", async () => {
  const malformed: Record<string, [string | Buffer, string]> = {
    "not JSON": ['{"type":', "not JSON"],
    "not UTF-8": [Buffer.from([0x7b, 0xff, 0x7d]), "not UTF-8"],
    "no object": ["[1]", "not a JSON object"],
    "no event": ['{"text":"x"}', "type: missing"],
    "a checkpoint of the caller's own": ['{"type":"checkpoint"}', "reserved"],
    "a number that would be altered": ['{"type":"x","id":9007199254740993}', "9007199254740993"],
  };
  const user = new CliUser();
  const cases = Object.entries(malformed).map(async ([what, [line, reason]], at) => {
    const before = asLines(
      { type: "user_message", text: "1" },
      { type: "assistant_text", text: "2" },
    );
    const after = asLines({ type: "user_message", text: "after" });
    const input = Buffer.concat([before, line, "\n", after].map((part) => Buffer.from(part)));
    const args = [...RYE, "--directive", "strict", "--session", `strict-${at}`, "--ack"];
    const { code, stdout, stderr } = await user.run(args, { input });

    assert.equal(code, 2, what);
    expect(stderr, what).toContain("line 3: ");
    expect(stderr, what).toContain(reason);
    assert.equal(jsonLines(stdout).length, 3, what);
    const events = eventsAt(String(jsonLines(stdout)[0]?.path));
    assert.deepEqual(
      events.map(({ text }) => text),
      [undefined, "1", "2"],
      what,
    );
  });
  await Promise.all(cases);
});

test("with --on-error skip malformed lines are skipped and reported by number", async () => {
  const user = new CliUser();
  const ok = { turnId: "1", role: "user", ts: 1 };
  const input = `nonsense\n${asLines(ok)}${asLines({ turnId: "2", role: "king", ts: 1 })}${asLines(ok)}`;
  const { code, stdout, stderr } = await user.run(
    [...HOMEAGENT, "--agent", "a", "--on-error", "skip", "--ack"],
    { input },
  );

  assert.equal(code, 0);
  const [first, ...acks] = jsonLines(stdout);
  assert.deepEqual(eventsAt(String(first?.path)), [ok, ok]);
  assert.equal(acks.length, 2);
  expect(stderr).toMatch(/^line 1: not JSON\nline 3: .*role.*\n2 malformed lines were skipped\n$/);
});

test("with --on-error report refusals are acknowledged by line, with their codes", async () => {
  const user = new CliUser();
  const ok = { kind: "turn_end" };
  const input = `${asLines(ok)}nonsense\n${asLines({ kind: "king" }, [ok, { kind: "king" }], [], ok)}`;
  const args = ["record", "--session", "s", "--ack", "--on-error", "report"];
  const { code, stdout } = await user.run(args, { input });

  assert.equal(code, 0);
  const [, ...acks] = jsonLines(stdout);
  const refused = acks.filter((each) => "line" in each);
  assert.deepEqual(
    refused.map((each) => [each.line, each.code]),
    [2, 3, 4, 5].map((line) => [line, "INVALID_ENTRY"]),
  );
  assert.equal(acks.length - refused.length, 2);
  const unheard = await user.run(args.slice(0, -3).concat("--on-error", "report"));
  assert.equal(unheard.code, 2);
  expect(unheard.stderr).toContain("needs --ack");
});

test("a list of entries is one append, with one acknowledgment, and entries may have ids", async () => {
  const user = new CliUser();
  const entries = ["a", "b"].map((id) => ({ id, kind: "turn_end" }));
  const { stdout } = await user.run(["record", "--ack"], { input: asLines(entries, entries[0]) });
  const [first, ...acks] = jsonLines(stdout);
  const log = readFileSync(String(first?.path), "utf8");
  assert.deepEqual(
    jsonLines(log).map(({ id }) => id),
    ["a", "b", "a"],
  );
  const [, , third = ""] = log.split("\n");
  assert.deepEqual(acks, [{ offset: log.length - third.length - 1 }, { offset: log.length }]);
});

test("two processes with --shared record the same session, entry by entry", async () => {
  const user = new CliUser();
  const args = ["record", "--session", "s", "--shared", "--ack"];
  const both = [user.start(args), user.start(args)];
  const [path] = await Promise.all(both.map(async (each) => String((await each.json()).path)));
  for (const title of ["1", "2", "3"]) {
    for (const each of both) {
      each.say(JSON.stringify({ type: "entry", title, entry: { kind: "turn_end" } }));
      await each.json();
    }
  }
  for (const each of both) each.endInput();
  for (const each of both) assert.equal(await each.exitCode(), 0, each.stderr);
  const titles = jsonLines(readFileSync(String(path), "utf8")).map(({ title }) => title);
  assert.deepEqual(titles, ["1", "1", "2", "2", "3", "3"]);
});

test("show --json --full restores texts that are in files", async () => {
  const user = new CliUser();
  const text = "x".repeat(9_000_000);
  const parts = [{ type: "text", text }];
  const input = asLines({ kind: "message", role: "user", parts });
  await user.run(["record", "--session", "long"], { input });
  const short = await user.run(["show", "long", "--json"]);
  expect(short.stdout.length).toBeLessThan(2000);
  const whole = await user.run(["show", "long", "--json", "--full"]);
  assert.deepEqual(jsonLines(whole.stdout)[0]?.parts, parts);
});

test("a line over the limit is reported and never buffered whole", async () => {
  const user = new CliUser();
  const limit = 16 * 1024 * 1024;
  const record = (length: number) => {
    const empty = JSON.stringify({ turnId: "1", role: "user", content: "", ts: 1 });
    return JSON.stringify({
      turnId: "1",
      role: "user",
      content: "x".repeat(length - empty.length),
      ts: 1,
    });
  };
  const input = `${record(limit + 1)}\n${record(limit)}\n`;
  const { code, stdout, stderr } = await user.run(
    [...HOMEAGENT, "--agent", "a", "--on-error", "skip", "--ack", "--durability", "os"],
    { input },
  );

  assert.equal(code, 0, stderr);
  expect(stderr).toContain("line 1: too long: a line has at most 16777216 bytes");
  assert.equal(statSync(String(jsonLines(stdout)[0]?.path)).size, limit + 1);
});

test("many entries are acknowledged in order, with both durabilities", async () => {
  const user = new CliUser();
  const entries = Array.from({ length: 3000 }, (_, n) => ({
    type: "user_message",
    text: String(n),
  }));
  for (const durability of ["disk", "os"]) {
    const args = [...RYE, "--directive", durability, "--ack", "--durability", durability];
    const { code, stdout } = await user.run(args, { input: asLines(...entries) });

    assert.equal(code, 0);
    const [first, ...acks] = jsonLines(stdout);
    const log = readFileSync(String(first?.path));
    assert.equal(acks.length, entries.length);
    // Each offset is after the line of the entry that it acknowledges.
    for (const [n, { offset }] of acks.entries()) {
      const end = Number(offset) - 1;
      const line = log.subarray(log.lastIndexOf("\n", end - 1) + 1, end).toString("utf8");
      assert.equal(JSON.parse(line).text, String(n));
    }
    assert.equal(acks.at(-1)?.offset, log.length);
  }
});

test("a missing required option is wrong usage, and creates nothing", async () => {
  const user = new CliUser();
  const wrong: [string[], string][] = [
    [["record", "--directive", "x"], "--directive"],
    [["record", "--session", "a/b"], "one without a slash"],
    [RYE, "--directive"],
    [[...RYE, "--session", "not-there"], "--directive"],
    [HOMEAGENT, "--agent"],
    [[...HOMEAGENT, "--agent", "a/b"], "agentId"],
    [[...RYE, "--directive", "../x"], "refused"],
    [[...RYE, "--directive", ""], "--directive"],
    [[...RYE, "--directive", "x", "--durability", "none"], "--durability"],
    [[...RYE, "--directive", "x", "--sesion", "y"], "Did you mean --session?"],
  ];
  const ran = wrong.map(async ([args, hint]) => {
    const { code, stdout, stderr } = await user.run(args);

    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    expect(stderr).toContain(hint);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
  await Promise.all(ran);
  assert.deepEqual(readdirSync(user.cwd), []);
});

test("rows with a recorded uuid are counted, and reported if their content differs", async () => {
  const user = new CliUser();
  const row = (uuid: string, text: string) => ({
    type: "user",
    uuid,
    sessionId: "s",
    message: { role: "user", content: text },
  });
  const reordered = Object.fromEntries(Object.entries(row("u-1", "one")).reverse());
  const record = (rows: readonly object[]) =>
    user.run(["record", "--dialect", "claude", "--session", "p/s", "--ack"], {
      input: asLines(...rows),
    });
  const first = await record([row("u-1", "one"), row("u-1", "another"), row("u-1", "one")]);
  assert.equal(first.code, 0);
  assert.deepEqual(
    jsonLines(first.stdout).map(({ known }) => known),
    [undefined, undefined, "other", "same"],
  );
  const again = await record([row("u-2", "two"), reordered, row("u-1", "a third")]);
  assert.equal(
    again.stderr,
    "1 row was already recorded (same uuid, same content)\n" +
      "1 row has a known uuid but other content; the first one is kept: uuid u-1\n",
  );
  const [{ path } = { path: "" }] = jsonLines(again.stdout);
  assert.equal(readFileSync(String(path), "utf8"), asLines(row("u-1", "one"), row("u-2", "two")));
});
