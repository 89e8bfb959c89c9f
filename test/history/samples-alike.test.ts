/**
 * Every way to look at a session says the same about it: the commands, the HTTP API, the library and
 * what the viewer shows, by its own code.
 */

import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { VerbatimClient } from "../../src/client/client.ts";
import type { SessionItem } from "../../src/client/session-shapes.ts";
import { type ListedSession, openHistory } from "../../src/doors/history.ts";
import { SESSION_LIMITS } from "../../src/server/sessions/session-limits.ts";
import { SessionCosts, WHOLE } from "../../viewer/src/session/session-costs.ts";
import { sessionTokens } from "../../viewer/src/sessions/session-words.ts";
import { sessionName } from "../../viewer/src/words.ts";
import { CliUser, jsonLines } from "../cli/cli.ts";
import { put } from "../cli/stores.ts";
import { browserClient, linkOf } from "../server/auth/browser-user.ts";
import { startTestServer } from "../server/test-server.ts";
import { answerRow, promptRow, writeClaude } from "../support/agent-home.ts";
import { copySamplesTo, sampleFolders } from "../support/samples.ts";
import { sharedFiles } from "../support/shared-files.ts";
import { until } from "../support/until.ts";

const shared = sharedFiles("samples");
/** Public sessions, by where their agent keeps them. */
const PUBLIC = {
  ".claude/projects/-tmp-app/0b6b1c9e-3f0e-4c55-9d5e-7a1b1e6f0001.jsonl":
    "claude-code/agentcmd-full-session-four.jsonl",
  ".codex/sessions/2025/09/25/rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a.jsonl":
    "codex/agentcmd-rollout-2025-09-25T09-49-46-01998190-fba6-7f40-9309-dc4e48c5844a.jsonl",
  ".gemini/tmp/app/chats/session-2026-04-23T12-52-0ab84937.jsonl": "more/gemini/jsonl_v040.jsonl",
  ".pi/agent/sessions/--tmp--/2026-01-01T00-00-00-000Z_abc.jsonl": "pi/large-session.jsonl",
};

/** What every way says of a session. */
interface Facts {
  readonly title: string | null;
  readonly agent: string | null;
  readonly project: string | null;
  readonly model: string | null;
  readonly tokens: number | null;
  readonly cost: number | null;
}

function userWithSamples(): { user: CliUser; roots: readonly string[] } {
  const user = new CliUser();
  const before = process.env.HOME;
  process.env.HOME = user.home;
  onTestFinished(() => {
    process.env.HOME = before;
  });
  for (const [to, from] of Object.entries(shared.isThere ? PUBLIC : {})) {
    mkdirSync(dirname(join(user.home, to)), { recursive: true });
    cpSync(join(shared.path, from), join(user.home, to));
  }
  const roots = copySamplesTo(user.home);
  for (const { path } of sampleFolders("rye")) cpSync(path, user.cwd, { recursive: true });
  return { user, roots: [...roots, user.cwd] };
}

async function clientOf(roots: readonly string[]): Promise<VerbatimClient> {
  const sessions = { ...SESSION_LIMITS, freshMs: 0, usageWaitMs: 300_000, listWaitMs: 300_000 };
  const server = await startTestServer({ roots, sessions });
  return browserClient(server.url, linkOf(server.running));
}
/** They repeat what they continue, which is counted once. */
const FORKS = ["0000-4000-8000-000000000006", "a91e-dd655453c088"];
const isFork = ({ id }: ListedSession) => FORKS.some((end) => id.endsWith(end));

/** What `usage session`, `ls` and the costs of the page count: a session with those it started. */
function familyTokens(all: readonly SessionLineJson[], of: SessionLineJson): number {
  const children = all.filter((each) => {
    return each.dialect === of.dialect && each.parent === of.id && !isFork(each);
  });
  return children.reduce((sum, each) => sum + familyTokens(all, each), of.totalTokens ?? 0);
}

interface SessionLineJson extends ListedSession {
  readonly live: boolean;
}

const factsOf = ({ title, program, agent, project, model, totalTokens, cost }: ListedSession) => ({
  title,
  agent: program ?? agent ?? "Unnamed agent",
  project,
  model,
  tokens: totalTokens,
  cost: close(cost ?? null),
});

/** Sums of the same numbers in another order differ in their last digits. */
function close(cost: number | null): number | null {
  return cost === null ? null : Number(cost.toPrecision(9));
}

/** As the page of a session shows it. */
async function shownFacts(client: VerbatimClient, item: SessionItem): Promise<Facts> {
  const closing = new AbortController();
  const places = { ...WHOLE, totals: { value: null } };
  const costs = new SessionCosts(client, item.id, places, closing.signal);
  await costs.load();
  await until(() => costs.counted.value !== null);
  closing.abort();
  const { agentLabel, project, model, title } = item;
  if (title !== null) assert.equal(sessionName(item), title);
  const { total } = costs.counted.value ?? assert.fail("not counted");
  const facts = { title, agent: agentLabel, project, model, tokens: sessionTokens(item) };
  return { ...facts, cost: close(total.cost) };
}

async function userAndWays() {
  const { user, roots } = userWithSamples();
  const client = await clientOf(roots);
  const { stdout } = await user.run(["ls", "--json", "--sort", "cost", "--all"]);
  const listed = jsonLines(stdout) as unknown as SessionLineJson[];
  const priced = listed.filter(({ cost }) => (cost ?? 0) > 0);
  let items: readonly SessionItem[] = [];
  // The list has what was counted in the background.
  await until(async () => {
    items = (await client.sessions.list({ limit: 200, facets: true, sort: "cost" })).sessions;
    const counted = items.filter(({ cost }) => (cost ?? 0) > 0);
    return priced.every(({ id }) => counted.some(({ session }) => session === id));
  });
  return { user, client, listed, items };
}

