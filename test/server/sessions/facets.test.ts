/** Filters, orders and counts of the list, and what "live" means, with sessions of several agents. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import type { SessionItem, SessionPage } from "../../../src/client/session-shapes.ts";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { READ_DIALECT_NAMES } from "../../../src/dialects/registry.ts";
import { openStore } from "../../../src/doors/index.ts";
import { listPage } from "../../../src/server/sessions/list.ts";
import { SEES_ALL } from "../../../src/server/sessions/roots.ts";
import { SessionService } from "../../../src/server/sessions/service.ts";
import { SESSION_LIMITS } from "../../../src/server/sessions/session-limits.ts";
import { answerRow, promptRow, writeClaude } from "../../support/agent-home.ts";
import { copySamplesTo } from "../../support/samples.ts";
import { sharedFiles } from "../../support/shared-files.ts";
import { turnOf } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { newUser, ryeLog } from "./served.ts";

const shared = sharedFiles("samples");

const PARENT = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
const FILES = {
  [`more/claude/subagent/${PARENT}.jsonl`]: `.claude/projects/-tmp/${PARENT}.jsonl`,
  [`more/claude/subagent/${PARENT}`]: `.claude/projects/-tmp/${PARENT}`,
  "claude-code/agentcmd-full-session-four.jsonl":
    ".claude/projects/-tmp-app/0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001.jsonl",
  "codex/agentcmd-rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a.jsonl":
    ".codex/sessions/2025/09/25/rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a.jsonl",
  "more/gemini/jsonl_v040.jsonl": ".gemini/tmp/app/chats/session-2026-04-23T12-52-0ab84937.jsonl",
  "more/pi/small.jsonl": ".pi/agent/sessions/--tmp--/2026-01-01T00-00-00-000Z_abc.jsonl",
};

/** The list of a server, without HTTP: sessions of other programs are private. */
function listOf(roots: readonly string[]) {
  const service = new SessionService({
    host: nodeHost,
    roots,
    cwd: "/",
    nowMs: Date.now,
    limits: { ...SESSION_LIMITS, freshMs: 0, listWaitMs: 300_000 },
    onFault: (what, cause) => assert.fail(`${what}: ${cause}`),
    catalogPath: join(tempDirectory(), "catalog.db"),
  });
  onTestFinished(() => service.close());
  return (query: string) => listPage(service, `/v1/sessions${query}`, SEES_ALL);
}

function publicHome(): readonly string[] {
  const home = tempDirectory();
  for (const [from, to] of Object.entries(FILES)) {
    mkdirSync(dirname(join(home, to)), { recursive: true });
    cpSync(join(shared.path, from), join(home, to), { recursive: true });
  }
  return [".claude", ".codex", ".gemini", ".pi/agent"].map((name) => join(home, name));
}

/** Our samples, and a session of Claude Code whose price is known. */
function ownHome(): readonly string[] {
  const home = tempDirectory();
  const at = Date.parse("2026-07-04T08:00:00Z");
  const rows = [promptRow("Count the beds", { at }), answerRow("m1", { at: at + 60_000 })];
  writeClaude(home, "-home-me-app/0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001.jsonl", rows);
  // A directory of OpenClaw alone may be one of HomeAgent, too.
  const agents = READ_DIALECT_NAMES.filter((name) => name !== "openclaw");
  return [...new Set([...copySamplesTo(home, agents), join(home, ".claude")])];
}

type Counts = Readonly<Record<string, number>>;

/** What is known of the sessions in a home. */
interface Home {
  readonly roots: () => readonly string[];
  readonly agents: Counts;
  readonly projects: Counts;
  readonly models: Counts;
  /** The greatest of all sessions. */
  readonly first: { readonly cost: number; readonly tokens: number; readonly duration: number };
  /** Titles of subagents' sessions. */
  readonly subagents: readonly string[];
  /** Agents of sessions with edits, and the lines that these added and removed. */
  readonly edits: readonly string[];
}

