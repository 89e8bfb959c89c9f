/**
 * Every command on a session of another program, by its name, the beginning of it, its path and
 * `last`. No command changes anything of the program's.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { treeAt } from "../support/tree.ts";
import { putClaude, turnOf } from "./claude-files.ts";
import { mcpCall } from "./mcp-call.ts";

const ID = "6f1c2d3e-1000-4000-8000-000000000001";
const WHOLE_ID = `-home-me-app/${ID}`;
const SECOND_TURN = turnOf({ id: ID, prompt: "And the parser", answer: "Mended." });

function userWithSession(): { user: CliUser; path: string; directory: string } {
  const user = new CliUser();
  const session = { id: ID, prompt: "Fix the zebra", answer: "Fixed." };
  const path = putClaude(user.home, session, SECOND_TURN);
  chmodSync(path, 0o644); // As other programs may leave it.
  return { user, path, directory: join(user.home, ".claude") };
}

test("a session is named by its id, its name, the beginning of either, its path, or last", async () => {
  const { user, path } = userWithSession();
  for (const name of [WHOLE_ID, ID, "6f1c2d3e", "-home-me-app/6f1c", path, "last"]) {
    const { code, stdout, stderr } = await user.run(["show", name]);
    assert.deepEqual([code, stderr], [0, ""], name);
    expect(stdout).toContain("Fix the zebra");
  }
});

interface Expected {
  readonly code: number;
  readonly stdout?: RegExp;
  readonly stderr?: RegExp;
}

const RESUME = ["resume", "6f1c2d3e", "--for", "anthropic", "--allow-unsigned"];
const ONLY_READ =
  /Claude Code, and sessions of other programs are only read; `verbatim export --format bundle`/;

const COMMANDS: readonly (readonly [string, readonly string[], Expected])[] = [
  ["show", ["show", "6f1c2d3e", "--last", "1"], { code: 0, stdout: /Mended/ }],
  ["show --json", ["show", "6f1c2d3e", "--json"], { code: 0, stdout: /"role":"user"/ }],
  ["export as a page", ["export", "6f1c2d3e", "--format", "html"], { code: 0, stdout: /<html/ }],
  ["export", ["export", "6f1c2d3e"], { code: 0, stdout: /## User/ }],
  [
    "export as etf",
    ["export", "6f1c2d3e", "--format", "etf"],
    { code: 0, stdout: /Fix the zebra/ },
  ],
  ["search", ["search", "zebra"], { code: 0, stdout: /6f1c2d3e/ }],
  ["search by dialect", ["search", "zebra", "dialect:claude-code"], { code: 0, stdout: /6f1c/ }],
  ["verify", ["verify", "6f1c2d3e"], { code: 3, stdout: /unsigned.*Claude Code signs nothing/s }],
  ["doctor", ["doctor", "6f1c2d3e"], { code: 0, stdout: /1 session: nothing found/ }],
  ["doctor of everything", ["doctor"], { code: 0, stdout: /1 session: nothing found/ }],
  ["doctor --fix", ["doctor", "--fix", "6f1c2d3e"], { code: 0, stdout: /nothing to mend/ }],
  ["doctor --fix of everything", ["doctor", "--fix"], { code: 7, stderr: /no store was found/ }],
  [
    "doctor --fix --vouch",
    ["doctor", "--fix", "--vouch", "--yes", "6f1c2d3e"],
    { code: 7, stderr: ONLY_READ },
  ],
  ["resume", RESUME, { code: 0, stdout: /"model": "claude-opus-4-5"/ }],
  ["resume strictly", RESUME.slice(0, 4), { code: 3, stderr: /--allow-unsigned/ }],
  ["resume --record", [...RESUME, "--record"], { code: 7, stderr: ONLY_READ }],
  ["a fork", [...RESUME, "--up-to", "1", "--record"], { code: 7, stderr: ONLY_READ }],
  [
    "export as a bundle",
    ["export", "--format", "bundle", "6f1c2d3e"],
    { code: 0, stdout: /6f1c2d3e-.*\.vbx/ },
  ],
  [
    "keys head show",
    ["keys", "head", "show", "6f1c2d3e"],
    { code: 7, stderr: /no head is pinned/ },
  ],
  ["keys head pin", ["keys", "head", "pin", "6f1c2d3e"], { code: 3, stderr: /unsigned/ }],
  [
    "record",
    ["record", "--dialect", "claude-code", "--session", ID],
    { code: 2, stderr: /Allowed choices are verbatim/ },
  ],
];

test.each(COMMANDS)(
  "%s works on a session of Claude Code and changes nothing there",
  async (...given) => {
    const [, args, { code, stdout = /^/, stderr = /^/ }] = given;
    const { user, directory } = userWithSession();
    const before = treeAt(directory);
    const ran = await user.run(args, { input: '{"type":"user","message":{"content":"x"}}\n' });
    assert.equal(ran.code, code, ran.stderr);
    expect(ran.stdout).toMatch(stdout);
    expect(ran.stderr).toMatch(stderr);
    assert.deepEqual(treeAt(directory), before);
    assert.equal(existsSync(join(user.cwd, ".verbatim")), false);
  },
);

test.each(["verbatim", "entire", "rye"])(
  "a session of Claude Code that was handed off becomes a verified session of %s",
  async (dialect) => {
    const { user, path } = userWithSession();
    const bytes = readFileSync(path);
    const handed = await user.run([
      "export",
      "--format",
      "bundle",
      "6f1c2d3e",
      "--output",
      "a.vbx",
      "--json",
    ]);
    assert.equal(handed.code, 0, handed.stderr);
    const { recordedFrom, manifest } = JSON.parse(handed.stdout);
    const { session, dialect: from, fidelity } = recordedFrom;
    assert.deepEqual([session, from, fidelity.dropped], [WHOLE_ID, "claude-code", 0]);
    assert.equal(manifest.dialect, "verbatim");
    const unpacked = await user.run(["import", "a.vbx", "--dialect", dialect, "--agent", "me"]);
    assert.equal(unpacked.code, 0, unpacked.stderr);
    const id = unpacked.stdout.trim();
    expect((await user.run(["verify", id])).stdout).toContain("verified");
    const { stdout } = await user.run(["show", id, "--json"]);
    expect(stdout).toContain("Fix the zebra");
    // Where it comes from: the bytes that were read.
    expect(stdout).toContain(createHash("sha256").update(bytes).digest("hex"));
    const { stdout: pins } = await user.run(["keys", "head", "show"]);
    expect(pins).not.toContain("verbatim-handoff-");
    assert.deepEqual(readFileSync(path), bytes);
  },
);

test("a bundle is not written over a session of another program", async () => {
  const { user, path } = userWithSession();
  const { code, stderr } = await user.run([
    "export",
    "--format",
    "bundle",
    "6f1c2d3e",
    "--output",
    path,
  ]);
  assert.equal(code, 7);
  expect(stderr).toContain("choose another file");
});

test("show --follow shows a session of Claude Code as it grows", async () => {
  const { user, path } = userWithSession();
  const running = user.start(["show", "6f1c2d3e", "--follow", "--last", "1", "--json"]);
  expect(JSON.stringify(await running.json())).toContain("Mended");
  appendFileSync(path, `${JSON.stringify(turnOf({ id: ID, prompt: "One more" })[0])}\n`);
  const entry = await running.json();
  expect(JSON.stringify(entry)).toContain("One more");
  running.signal("SIGINT");
});

test("doctor reports a torn end of another program's session, and doctor --fix leaves it", async () => {
  const { user, path } = userWithSession();
  appendFileSync(path, '{"type":"user","mess');
  const bytes = readFileSync(path);
  const found = await user.run(["doctor", "6f1c2d3e", "--json"]);
  const [torn] = jsonLines(found.stdout);
  expect(torn).toMatchObject({ code: "TORN_TAIL", mends: false });
  await user.run(["doctor", "--fix", "6f1c2d3e"]);
  assert.deepEqual(readFileSync(path), bytes);
});

test("mcp lists, reads, searches and verifies sessions of Claude Code", async () => {
  const { user } = userWithSession();
  const call = await mcpCall(user);
  expect(await call("list_sessions", { dialect: "claude-code" })).toContain("Fix the zebra");
  expect(await call("read_session", { session: "6f1c2d3e" })).toContain("Fix the zebra");
  expect(await call("search_sessions", { query: "zebra" })).toContain(ID);
  expect(await call("verify_session", { session: "6f1c2d3e" })).toContain("unsigned");
});