test("the commands, the library, the API and the page say the same about every sample", async () => {
  const { user, client, listed, items } = await userAndWays();
  const ofLibrary = new Map<string, Facts>();
  for await (const each of openHistory({ cwd: user.cwd }).sessions({ sort: "spend" })) {
    ofLibrary.set(`${each.dialect} ${each.id}`, factsOf(each));
  }
  expect(listed.length).toBeGreaterThan(50);
  for (const line of listed) {
    const key = `${line.dialect} ${line.id}`;
    const facts = factsOf(line);
    const item = items.find(({ dialect, session }) => `${dialect} ${session}` === key);
    if (item === undefined) assert.fail(`${key} is not in the API's list`);
    const { title, agentLabel: agent, project, model, totalTokens: tokens, cost } = item;
    const ofApi = { title, agent, project, model, tokens, cost: close(cost) };
    assert.deepEqual(ofApi, facts, `API: ${key}`);
    assert.deepEqual(ofLibrary.get(key), facts, `library: ${key}`);
    assert.deepEqual(await shownFacts(client, item), facts, `page: ${key}`);
  }
});

test("usage session names and counts every sample as ls does", async () => {
  const { user, listed } = await userAndWays();
  const { rows } = JSON.parse((await user.run(["usage", "session", "--json"])).stdout);
  const { groups } = await openHistory({ cwd: user.cwd }).usage({ by: "session" });
  assert.equal(groups.length, rows.length);
  for (const row of rows) {
    const line = listed.find(({ name, program, dialect }) => {
      return name === row.session && (program ?? dialect) === row.agents[0];
    });
    if (line === undefined) assert.fail(`${row.session} is not listed`);
    const { title, project, cost } = factsOf(line);
    const facts = { title: row.title, project: row.project, cost: close(row.cost) };
    assert.deepEqual(facts, { title, project, cost }, line.id);
    const all = familyTokens(listed, line);
    if (isFork(line)) expect(row.total, "what a fork repeats counts once").toBeLessThan(all);
    else assert.equal(row.total, all, line.id);
    const models = row.models.map(({ model }: { model: string }) => model);
    expect(models, line.id).toContain(line.model ?? "unknown");
    const group = groups.find(({ key, cost }) => key === row.session && cost === (row.cost ?? 0));
    assert.deepEqual([group?.title, group?.project, group?.total], [title, project, row.total]);
  }
});

test("a project is the git remote, everywhere; --project takes it, a part of it or a directory", async () => {
  const user = new CliUser();
  const app = join(user.home, "src/web-app");
  put(join(app, ".git/config"), '[remote "origin"]\n\turl = git@example.org:acme/shop.git\n');
  const at = Date.parse("2026-11-02T10:00:00Z");
  const row = (id: string, cwd: string) => [
    promptRow(id, { at, cwd, session: id }),
    answerRow(`m-${id}`, { at, cwd, session: id }),
  ];
  writeClaude(user.home, "-a/s1.jsonl", row("s1", app));
  writeClaude(user.home, "-b/s2.jsonl", row("s2", join(app, "api")));
  writeClaude(user.home, "-c/s3.jsonl", row("s3", "/home/me/shop-window"));
  process.env.HOME = user.home;
  const client = await clientOf([join(user.home, ".claude")]);
  const history = openHistory({ cwd: user.cwd });
  const ways = async (project: string): Promise<Readonly<Record<string, readonly string[]>>> => {
    const args = ["--project", project, "--json"];
    const ids = (stdout: string) => jsonLines(stdout).map(({ name }) => String(name));
    const ofLibrary: string[] = [];
    for await (const { name } of history.sessions({ project })) ofLibrary.push(name);
    const { rows } = JSON.parse((await user.run(["usage", "session", ...args])).stdout);
    const { sessions } = await client.sessions.list({ project });
    const found = await client.sessions.search("Answer", { project });
    const counted = await client.usage({ project, tz: "UTC" });
    const names: Readonly<Record<string, readonly string[]>> = {
      ls: ids((await user.run(["ls", ...args])).stdout),
      library: ofLibrary,
      usage: rows.map(({ session }: { session: string }) => session),
      list: sessions.map(({ session }) => session.slice(3)),
      search: found.hits.map(({ session }) => session.session.slice(3)),
      report: counted.sessions.map(({ name }) => name),
    };
    return Object.fromEntries(
      Object.entries(names).map(([way, found]) => [way, [...new Set(found)].sort()]),
    );
  };
  for (const [project, ids] of [
    ["acme/shop", ["s1", "s2"]],
    ["shop", ["s1", "s2", "s3"]],
    ["=acme/shop", ["s1", "s2"]],
    ["web-app", []],
    [app, ["s1", "s2"]],
    [join(app, "api"), ["s2"]],
    ["/home/me", ["s3"]],
  ] as const) {
    for (const [way, names] of Object.entries(await ways(project))) {
      assert.deepEqual(names, ids, `${way} ${project}`);
    }
  }
  const { facets, sessions } = await client.sessions.list({ facets: true });
  const projects = facets?.projects.map(({ value, sessions }) => [value, sessions]);
  assert.deepEqual(projects, [
    ["acme/shop", 2],
    ["/home/me/shop-window", 1],
  ]);
  expect(sessions.find(({ session }) => session.endsWith("s2"))).toMatchObject({
    project: "acme/shop",
    directory: join(app, "api"),
  });
});
