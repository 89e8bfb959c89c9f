/** Filters, orders and counts of the list, and what "live" means, with sessions of several agents. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { nodeHost } from "../../../src/base/node-host.ts";
import type { SessionItem, SessionPage } from "../../../src/client/session-shapes.ts";
import { openStore } from "../../../src/index.ts";
import { SESSION_LIMITS } from "../../../src/listing/session-limits.ts";
import { listPage } from "../../../src/server/sessions/list.ts";
import { SessionService } from "../../../src/server/sessions/service.ts";
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
    ...{ host: nodeHost, roots, cwd: "/", nowMs: Date.now },
    limits: { ...SESSION_LIMITS, freshMs: 0, listWaitMs: 20_000 },
    onFault: (what, cause) => assert.fail(`${what}: ${cause}`),
    catalogPath: join(tempDirectory(), "catalog.db"),
  });
  onTestFinished(() => service.close());
  return (query: string) => listPage(service, `/v1/sessions${query}`, () => true);
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
  return [...new Set([...copySamplesTo(home), join(home, ".claude")])];
}

const HOMES: readonly (readonly [name: string, roots: () => readonly string[]])[] = [
  ["our", ownHome],
  ...(shared.isThere ? [["public", publicHome] as const] : []),
];

describe.each(HOMES)("of %s samples", (_, rootsOf) => {
  test("agents, projects, models and verdicts are counted, and are filters", async () => {
    const user = newUser();
    const own = tempDirectory();
    await user.write({ dialect: "rye" }, turnOf("signed"), { root: own });
    const list = listOf([own, ...rootsOf()]);
    const ask = (query: string) => list(`?facets=true&limit=200${query}`);
    await until(async () => {
      const { sessions } = await ask("");
      return sessions.every(({ verdict }) => verdict !== null);
    });
    const { sessions, facets } = await ask("");
    assert.ok(facets);
    for (const agent of ["Claude Code", "Codex", "Gemini CLI", "pi"]) {
      const count = sessions.filter(({ agentLabel }) => agentLabel === agent).length;
      expect(facets.agents).toContainEqual(
        expect.objectContaining({ value: agent, sessions: count }),
      );
      const filtered = await ask(`&agent=${encodeURIComponent(agent)}`);
      assert.equal(filtered.sessions.length, count, agent);
      assert.equal(filtered.facets?.agents.length, facets.agents.length, "other choices stay");
    }
    const facts: [
      keyof NonNullable<typeof facets>,
      string,
      (item: SessionItem) => string | null,
    ][] = [
      ["projects", "project", ({ repository, project }) => repository ?? project],
      ["models", "model", ({ model }) => model],
      ["verdicts", "verdict", ({ verdict }) => verdict],
    ];
    for (const [facet, filter, factOf] of facts) {
      assert.ok(facets[facet].length > 0, facet);
      for (const { value, sessions: count } of facets[facet]) {
        const filtered = await ask(`&${filter}=${encodeURIComponent(value)}`);
        assert.equal(filtered.sessions.length, count, `${filter} ${value}`);
        assert.ok(filtered.sessions.every((each) => factOf(each) === value));
      }
    }
    assert.deepEqual(facets.verdicts.map(({ value }) => value).sort(), ["unsigned", "verified"]);
    assert.ok(sessions.every(({ agentLabel }) => !/^(rye|entire|homeagent)$/.test(agentLabel)));
  });

  test("sessions are sorted by cost, tokens and duration, the unknown last", async () => {
    newUser();
    const list = listOf(rootsOf());
    await until(async () => {
      const { facets } = await list("?facets=true");
      return facets?.agents.some(({ cost }) => (cost ?? 0) > 0) ?? false;
    });
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
      const all = await list("?limit=200");
      assert.equal(new Set(seen.map(({ id }) => id)).size, all.sessions.length, sort);
      assert.deepEqual(
        values,
        values.toSorted((a, b) => b - a),
        sort,
      );
      assert.ok((values[0] ?? -1) > 0, sort);
    }
    const { next } = await list("?sort=tokens&limit=1");
    await assert.rejects(list(`?sort=cost&cursor=${next}`), /cursor is not a cursor of this list/);
  });

  test("a row says how many lines edits changed, and leaves out subagents on request", async () => {
    newUser();
    const list = listOf(rootsOf());
    await until(async () => (await list("?limit=200")).isComplete, "all are listed");
    const all = await list("?facets=true&limit=200");
    const own = await list("?facets=true&limit=200&subagents=false");
    // A parent of pi's is the session that a fork began from: a fork is no subagent.
    const isSubagent = ({ parent, agentLabel }: SessionItem) =>
      parent !== null && agentLabel !== "pi";
    assert.ok(all.sessions.some(isSubagent));
    assert.deepEqual(
      own.sessions.map(({ session }) => session).sort(),
      all.sessions.flatMap((item) => (isSubagent(item) ? [] : item.session)).sort(),
    );
    const isEdited = ({ linesAdded, linesRemoved }: SessionItem) =>
      (linesAdded ?? 0) > 0 && (linesRemoved ?? 0) > 0;
    assert.ok(own.sessions.some(isEdited));
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
  await store.close();
  assert.deepEqual([isHeld, await isLive()], [true, false]);
});
