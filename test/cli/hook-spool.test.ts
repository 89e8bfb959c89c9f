/**
 * Spooled hooks, recorded but not in a log yet: never lost, never doubled, in order, always
 * reported.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import {
  nextOrder,
  SPOOL_PATH,
  SPOOL_WAITING_MAX,
  spoolName,
} from "../../src/dialects/hooks/hook-spool.ts";
import { startChild } from "../support/child.ts";
import { docsPage } from "../support/docs-page.ts";
import { isTried } from "../support/seed.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";
import { CliUser, jsonLines, main, root } from "./cli.ts";

const ID = "claude-code-hooks/6f1c";
const SIGNED = ["--sign", "append"];

const spoolOf = (directory: string) => join(directory, ...SPOOL_PATH);
const spooled = (directory: string) =>
  existsSync(spoolOf(directory)) ? readdirSync(spoolOf(directory)) : [];

function hookOf(n: number, more: object = {}): string {
  return JSON.stringify({ session_id: "6f1c", hook_event_name: "Told", n, ...more });
}

async function record(user: CliUser, hook: string, ...more: string[]): Promise<void> {
  const args = ["record", "--from", "claude-code-hooks", "--within", "60000", ...more];
  const ran = await user.run(args, { input: hook });
  assert.deepEqual(ran, { code: 0, stdout: "", stderr: "" });
}

async function shown(user: CliUser, id = ID): Promise<number[]> {
  const { stdout, stderr, code } = await user.run(["show", id, "--json"]);
  assert.equal(code, 0, stderr);
  return jsonLines(stdout).map(({ native }) => (native as { hook: { n: number } }).hook.n);
}

/** Runs the command in a process that is killed before its n-th call that changes the disk. */
function killed(user: CliUser, killAt: number, args: readonly string[], input = "") {
  const preload = ["--import", join(root, "test/support/kill-at.mjs")];
  const { signal, status } = spawnSync(process.execPath, [...preload, ...main, ...args], {
    cwd: user.cwd,
    env: { PATH: process.env.PATH, HOME: user.home, KILL_AT: String(killAt) },
    input,
  });
  return signal === "SIGKILL" ? "killed" : status;
}

test("a hook is spooled to its own file, private to its user, and the next reader moves it into the session", async () => {
  const user = new CliUser();
  await record(user, hookOf(0));
  const [name = "", ...others] = spooled(user.cwd);
  assert.deepEqual(others, []);
  const line = readFileSync(join(spoolOf(user.cwd), name), "utf8");
  const [example = ""] = docsPage("formats/claude").lines("jsonl claude-spool");
  assert.deepEqual(Object.keys(JSON.parse(line)), Object.keys(JSON.parse(example)));
  assert.equal(spawnSync("stat", ["-c", "%a", spoolOf(user.cwd)]).stdout.toString(), "700\n");
  assert.deepEqual(await shown(user), [0]);
  assert.deepEqual(spooled(user.cwd), []);
  const { stdout } = await user.run(["ls", "--json"]);
  assert.equal(jsonLines(stdout)[0]?.id, ID);
});

test("the last hook of a session moves all spooled hooks into its log", async () => {
  const user = new CliUser();
  for (const n of [0, 1]) await record(user, hookOf(n));
  await record(user, hookOf(2, { hook_event_name: "SessionEnd" }));
  assert.deepEqual(spooled(user.cwd), []);
  const log = join(user.cwd, ".verbatim/claude", ID, "transcript.jsonl");
  assert.equal(readFileSync(log, "utf8").trimEnd().split("\n").length, 3);
});

test("a server and a follower move hooks into the log while they run", async () => {
  const user = new CliUser();
  await record(user, hookOf(0));
  const tail = user.start(["show", ID, "--follow", "--json"]);
  const next = async () => ((await tail.json()).native as { hook: { n: number } }).hook.n;
  assert.equal(await next(), 0);
  await record(user, hookOf(1));
  assert.equal(await next(), 1);
  await tail.kill();

  const server = user.start([
    "serve",
    "--port",
    "0",
    "--data",
    tempDirectory(),
    "--root",
    user.cwd,
  ]);
  await server.line();
  await record(user, hookOf(2));
  const log = join(user.cwd, ".verbatim/claude", ID, "transcript.jsonl");
  await until(() => readFileSync(log, "utf8").includes('"n":2'), "the hook is moved");
});

