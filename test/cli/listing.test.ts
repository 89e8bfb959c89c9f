/** `verbatim ls`, the list of sessions; and `ThreadTelemetry`, their cost. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ThreadTelemetry } from "../../src/doors/rye.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { CliUser, jsonLines } from "./cli.ts";
import { event, put, putThread, putTurns, turn } from "./stores.ts";

const LONG_ID = `test/tools/${"deep/".repeat(20)}write-1771394855`;

function fillStores(user: CliUser): void {
  const cheap = putThread(user.cwd, LONG_ID, [
    event("thread_start", { model: "claude-x" }),
    event("assistant_text", { text: "hi" }),
    event("thread_complete", { cost: { turns: 1, tokens: 10, spend: 0.5 } }),
  ]);
  utimesSync(cheap, 1_700_000_000, 1_700_000_000);
  putThread(user.cwd, "dear-1", [
    event("user_message", { text: "dear" }),
    event("thread_complete", { cost: { turns: 1, tokens: 5, spend: 2 } }),
    "bad",
  ]);
  putTurns(user, "cook/s1", [
    turn("user", { content: "soup", ts: 1_770_700_000_000 }),
    turn("assistant", {
      content: "ok",
      metadata: { model: "gpt-y", tokens: { prompt: 3, completion: 4 } },
      ts: 1_770_700_001_000,
    }),
  ]);
}

test("ls lists the sessions of every store found, and --json prints all their fields", async () => {
  const user = new CliUser();
  fillStores(user);
  const { code, stdout, stderr } = await user.run(["ls", "--json"]);

  assert.deepEqual([code, stderr], [0, ""]);
  const sessions = jsonLines(stdout);
  assert.deepEqual(
    sessions.map(
      ({ id, dialect, agent, model, status, totalTokens, spend, live, lines, badLines }) => [
        [id, dialect, agent, model, status],
        [totalTokens, spend, live, lines, badLines],
      ],
    ),
    [
      [
        ["cook/s1", "homeagent", "cook", "gpt-y", null],
        [7, null, false, 2, 0],
      ],
      [
        ["dear-1", "rye", "hello", null, "completed"],
        [5, 2, false, 3, 1],
      ],
      [
        [LONG_ID, "rye", "hello", "claude-x", "completed"],
        [10, 0.5, false, 3, 0],
      ],
    ],
  );
  assert.equal(sessions[0]?.updatedAt, "2026-02-10T05:06:41.000Z");
  assert.equal(sessions[1]?.path, join(user.cwd, ".ai/threads/dear-1/transcript.jsonl"));
});

test("ls sorts, limits and filters, and does not cut ids in a pipe", async () => {
  const user = new CliUser();
  fillStores(user);
  const ids = async (...args: string[]) => {
    const { code, stdout } = await user.run(["ls", ...args]);
    assert.equal(code, 0);
    const [heading, ...rows] = stdout.trimEnd().split("\n");
    assert.match(
      heading ?? "",
      /^ID +AGENT +MODEL +STATUS +TURNS +TOKENS +(COST +)?UPDATED +PROJECT +BRANCH +TITLE$/,
    );
    return rows.map((row) => row.split(/ {2,}/)[0]);
  };

  assert.deepEqual(await ids("--sort", "cost"), ["dear-1", LONG_ID, "cook/s1"]);
  assert.deepEqual(await ids("--sort", "tokens", "--limit", "2"), [LONG_ID, "cook/s1"]);
  assert.deepEqual(await ids("--sort", "id", "--dialect", "rye"), ["dear-1", LONG_ID]);
  assert.deepEqual(await ids("--root", join(user.home, ".homeagent")), ["cook/s1"]);
  const { stdout } = await user.run(["ls", "--sort", "id"]);
  expect(stdout).toMatch(/^cook\/s1 .* gpt-y +– +1 +7 +2026-02-10T05:06:41.000Z +– +– +soup$/m);
  expect(stdout).toMatch(/^dear-1 .* completed +\d+ +5 +2026-02-09T04:03:50.365Z +\S+ +– +dear$/m);
  const priced = await user.run(["ls", "--sort", "cost"]);
  expect(priced.stdout).toMatch(/ COST .*\ndear-1 .* completed +\d+ +5 +\$2.0000 +2026-02-09/);
  const wrong = await user.run(["ls", "--sort", "color"]);
  assert.equal(wrong.code, 2);
});

test("ls without sessions says so and exits 0", async () => {
  const user = new CliUser();
  const nothing = await user.run(["ls"]);
  const empty = await user.run(["ls", "--dialect", "homeagent", "--json"]);
  const nowhere = await user.run(["ls", "--root", "nowhere"]);

  assert.deepEqual([nothing.code, nothing.stdout], [0, ""]);
  expect(nothing.stderr).toContain("no session store was found");
  assert.deepEqual([empty.code, empty.stdout], [0, ""]);
  expect(empty.stderr).toContain(join(user.home, ".homeagent"));
  assert.equal(nowhere.code, 7);
  assert.deepEqual(readdirSync(user.cwd), []);
});

test("the listing of a thousand unchanged sessions is cached, and every change is seen", async () => {
  const user = new CliUser();
  const complete = event("thread_complete", { cost: { turns: 1, tokens: 10, spend: 0.5 } });
  const events = [event("user_message", { text: "hi" }), complete];
  const logs = Array.from({ length: 1000 }, (_, n) => putThread(user.cwd, `t-${n}`, events));
  const age = (path: string, seconds: number) => utimesSync(path, seconds, seconds);
  for (const path of logs) age(path, 1_700_000_000);
  const list = async (...args: string[]) => (await user.run(["ls", ...args])).stdout;
  const listing = async () => jsonLines(await list("--json"));
  const keptPath = join(user.home, ".cache/verbatim/last-listing");

  const first = await list("--json");
  assert.ok(existsSync(keptPath));
  assert.equal(await list("--json"), first);
  assert.equal((await list("--json", "--limit", "1")).split("\n").length, 2);
  const table = await list();
  assert.equal(await list(), table);
  assert.equal(table.split("\n").length, 1002);

  const [path = "", other = ""] = logs;
  const dearer = { cost: { turns: 1, tokens: 10, spend: 0.7 } };
  putThread(user.cwd, "t-0", [events[0] as object, event("thread_complete", dearer)]); // Of the same length.
  age(path, 1_700_000_001);
  rmSync(other);
  age(putThread(user.cwd, "t-new", [event("thread_start", {})]), 1_700_000_000);
  putMeta(user.cwd, "t-new", meta("hello", "m", "running", undefined, 0));
  const seen = async () => {
    const rows = new Map((await listing()).map((row) => [row.id, row]));
    return [rows.size, rows.get("t-0")?.spend, rows.get("t-new")?.status];
  };
  assert.deepEqual(await seen(), [1000, 0.7, "running"]);
  putMeta(user.cwd, "t-new", meta("hello", "m", "paused", undefined, 0));
  assert.deepEqual(await seen(), [1000, 0.7, "paused"]);
});

test("ls works without its index if the index cannot be stored", async () => {
  const user = new CliUser();
  fillStores(user);
  put(join(user.home, "not-a-directory"), "");
  const { code, stdout } = await user.run(["ls", "--json"], {
    env: { XDG_CACHE_HOME: join(user.home, "not-a-directory") },
  });

  assert.equal(code, 0);
  assert.equal(jsonLines(stdout).length, 3);
});

function putMeta(project: string, id: string, meta: object | string): string {
  const text = typeof meta === "string" ? meta : JSON.stringify(meta);
  return put(join(project, ".ai/threads", id, "thread.json"), text);
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().replace("Z", "+00:00");
}

test("ThreadTelemetry adds up every thread.json, nested and odd ones too (S2-8, S2-12)", async () => {
  const user = new CliUser();
  const metas: Record<string, object | string> = {
    "a-1": meta("hello", "m1", "completed", { spend: 0.25, tokens: 100 }, 0),
    "deep/er/b-1": meta(
      "deploy",
      "m2",
      "error",
      { spend: 1, input_tokens: 1, output_tokens: 2 },
      1,
    ),
    "deep/c-1": meta("hello", "m1", "running", undefined, 0),
    "d-1": meta("old", "m1", "completed", { spend: 9, tokens: 9 }, 9),
    "e-1": "{ corrupt",
    "f-1": {},
    "evil-1": meta("\u001b[2Jevil", "m1", "total", { spend: "x" }, 0),
  };
  for (const [id, content] of Object.entries(metas)) putMeta(user.cwd, id, content);
  putThread(user.cwd, "no-meta", []);
  mkdirSync(join(user.cwd, ".ai/threads/only-won"));
  // A link to threads in another place is not followed.
  const elsewhere = tempDirectory();
  putMeta(elsewhere, "x-1", meta("hello", "m1", "completed", { spend: 5 }, 0));
  symlinkSync(join(elsewhere, ".ai/threads"), join(user.cwd, ".ai/threads/linked"));

  assert.deepEqual(await new ThreadTelemetry().aggregate(user.cwd), {
    total: 4,
    completed: 1,
    error: 1,
    running: 1,
    unknown: 1,
    total_spend: 1.25,
    total_tokens: 103,
    by_directive: {
      hello: { count: 2, spend: 0.25, tokens: 100 },
      deploy: { count: 1, spend: 1, tokens: 3 },
      "\u001b[2Jevil": { count: 1, spend: 0, tokens: 0 },
    },
    by_model: {
      m1: { count: 3, spend: 0.25, tokens: 100 },
      m2: { count: 1, spend: 1, tokens: 3 },
    },
    skipped: 4,
  });
});

function meta(
  directive: string,
  model: string,
  status: string,
  cost: object | undefined,
  days: number,
): object {
  return { thread_id: "t", directive, model, status, cost, created_at: daysAgo(days) };
}

test("ls lists a signed session whose log was deleted as missing, until its head is forgotten", async () => {
  const user = new CliUser();
  const record = await user.run(
    ["record", "--dialect", "rye", "--directive", "d", "--session", "gone-1", "--sign"],
    {
      input: '{"type":"user_message","text":"hello"}\n',
    },
  );
  assert.equal(record.code, 0, record.stderr);
  rmSync(join(user.cwd, ".ai"), { recursive: true });
  const text = await user.run(["ls"]);
  assert.match(text.stdout, /gone-1 .* missing /);
  assert.match(text.stderr, /1 session is missing.*verbatim keys head forget gone-1/s);
  const [line] = jsonLines((await user.run(["ls", "--json"])).stdout);
  expect(line).toMatchObject({ id: "gone-1", missing: true, live: false });
  const { code } = await user.run(["keys", "head", "forget", "gone-1"]);
  assert.equal(code, 0);
  const after = await user.run(["ls", "--json"]);
  assert.equal(after.stdout, "");
});