const OURS: Home = {
  roots: ownHome,
  agents: {
    "Claude Code": 9,
    Codex: 6,
    "Gemini CLI": 6,
    "Qwen Code": 6,
    "Copilot CLI": 5,
    pi: 4,
    Cursor: 3,
    Droid: 3,
    "Grok Build": 3,
    "Kimi Code": 3,
    Antigravity: 2,
    OpenCode: 2,
  },
  projects: { "/home/dev/project": 37, "/home/me/garden": 10, "/home/me/app": 1 },
  models: {
    "claude-opus-4-8": 6,
    "gpt-5.5": 6,
    "claude-sonnet-4.5": 5,
    "claude-sonnet-4-5": 4,
    "qwen3-coder-plus": 4,
    "claude-opus-4-5": 3,
    "gemini-2.5-flash": 3,
    "grok-4.5": 3,
    "kimi-k2.7-code": 2,
    "sample-model": 2,
    auto: 1,
    "claude-opus-4-5-20251101": 1,
    "claude-opus-5-5": 1,
  },
  first: { cost: 1, tokens: 191_522, duration: 600_500 },
  subagents: [
    "Check the other plans",
    "Count the birds in birds.txt and say how many there are.",
    "Count the birds in birds.txt.",
    "Find other places that assume 365 days",
    "Look for 365 in the other plans",
    "Look for 365 in the other plans.",
    "Read trees.txt, and name the first tree.",
    "Read trees.txt, and name the first tree.",
  ],
  edits: [
    "Claude Code +2 -1",
    "Claude Code +2 -1",
    "Codex +1 -1",
    "Copilot CLI +2 -1",
    "Cursor +2 -1",
    "Droid +1 -1",
    "Gemini CLI +1 -1",
    "Grok Build +1 -1",
    "Kimi Code +1 -1",
    "Qwen Code +2 -1",
    "pi +1 -1",
    "pi +1 -1",
  ],
};

const PUBLIC: Home = {
  roots: publicHome,
  agents: { "Claude Code": 3, Codex: 1, "Gemini CLI": 1, pi: 1 },
  projects: {
    "/tmp": 2,
    "/tmp/as-agent-fixture/project": 1,
    "/Users/jnarowski/Dev/sourceborn/src/agent-workflows-monorepo-v2": 1,
    "spectorasoftware/spectora-labs-monorepo-v2": 1,
  },
  models: {
    "claude-sonnet-4-5-20250929": 1,
    "gemini-3-flash-preview": 1,
    "gpt-5-codex": 1,
    "pi-fixture-model": 1,
  },
  first: { cost: 0.7523182500000001, tokens: 3_177_977, duration: 669_576 },
  subagents: ["Search the repo for TODO comments"],
  edits: ["Claude Code +91 -15"],
};

const HOMES: readonly (readonly [name: string, home: Home])[] = [
  ["our", OURS],
  ...(shared.isThere ? [["public", PUBLIC] as const] : []),
];

const countsOf = (values: readonly { readonly value: string; readonly sessions: number }[]) =>
  Object.fromEntries(values.map(({ value, sessions }) => [value, sessions]));

describe.each(HOMES)("of %s samples", (_, { roots, ...home }) => {
  const total = Object.values(home.agents).reduce((sum, count) => sum + count, 0);

  test("agents, projects, models and verdicts are counted, and are filters", async () => {
    const user = newUser();
    const own = tempDirectory();
    await user.write({ dialect: "rye" }, turnOf("signed"), { root: own });
    const list = listOf([own, ...roots()]);
    const ask = (query: string) => list(`?facets=true&limit=200${query}`);
    await until(async () => {
      const { sessions, isComplete } = await ask("");
      return isComplete && sessions.every(({ verdict }) => verdict !== null);
    }, "all are listed and verified");
    const { facets } = await ask("");
    assert.ok(facets);
    assert.deepEqual(countsOf(facets.agents), { ...home.agents, hello: 1 });
    assert.deepEqual(countsOf(facets.projects), { ...home.projects, [own]: 1 });
    assert.deepEqual(countsOf(facets.models), home.models);
    assert.deepEqual(countsOf(facets.verdicts), { unsigned: total, verified: 1 });
    const facts: [
      keyof NonNullable<typeof facets>,
      string,
      (item: SessionItem) => string | null,
    ][] = [
      ["agents", "agent", ({ agentLabel }) => agentLabel],
      ["projects", "project", ({ project }) => project],
      ["models", "model", ({ model }) => model],
      ["verdicts", "verdict", ({ verdict }) => verdict],
    ];
    for (const [facet, filter, factOf] of facts) {
      for (const { value, sessions: count } of facets[facet]) {
        const filtered = await ask(
          `&${filter}=${encodeURIComponent(filter === "project" ? `=${value}` : value)}`,
        );
        assert.equal(filtered.sessions.length, count, `${filter} ${value}`);
        assert.ok(filtered.sessions.every((each) => factOf(each) === value));
        const choices = filtered.facets?.[facet].length;
        assert.equal(choices, facets[facet].length, "other choices stay");
      }
    }
  });

  test("sessions are sorted by cost, tokens and duration, the unknown last", async () => {
    newUser();
    const list = listOf(roots());
    await until(async () => {
      const { sessions, isComplete } = await list("?sort=cost&limit=1");
      return isComplete && sessions[0]?.cost === home.first.cost;
    }, "the costs are known");
    for (const [sort, factOf] of [
      ["cost", ({ cost }: SessionItem) => cost],
      ["tokens", ({ totalTokens }: SessionItem) => totalTokens],
      ["duration", ({ durationMs }: SessionItem) => durationMs],
    ] as const) {
      const seen: SessionItem[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const from: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const page: SessionPage = await list(`?sort=${sort}&limit=2${from}`);
        seen.push(...page.sessions);
        cursor = page.next;
      }
      const values = seen.map((each) => factOf(each) ?? -1);
      assert.equal(new Set(seen.map(({ id }) => id)).size, total, sort);
      assert.deepEqual(
        values,
        values.toSorted((a, b) => b - a),
        sort,
      );
      assert.equal(values[0], home.first[sort], sort);
    }
    const { next } = await list("?sort=tokens&limit=1");
    await assert.rejects(list(`?sort=cost&cursor=${next}`), /cursor is not a cursor of this list/);
  });

  test("a row says how many lines edits changed, and leaves out subagents on request", async () => {
    newUser();
    const list = listOf(roots());
    await until(async () => (await list("?limit=200")).isComplete, "all are listed");
    const all = await list("?limit=200");
    const own = await list("?limit=200&subagents=false");
    const ownIds = new Set(own.sessions.map(({ id }) => id));
    const left = all.sessions.filter(({ id }) => !ownIds.has(id));
    assert.deepEqual(left.map(({ title }) => title).sort(), home.subagents);
    assert.ok(left.every(({ parent }) => parent !== null));
    assert.equal(own.sessions.length, total - home.subagents.length);
    const edits = all.sessions.flatMap(({ agentLabel, linesAdded, linesRemoved }) =>
      linesAdded === null ? [] : `${agentLabel} +${linesAdded} -${linesRemoved}`,
    );
    assert.deepEqual(edits.sort(), home.edits);
  });
});

