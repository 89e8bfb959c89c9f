/** `verbatim scan`: what it prints, its exit codes, and which sessions it reads. */

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { CliUser, jsonLines } from "./cli.ts";
import { event, putThread, putTurns, turn } from "./stores.ts";

/** Made here, so that no scanner finds it in this file. */
const TOKEN = ["gh", "p_"].join("") + "aB3dE6gH9jK2".repeat(3);
const ADDRESS = ["ada", "analytical.io"].join("@");

function fill(user: CliUser): void {
  putThread(user.cwd, "cook-1", [
    event("user_message", { text: "print the environment" }),
    event("tool_call_start", { tool: "shell\u001b[2J", call_id: "1", input: { command: "env" } }),
    event("tool_call_result", { call_id: "1", output: JSON.stringify({ a: `\n${TOKEN}\n` }) }),
  ]);
  putTurns(user, "kitchen/s1", [turn("user", { content: `write to ${ADDRESS}` })]);
}

test("scan prints masked finds of every store with their tool, and exits with 1", async () => {
  const user = new CliUser();
  fill(user);
  const { code, stdout, stderr } = await user.run(["scan"]);
  assert.deepEqual([code, stderr], [1, "2 finds of 2 values in 2 of 2 sessions\n"]);
  const [first, second, ...rest] = stdout.split("\n");
  assert.equal(first, "github  ghp…K2  cook-1, entry 3, printed by shell\\u001b[2J");
  assert.match(second ?? "", /^email {2}ad…o {2}kitchen\/s1, entry \d+, text$/);
  assert.deepEqual(rest, [""]);
  assert.ok(!stdout.includes(TOKEN.slice(3, 9)));

  const again = await user.run(["scan", "--all", "--json"]);
  const [find] = jsonLines(again.stdout);
  const { places, valueId, ...facts } = find as {
    places: { entry: number; value: object }[];
    valueId: string;
  };
  assert.match(valueId, /^[0-9a-f]{16}$/);
  assert.deepEqual(facts, {
    session: "cook-1",
    dialect: "rye",
    root: user.cwd,
    rule: "github",
    masked: "ghp…K2",
    in: "tool_result",
    tool: "shell\u001b[2J",
    depth: 2,
    file: null,
  });
  assert.equal(places[0]?.entry, 3);
  assert.ok(existsSync(join(user.home, ".cache/verbatim/scans.json")));
});

test("scan tells of a value once: how often, in how many sessions, and the dangerous first", async () => {
  const user = new CliUser();
  const other = TOKEN.replace("aB3", "xY7");
  putThread(user.cwd, "a", [
    event("user_message", { text: `${ADDRESS} ${TOKEN} and ${TOKEN}` }),
    event("user_message", { text: `${JSON.stringify({ token: TOKEN })} ${other}` }),
  ]);
  putThread(user.cwd, "b", [event("user_message", { text: `again\n${TOKEN}` })]);
  const { stdout, stderr } = await user.run(["scan"]);
  assert.equal(
    stdout,
    "github  ghp…K2  4 times in 2 sessions, first in a, entry 1, text\n" +
      "github  ghp…K2  a, entry 2, text\n" +
      "email  ad…o  a, entry 1, text\n",
  );
  assert.equal(stderr, "6 finds of 3 values in 2 of 2 sessions\n");
  const ids = async (...args: string[]) => {
    const { stdout } = await user.run(["scan", "--json", ...args]);
    return jsonLines(stdout).map((find) => find?.valueId);
  };
  const first = await ids();
  assert.deepEqual([first.length, new Set(first).size], [6, 3]);
  assert.deepEqual(await ids(), first);
  // What is appended later is compared with what was kept.
  putThread(user.cwd, "c", [event("user_message", { text: `${TOKEN} and ${other}` })]);
  const later = await ids();
  assert.deepEqual([later.length, new Set(later).size], [8, 3]);
  assert.notDeepEqual(await ids("--rescan"), later);
});

test("scan takes sessions by name, agent, project and rule, and exits with 0 if nothing is found", async () => {
  const user = new CliUser();
  fill(user);
  const rulesOf = async (...args: string[]) => {
    const { code, stdout } = await user.run(["scan", "--json", ...args]);
    return [code, ...jsonLines(stdout).map((find) => find?.rule)];
  };
  assert.deepEqual(await rulesOf("cook"), [1, "github"]);
  assert.deepEqual(await rulesOf("cook-1", "kitchen/s1"), [1, "github", "email"]);
  assert.deepEqual(await rulesOf(join(user.cwd, ".ai/threads/cook-1/transcript.jsonl")), [
    1,
    "github",
  ]);
  assert.deepEqual(await rulesOf("--agent", "hello"), [1, "github"]);
  assert.deepEqual(await rulesOf("--project", "."), [1, "github"]);
  assert.deepEqual(await rulesOf("--rule", "email"), [1, "email"]);
  assert.deepEqual(await rulesOf("cook-1", "--rule", "email"), [0]);
  assert.deepEqual(await rulesOf("--rescan", "--dialect", "homeagent"), [1, "email"]);
  assert.deepEqual(await rulesOf("last", "--root", user.cwd, "--rule", "jwt"), [0]);
});

test("scan matches the user's own patterns, from options and a file", async () => {
  const user = new CliUser();
  fill(user);
  writeFileSync(join(user.cwd, "patterns"), "# ours\n\nverb=/PRINT the/i\n");
  const own = ["--pattern", "env=environment", "--patterns", "patterns"];
  const { stdout } = await user.run(["scan", "cook-1", "--json", ...own]);
  assert.deepEqual(
    jsonLines(stdout).map((find) => find?.rule),
    ["own:verb", "own:env", "github"],
  );
  const only = await user.run(["scan", "--rule", "own:env", ...own]);
  assert.deepEqual([only.code, only.stdout.split("\n").length], [1, 2]);
});

test("scan refuses wrong usage with 2, and a session that does not exist with 7", async () => {
  const user = new CliUser();
  fill(user);
  for (const [args, said] of [
    [["--rule", "gitbub"], /no rule is called gitbub; known are aws, npm/],
    [["--pattern", "x"], /a pattern is NAME=REGEX/],
    [["--pattern", "x=("], /the pattern x is not a regular expression/],
    [["--pattern", "x=a", "--pattern", "x=b"], /two patterns are called x/],
    [["--patterns", "missing"], /missing cannot be read \(ENOENT\)/],
    [["cook-1", "--all"], /name sessions, or choose them/],
    [["--agent", "no-such-agent"], /no agent is called/],
  ] as const) {
    const { code, stderr } = await user.run(["scan", ...args]);
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, said);
  }
  assert.equal((await user.run(["scan", "no-such-session"])).code, 7);
});

test("scan reports what it could not search, and exits with 7 if it found nothing else", async () => {
  const user = new CliUser();
  putThread(user.cwd, "slow-1", [event("user_message", { text: "a".repeat(60) })]);
  const { code, stdout, stderr } = await user.run(["scan", "--pattern", "slow=(a+)+$x"]);
  assert.deepEqual([code, stdout], [7, ""]);
  assert.match(stderr, /^not scanned: slow-1, entry 1: the pattern slow takes too long$/m);
});
