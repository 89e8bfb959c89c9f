/** `verbatim ls` on the sessions of other programs: found from anywhere, newest first. */

import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { putThread } from "../cli/stores.ts";
import { putClaude, turnOf } from "./claude-files.ts";

const [FIRST, SECOND, THIRD] = [
  "6f1c2d3e-1000-4000-8000-000000000001",
  "6f1c2d3e-2000-4000-8000-000000000002",
  "0a1b2c3d-0000-4000-8000-000000000003",
];

function userWithHistory(): CliUser {
  const user = new CliUser();
  putClaude(user.home, { id: FIRST, cwd: "/home/me/shop", at: "2026-11-03T10:00:00.000Z" });
  putClaude(user.home, { id: SECOND, cwd: "/home/me/shop/api", at: "2026-11-02T10:00:00.000Z" });
  putClaude(user.home, { id: THIRD, cwd: user.cwd, at: "2026-11-01T10:00:00.000Z" });
  const [subagent, prompt] = ["a21e2f5", "Search the repository"];
  putClaude(user.home, { id: FIRST, cwd: "/home/me/shop", subagent, prompt });
  putThread(user.cwd, "hello-1");
  return user;
}

test("ls lists the sessions of every agent from anywhere, newest first", async () => {
  const user = userWithHistory();
  const { stdout, stderr } = await user.run(["ls"]);
  const rows = stdout.trimEnd().split("\n").slice(1);
  assert.deepEqual(
    rows.map((row) => row.split(/ {2,}/).slice(0, 2)),
    [
      [`-home-me-shop/${FIRST}`, "Claude Code"],
      [`-home-me-shop-api/${SECOND}`, "Claude Code"],
      [`${user.cwd.replaceAll(/[/.]/g, "-")}/${THIRD}`, "Claude Code"],
      ["hello-1", "hello"],
    ],
  );
  expect(rows[0]).toMatch(/ {2}\/home\/me\/shop +main +Fix 6f1c2d3e-\S+$/);
  assert.equal(stderr, "1 session of subagents not listed; --all lists them\n");
});

test("ls --sort cost counts what sessions cost, although no agent recorded it", async () => {
  const user = new CliUser();
  const at = "2026-11-01T10:00:00.000Z";
  const [, cheap] = turnOf({ id: FIRST, at });
  for (const [id, tokens] of [
    [FIRST, 1_000],
    [SECOND, 3_000_000],
    [THIRD, 20_000],
  ] as const) {
    const message = { role: "assistant", model: "claude-opus-4-5", content: [] };
    const usage = { input_tokens: tokens, output_tokens: 5 };
    putClaude(user.home, { id, at }, [{ ...cheap, uuid: id, message: { ...message, id, usage } }]);
  }
  const { stdout } = await user.run(["ls", "--sort", "cost", "--limit", "2"]);
  const rows = stdout.trimEnd().split("\n").slice(1);
  assert.deepEqual(
    rows.map((row) => [row.split(/ {2,}/)[0], /\$\S+/.exec(row)?.[0]]),
    [
      [`-home-me-app/${SECOND}`, "$15.0003"],
      [`-home-me-app/${THIRD}`, "$0.1003"],
    ],
  );
});

test("ls --all lists subagents; one whose session is gone is always listed", async () => {
  const user = userWithHistory();
  const { stdout } = await user.run(["ls", "--all"]);
  expect(stdout).toContain(`-home-me-shop/${FIRST}/subagents/agent-a21e2f5`);
  rmSync(join(user.home, `.claude/projects/-home-me-shop/${FIRST}.jsonl`));
  const orphan = await user.run(["ls"]);
  expect(orphan.stdout).toContain("agent-a21e2f5");
  assert.equal(orphan.stderr, "");
});

test("a fork is listed next to the session that it continues", async () => {
  const user = new CliUser();
  const sessions = join(user.home, ".pi/agent/sessions/--home-me-app--");
  mkdirSync(sessions, { recursive: true });
  const put = (name: string, more: object) => {
    const timestamp = "2026-05-11T09:00:00.000Z";
    const header = { type: "session", version: 3, id: name, timestamp, cwd: "/home/me/app" };
    writeFileSync(join(sessions, `${name}.jsonl`), `${JSON.stringify({ ...header, ...more })}\n`);
  };
  put("2026-05-11T09-00-00-000Z_6f1c", {});
  put("2026-05-12T09-00-00-000Z_6f1d", {
    parentSession: join(sessions, "2026-05-11T09-00-00-000Z_6f1c.jsonl"),
  });
  const { stdout, stderr } = await user.run(["ls"]);
  expect(stdout).toContain("_6f1c");
  expect(stdout).toContain("_6f1d");
  assert.equal(stderr, "");
});