test("an imported file is not live; one that grows is, for some seconds", async () => {
  newUser();
  const root = tempDirectory();
  const path = ryeLog(root, "d-1");
  mkdirSync(dirname(path), { recursive: true });
  const line = { ts: "2026-01-01T00:00:00Z", type: "user_message", thread_id: "d-1", text: "a" };
  writeFileSync(path, `${JSON.stringify(line)}\n`);
  const list = listOf([root]);
  const isLive = async () => (await list("")).sessions[0]?.isLive;
  assert.equal(await isLive(), false);
  assert.equal(await isLive(), false);
  appendFileSync(path, `${JSON.stringify(line)}\n`);
  assert.equal(await isLive(), true);
  const past = new Date(Date.now() - 3_600_000);
  appendFileSync(path, `${JSON.stringify(line)}\n`);
  utimesSync(path, past, past); // Copied with its time: a longer version of the same file.
  assert.equal(await isLive(), false);
});

test("a session whose lock is held is live, also while nothing is appended", async () => {
  newUser();
  const root = tempDirectory();
  const store = await openStore({ dialect: "rye", root, durability: "os", agent: "me" });
  const session = store.session("me-1");
  for (const entry of turnOf("held")) await session.append(entry);
  const list = listOf([root]);
  const isLive = async () => (await list("")).sessions[0]?.isLive;
  const isHeld = await isLive();
  const live = async () => (await list("?live=true")).sessions.length;
  assert.equal(await live(), 1);
  await store.close();
  assert.deepEqual([isHeld, await isLive(), await live()], [true, false, 0]);
});

test("a session that hooks recorded is listed once, as its program's own", async () => {
  newUser();
  const root = tempDirectory();
  const uuid = "4cbd609f-0000-4000-8000-000000000001";
  const message = { role: "user", content: "Is it warm?" };
  const row = { uuid: "r0", parentUuid: null, sessionId: uuid, type: "user", message };
  const path = join(root, ".claude/projects/-app", `${uuid}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ ...row, timestamp: "2026-11-15T06:00:00.000Z" })}\n`);
  const store = await openStore({ dialect: "claude", root });
  await store.session(`claude-code-hooks/${uuid}`).appendLines([row]);
  await store.close();
  const list = listOf([root, join(root, ".claude")]);
  const dialects = async (query: string) => {
    return (await list(query)).sessions.map(({ dialect }) => dialect);
  };
  assert.deepEqual(await dialects(""), ["claude-code"]);
  const { facets } = await list("?facets=true");
  assert.deepEqual(
    facets?.agents.map(({ value, sessions }) => [value, sessions]),
    [["Claude Code", 1]],
  );
  assert.deepEqual(await dialects("?dialect=claude"), ["claude"]);
});