test("verify reports spooled hooks as not signed yet, and writes nothing", async () => {
  const user = new CliUser();
  await record(user, hookOf(0), ...SIGNED);
  for (const name of [[], [ID], ["6f1c"]]) {
    const ran = await user.run(["verify", ...name]);
    assert.equal(ran.code, 5, ran.stderr);
    assert.match(ran.stdout, /incomplete.*\n.*HOOKS_WAITING: 1 recorded hooks wait/);
  }
  assert.equal(spooled(user.cwd).length, 1);
  await shown(user);
  assert.equal((await user.run(["verify"])).code, 0);
  await record(user, hookOf(1), ...SIGNED);
  const after = await user.run(["verify", "--json"]);
  assert.equal(after.code, 5);
  assert.equal(jsonLines(after.stdout)[0]?.verdict, "incomplete");
});

test("96 concurrent signed hooks with concurrent readers: none is lost, and each lane keeps its order", async () => {
  const user = new CliUser();
  const lane = async (at: number) => {
    for (let n = 0; n < 12; n++) await record(user, hookOf(at * 100 + n), ...SIGNED);
  };
  let isOver = false;
  const reader = async () => {
    while (!isOver) assert.equal((await user.run(["ls"])).code, 0);
  };
  const lanes = Promise.all(Array.from({ length: 8 }, (_, at) => lane(at)));
  await Promise.all([lanes.finally(() => (isOver = true)), reader()]);
  const all = await shown(user);
  assert.equal(all.length, 96);
  for (let at = 0; at < 8; at++) {
    const own = all.filter((n) => Math.floor(n / 100) === at);
    assert.deepEqual(
      own,
      Array.from({ length: 12 }, (_, n) => at * 100 + n),
    );
  }
  assert.deepEqual(spooled(user.cwd), []);
  assert.equal((await user.run(["verify"])).code, 0);
  assert.ok(!existsSync(join(user.home, ".local/state/verbatim/hooks.log")), "nothing failed");
});

test("a hook killed with -9 before any write call has recorded its event at most once, and always if acknowledged", async () => {
  const user = new CliUser();
  const expected: number[] = [];
  const args = ["record", "--from", "claude-code-hooks"];
  for (let at = 1, isOver = false; !isOver; at++) {
    assert.ok(at < 40, "it never ends by itself");
    isOver = killed(user, at, args, hookOf(at)) === 0;
    if (isOver) expected.push(at);
    // An event that was not acknowledged may be there or not; a whole file counts as recorded.
    const whole = spooled(user.cwd).filter((name) => {
      return readFileSync(join(spoolOf(user.cwd), name), "utf8").endsWith("\n");
    });
    if (!isOver && whole.length > expected.length) expected.push(at);
  }
  assert.ok(expected.length >= 2, "it was killed after the write, too");
  assert.deepEqual(await shown(user), expected);
});

test("a reader killed with -9 before any write call loses no hook and duplicates none", async () => {
  const user = new CliUser();
  const expected: number[] = [];
  for (let at = 1, isOver = false; !isOver; at++) {
    assert.ok(at < 120, "it never ends by itself");
    if (!isTried(at, 6)) continue;
    if (spooled(user.cwd).length === 0) {
      for (const n of [2 * at, 2 * at + 1]) {
        await record(user, hookOf(n), ...SIGNED);
        expected.push(n);
      }
    }
    isOver = killed(user, at, ["show", ID, "--json"]) === 0;
  }
  assert.deepEqual(await shown(user), expected);
  assert.deepEqual(spooled(user.cwd), []);
  // If killed between a line and its checkpoint, the line is recorded as found unsigned; never
  // worse.
  const { stdout } = await user.run(["verify", "--json"]);
  const [report] = jsonLines(stdout) as { verdict: string; findings: { code: string }[] }[];
  assert.ok(["verified", "incomplete"].includes(report?.verdict ?? ""), stdout);
  assert.ok(
    report?.findings.every(({ code }) => code === "FOUND_UNSIGNED"),
    stdout,
  );
});

test("a session id cannot lead out of the store, and an id that no log can have is refused at once", async () => {
  const user = new CliUser();
  const above = JSON.stringify({ session_id: "../../../../up", hook_event_name: "Told", n: 7 });
  await record(user, above);
  const id = "claude-code-hooks/%2E%2E%2F%2E%2E%2F%2E%2E%2F%2E%2E%2Fup";
  assert.deepEqual(await shown(user, id), [7]);
  const long = JSON.stringify({ session_id: "/".repeat(3000), hook_event_name: "Told" });
  const args = ["record", "--from", "claude-code-hooks"];
  const ran = await user.run(args, { input: long });
  assert.equal(ran.code, 0);
  assert.match(ran.stderr, /not recorded \(BAD_ID\)/);
  assert.deepEqual(spooled(user.cwd), []);
});