test("ls --json lists every session, with its name in its program", async () => {
  const user = userWithHistory();
  const sessions = jsonLines((await user.run(["ls", "--json"])).stdout);
  assert.equal(sessions.length, 5);
  assert.deepEqual(
    sessions.filter(({ parent }) => parent !== null).map(({ name }) => name),
    ["agent-a21e2f5"],
  );
  expect(sessions[0]).toMatchObject({
    id: `-home-me-shop/${FIRST}`,
    name: FIRST,
    dialect: "claude-code",
    project: "/home/me/shop",
    branch: "main",
    live: false,
  });
});

test("ls --agent takes a program's label, its first word, a dialect or an agent", async () => {
  const user = userWithHistory();
  const count = async (agent: string) => {
    return jsonLines((await user.run(["ls", "--json", "--agent", agent])).stdout).length;
  };
  for (const name of ["Claude Code", "claude-code", "CLAUDE", "claudecode"]) {
    assert.equal(await count(name), 4, name);
  }
  assert.equal(await count("rye"), 1);
  assert.equal(await count("hello"), 1);
  const none = await user.run(["ls", "--agent", "homeagent"]);
  assert.deepEqual([none.code, none.stderr], [0, "no sessions of homeagent\n"]);
  const wrong = await user.run(["ls", "--agent", "clod"]);
  assert.equal(wrong.code, 2);
  expect(wrong.stderr).toMatch(/no agent is called clod; known are .*Claude Code \(claude-code\)/);
  expect(wrong.stderr).toContain("hello");
});

test("ls --project takes a path, with everything below it, or a directory's name", async () => {
  const user = userWithHistory();
  const names = async (project: string) => {
    const { stdout } = await user.run(["ls", "--json", "--project", project]);
    return jsonLines(stdout).map(({ name }) => name);
  };
  assert.deepEqual(await names("/home/me/shop"), [FIRST, SECOND, "agent-a21e2f5"]);
  assert.deepEqual(await names("shop"), [FIRST, "agent-a21e2f5"]);
  assert.deepEqual(await names("/home/me/sho"), []);
  assert.deepEqual(await names("."), [THIRD, "hello-1"]);
  const none = await user.run(["ls", "--project", "nowhere"]);
  expect(none.stderr).toMatch(/no sessions of the project nowhere; .*\/home\/me\/shop/);
  assert.equal((await user.run(["ls", "--ids", "--project", "shop"])).code, 2);
});

test("on a terminal ls fits its width, and its short ids name one session each", async () => {
  const user = userWithHistory();
  const title = "日本語の長い題名".repeat(8);
  putClaude(user.home, { id: "11111111-0000-4000-8000-000000000004", prompt: title });
  await user.run(["ls"]); // So that no progress is shown.
  const shown = await user.runInTerminal(["ls"]);
  const [heading, ...lines] = shown.trimEnd().split("\n");
  expect(heading).toMatch(/^WHEN +AGENT +PROJECT +TITLE +ID$/);
  for (const line of lines) {
    const wide = Array.from(line.matchAll(/[\u3000-\u9fff]/g)).length;
    assert.ok(line.length + wide <= 80, line);
  }
  const ids = lines.slice(0, -1).map((line) => line.split(/ +/).at(-1) ?? "");
  assert.deepEqual(new Set(ids.map((id) => id.slice(0, 8))).size, 4);
  for (const id of ids) {
    const { code, stderr } = await user.run(["show", id]);
    assert.equal(code, 0, `${id}: ${stderr}`);
  }
});

test("a long title gets 40 % of a terminal's width, and the branch is left out first", async () => {
  const user = userWithHistory();
  putClaude(user.home, {
    id: "11111111-0000-4000-8000-000000000004",
    prompt: "a title ".repeat(20),
  });
  for (const [columns, left] of [
    [80, "PROJECT"],
    [120, "MODEL +TURNS"],
    [160, "BRANCH +MODEL +TURNS"],
  ] as const) {
    const { shown } = await user.atTerminal(["ls"], { columns });
    const [heading = ""] = shown.slice(shown.lastIndexOf("\r") + 1).split("\n");
    expect(heading).toMatch(new RegExp(`${left} +TITLE`));
    const width = heading.indexOf("ID") - 2 - heading.indexOf("TITLE");
    assert.ok(width >= 0.4 * columns, `${width} of ${columns}`);
  }
});

test("the kept listing is not used for another agent or project", async () => {
  const user = new CliUser();
  for (let n = 0; n < 1000; n++) putThread(user.cwd, `t-${n}`);
  putClaude(user.home, { id: FIRST });
  const count = async (...args: string[]) => {
    return jsonLines((await user.run(["ls", "--json", ...args])).stdout).length;
  };
  assert.equal(await count(), 1001);
  assert.equal(await count("--agent", "claude-code"), 1);
  assert.equal(await count(), 1001);
  assert.equal(await count("--project", "app"), 1);
});
