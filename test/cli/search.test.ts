/** `verbatim search`: its hits, its output, and its guarantees for scripts. */

import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "vitest";
import { CliUser, jsonLines } from "./cli.ts";
import { event, putThread, putTurns, turn } from "./stores.ts";

function fill(user: CliUser): void {
  putThread(user.cwd, "cook-1", [
    event("user_message", { text: "Make a Soufflé\u001b[2J of \u202ecod" }),
    event("tool_call_start", { tool: "stove", call_id: "1", input: { heat: "souffle" } }),
    "bad",
  ]);
  putTurns(user, "kitchen/s1", [turn("user", { content: "no soup" })]);
}

test("search finds entries in every store, prints them without control characters, and says when there are none", async () => {
  const user = new CliUser();
  fill(user);
  const { code, stdout, stderr } = await user.run(["search", "souffle"]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.deepEqual(stdout.split("\n"), [
    "Make a Soufflé of cod  cook-1  2026-02-09T04:03:50.365Z",
    `  hello · ${basename(user.cwd)} · assistant · stove`,
    "    stove souffle",
    "Make a Soufflé of cod  cook-1  2026-02-09T04:03:50.365Z",
    `  hello · ${basename(user.cwd)} · user`,
    "    Make a Soufflé of \\u202ecod",
    "",
  ]);
  assert.ok(existsSync(join(user.home, ".cache/verbatim/search.db")));

  const json = await user.run(["search", "SOUFFLE", "role:user", "--json", "--limit", "1"]);
  const [hit, ...more] = jsonLines(json.stdout);
  assert.deepEqual([json.code, more], [0, []]);
  assert.deepEqual(hit, {
    session: "cook-1",
    dialect: "rye",
    root: user.cwd,
    program: null,
    start: 0,
    role: "user",
    tools: [],
    end: hit?.end,
    at: "2026-02-09T04:03:50.365Z",
    agent: "hello",
    project: user.cwd,
    title: "Make a Soufflé of cod",
    snippet: [
      { text: "Make a ", isHit: false },
      { text: "Soufflé", isHit: true },
      { text: " of \u202ecod", isHit: false },
    ],
  });
  assert.ok(!json.stdout.includes("\u001b"));

  const nothing = await user.run(["search", "--", "soup", "-no"]);
  assert.deepEqual(nothing, { code: 1, stdout: "", stderr: "" });
});

test("a word is found directly after and before terminal escapes, in every output", async () => {
  const user = new CliUser();
  const output = `all \u001b[32mgreen\u001b[0m in\u001b]8;;http://x\u0007side\u001b[1;2Hend`;
  putThread(user.cwd, "test-1", [
    event("tool_call_start", { tool: "bash", call_id: "1", input: {} }),
    event("tool_call_result", { call_id: "1", output }),
  ]);
  for (const word of ["green", "inside", "end", "all"]) {
    const { code, stdout } = await user.run(["search", word]);
    assert.equal(code, 0, word);
    assert.match(stdout, /\n {4}all green inside end\n$/);
  }
  assert.equal((await user.run(["search", "32mgreen"])).code, 1);
  const [hit] = jsonLines((await user.run(["search", "green", "--json"])).stdout);
  assert.deepEqual(hit?.snippet, [
    { text: "all ", isHit: false },
    { text: "green", isHit: true },
    { text: " inside end", isHit: false },
  ]);
});

test("search refuses an invalid query, and rebuilds its index on request", async () => {
  const user = new CliUser();
  fill(user);
  const wrong = await user.run(["search", "agnt:cook"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /the query cannot be understood: it has an unknown filter/);
  assert.equal((await user.run(["search"])).code, 2);

  const rebuilt = await user.run(["search", "--rebuild"]);
  assert.deepEqual(rebuilt, { code: 0, stdout: "", stderr: "" });
  rmSync(join(user.home, ".cache"), { recursive: true });
  const again = await user.run(["search", "soup", "--dialect", "homeagent"]);
  assert.deepEqual([again.code, again.stdout.split("\n")[2]], [0, "    no soup"]);
});

test("hits are in the order of their times, newest first, whichever session was indexed last", async () => {
  const user = new CliUser();
  const at = (day: number) => ({ ts: `2026-02-0${day}T00:00:00.000Z` });
  putThread(user.cwd, "cook-1", [
    event("user_message", { text: "soup one", ...at(1) }),
    event("user_message", { text: "soup four", ...at(4) }),
  ]);
  putThread(user.cwd, "cook-2", [
    event("user_message", { text: "soup two", ...at(2) }),
    event("user_message", { text: "soup three", ...at(3) }),
  ]);
  const words = async (...args: string[]) => {
    const { stdout } = await user.run(["search", "soup", ...args]);
    return Array.from(stdout.matchAll(/^ {4}soup (\w+)$/gm), ([, word]) => word);
  };
  assert.deepEqual(await words(), ["four", "three", "two", "one"]);
  assert.deepEqual(await words("--sort", "oldest", "--limit", "3"), ["one", "two", "three"]);
  assert.equal((await user.run(["search", "soup", "--sort", "best"])).code, 2);
});

test("on a terminal a hit has its title, the shortest id and its age on one line", async () => {
  const user = new CliUser();
  for (const id of ["ca11ab1e-1", "deadbee5-2"]) {
    putThread(user.cwd, id, [event("user_message", { text: `soup of ${id.slice(0, 4)}` })]);
  }
  const { shown } = await user.atTerminal(["search", "ca11"], { env: { NO_COLOR: "1" } });
  assert.match(shown, /^soup of ca11 {2}ca11ab1e {2}\w+/m);
});

test("sessions without a message are one warning with their number", async () => {
  const user = new CliUser();
  for (const id of ["odd-1", "odd-2"]) putThread(user.cwd, id, [`{"mystery":1}`]);
  putThread(user.cwd, "cook-1", [event("user_message", { text: "soup" })]);
  const { stderr } = await user.run(["search", "soup"]);
  assert.equal(
    stderr,
    "warning: 2 sessions are not searched, because no message was understood, odd-1 among them; " +
      "verbatim doctor odd-1 reports why\n",
  );
});