test("spooled hooks that came with a project are not signed with the reader's key", async () => {
  const [author, reader] = [new CliUser(), new CliUser()];
  await record(author, hookOf(666), ...SIGNED);
  const [name = ""] = spooled(author.cwd);
  const brought = readFileSync(join(spoolOf(author.cwd), name), "utf8");
  await record(reader, hookOf(1), ...SIGNED); // They have their own key.
  writeFileSync(join(spoolOf(reader.cwd), name), brought);
  // An id of its own: one made from the first name's would be the same once in 256 runs.
  const unsigned = spoolName(nextOrder([name], Date.now()), "00000000-0000-4000-8000-000000000000");
  writeFileSync(join(spoolOf(reader.cwd), unsigned), brought.replace(/,"mac":[^}]*/, ""));
  assert.deepEqual(await shown(reader), [1]);
  const { stderr } = await reader.run(["ls"]);
  assert.match(stderr, /2 recorded hooks wait .* not from you/);
  assert.equal(spooled(reader.cwd).length, 2);
});

test("a locked session is shown without its spooled hooks, and with their number", async () => {
  const user = new CliUser();
  await record(user, hookOf(0));
  await shown(user);
  const log = join(user.cwd, ".verbatim/claude", ID, "transcript.jsonl");
  const holder = startChild("test/support/lock-holder.ts", `${log}.lock`);
  assert.equal(await holder.line(), "held");
  await record(user, hookOf(1)); // Takes no lock.
  const { code, stdout, stderr } = await user.run(["show", ID, "--json"]);
  assert.deepEqual([code, jsonLines(stdout).length], [0, 1]);
  assert.match(stderr, /1 recorded hooks wait in .* not shown/);
  await holder.kill();
  assert.deepEqual(await shown(user), [0, 1]);
});

test("a spool that grows too long is drained by a hook", async () => {
  const user = new CliUser();
  await record(user, hookOf(0));
  const [name = ""] = spooled(user.cwd);
  const line = JSON.parse(readFileSync(join(spoolOf(user.cwd), name), "utf8"));
  const add = (n: number) => {
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const text = `${JSON.stringify({ ...line, id, hook: hookOf(n) })}\n`;
    writeFileSync(join(spoolOf(user.cwd), spoolName(n, id)), text);
  };
  for (let n = 1; n < SPOOL_WAITING_MAX - 2; n++) add(n);
  await record(user, hookOf(-1));
  assert.equal(spooled(user.cwd).length, SPOOL_WAITING_MAX - 1);
  await record(user, hookOf(-2));
  assert.deepEqual(spooled(user.cwd), []);
  assert.equal((await shown(user)).length, SPOOL_WAITING_MAX);
});

test("a spooled file that is not a hook is renamed, one being written is not touched, and a link is not followed", async () => {
  const user = new CliUser();
  await record(user, hookOf(0));
  const put = (n: number, text: string) => {
    const path = join(spoolOf(user.cwd), spoolName(n, "00000000-0000-4000-8000-000000000000"));
    writeFileSync(path, text);
    return path;
  };
  const odd = put(1, "no hook\n");
  const torn = put(2, '{"v":1');
  const current = put(3, '{"v":1');
  utimesSync(torn, 1, 1);
  assert.deepEqual(await shown(user), [0]);
  assert.ok(existsSync(`${odd}.refused`) && existsSync(`${torn}.torn`) && existsSync(current));

  const other = new CliUser();
  const elsewhere = tempDirectory();
  mkdirSync(join(other.cwd, ".verbatim/claude"), { recursive: true });
  symlinkSync(elsewhere, spoolOf(other.cwd));
  const args = ["record", "--from", "claude-code-hooks"];
  const { code, stderr } = await other.run(args, { input: hookOf(0) });
  assert.equal(code, 0);
  assert.match(stderr, /not recorded/);
  assert.deepEqual(readdirSync(elsewhere), []);
});

test("a clock that was set back does not change the order of hooks", () => {
  const id = "00000000-0000-4000-8000-000000000000";
  assert.equal(nextOrder([], 1_800_000_000_000), 1_800_000_000_000);
  const waiting = [spoolName(1_800_000_000_000, id), "something.else"];
  assert.equal(nextOrder(waiting, 1_700_000_000_000), 1_800_000_000_001);
  assert.ok(spoolName(1_800_000_000_000, id) < spoolName(1_800_000_000_001, id));
});
