/**
 * The SDK's contract: what its own in-memory store does, ours does too, and its functions that take a
 * session store cannot tell the two apart.
 *
 * Method: the SDK as it is published. The program that it would start is not needed for any of this.
 */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  InMemorySessionStore,
  importSessionToStore,
  listSessions,
  listSubagents,
  renameSession,
  type SessionKey,
  type SessionStore,
  type SessionStoreEntry,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { type ClaudeSessionStore, claudeSessionStore } from "./session-store.ts";

/** The SDK's store, and what its contract asks of stores besides: a uuid counts once. */
class Model extends InMemorySessionStore {
  override async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const known = new Set(this.getEntries(key).map(({ uuid }) => uuid));
    const news: SessionStoreEntry[] = [];
    for (const entry of entries) {
      if (entry.uuid !== undefined && known.has(entry.uuid)) continue;
      known.add(entry.uuid);
      news.push(entry);
    }
    if (news.length > 0) await super.append(key, structuredClone(news));
  }
}

interface Both {
  model: Model;
  real: ClaudeSessionStore;
}

const KEYS: readonly SessionKey[] = [
  { projectKey: "-home-me", sessionId: "a" },
  { projectKey: "-home-me", sessionId: "é.jsonl" },
  { projectKey: "..", sessionId: ".." },
  { projectKey: "-home-me", sessionId: "a", subpath: "subagents/agent-1" },
  { projectKey: "-home-me", sessionId: "a", subpath: "../x" },
  { projectKey: "..", sessionId: "..", subpath: ".." },
];
const key = fc.constantFrom(...KEYS);
const name = key.map(({ projectKey }) => projectKey);
const entry: fc.Arbitrary<SessionStoreEntry> = fc
  .tuple(
    fc.constantFrom("user", "assistant", "custom-title", "checkpoint"),
    fc.option(fc.nat(5), { nil: undefined }),
    fc.nat(1e9),
    fc.jsonValue({ maxDepth: 2 }),
  )
  .map(([type, n, seconds, value]) => ({
    type,
    ...(n === undefined ? {} : { uuid: `uuid-${n}` }),
    timestamp: new Date(seconds * 1000).toISOString(),
    customTitle: `title ${n}`,
    value: JSON.parse(JSON.stringify(value)),
  }));

const deeds: fc.Arbitrary<(both: Both) => Promise<void>> = fc.oneof(
  { arbitrary: fc.tuple(key, fc.array(entry, { maxLength: 4 })).map(appends), weight: 4 },
  { arbitrary: key.map(loads), weight: 3 },
  { arbitrary: name.map(lists), weight: 2 },
  { arbitrary: key.map(deletes), weight: 2 },
  { arbitrary: fc.constant(opensAgain), weight: 1 },
);

function appends([at, entries]: [SessionKey, SessionStoreEntry[]]) {
  return async ({ model, real }: Both) => {
    await Promise.all([real.append(at, entries), model.append(at, entries)]);
  };
}

function loads(at: SessionKey) {
  return async ({ model, real }: Both) => {
    assert.deepEqual(await real.load(at), await model.load(at));
    const { projectKey, sessionId } = at;
    const [ours, theirs] = [real, model].map((store) =>
      store.listSubkeys({ projectKey, sessionId }),
    );
    assert.deepEqual((await ours)?.sort(), (await theirs)?.sort());
  };
}

function lists(project: string) {
  return async ({ model, real }: Both) => {
    const idsOf = async (store: SessionStore) =>
      ((await store.listSessions?.(project)) ?? []).map(({ sessionId }) => sessionId).sort();
    assert.deepEqual(await idsOf(real), await idsOf(model));
    const summariesOf = async (store: SessionStore) =>
      ((await store.listSessionSummaries?.(project)) ?? [])
        .map(({ sessionId, data }) => ({ sessionId, data }))
        .sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
    assert.deepEqual(await summariesOf(real), await summariesOf(model));
  };
}

function deletes(at: SessionKey) {
  return async ({ model, real }: Both) => {
    await Promise.all([real.delete(at), model.delete(at)]);
    assert.equal(await real.load(at), null);
  };
}

async function opensAgain(both: Both): Promise<void> {
  const { root } = both.real;
  await both.real.close();
  both.real = claudeSessionStore({ root, durability: "os" });
}

test("whatever is done to it, it answers as the SDK's own store does", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deeds, { minLength: 15, maxLength: 40 }), async (list) => {
      const real = claudeSessionStore({ root: tempDirectory(), durability: "os" });
      const both: Both = { model: new Model(), real };
      for (const deed of list) await deed(both);
      for (const each of KEYS) await loads(each)(both);
      for (const { projectKey } of KEYS) await lists(projectKey)(both);
      await both.real.close();
    }),
    { numRuns: 30 },
  );
}, 30_000);

const SESSION = "6f1c1f2e-0a53-4a3c-9f0a-3d1a5b6c7d01";
const SAME = { version: "2.0.0", gitBranch: "main", userType: "external", sessionId: SESSION };

/** A session as Claude Code keeps it in its own files, with one subagent. */
function localSession(dir: string): void {
  const config = tempDirectory();
  const before = process.env.CLAUDE_CONFIG_DIR;
  process.env.CLAUDE_CONFIG_DIR = config;
  onTestFinished(() => {
    if (before === undefined) delete process.env.CLAUDE_CONFIG_DIR;
    else process.env.CLAUDE_CONFIG_DIR = before;
  });
  const row = (n: number, type: string, content: unknown, more = {}) => ({
    ...{ parentUuid: n === 1 ? null : `00000000-0000-4000-8000-00000000000${n - 1}`, ...SAME },
    ...{ isSidechain: false, cwd: dir, type, message: { role: type, content }, ...more },
    uuid: `00000000-0000-4000-8000-00000000000${n}`,
    timestamp: `2026-11-15T12:00:0${n}.000Z`,
  });
  const rows = [
    row(1, "user", "How many lines has the readme?"),
    row(2, "assistant", [{ type: "text", text: "Let me look." }]),
    row(3, "user", "Thanks."),
    {
      type: "summary",
      summary: "Counting lines",
      leafUuid: "00000000-0000-4000-8000-000000000003",
    },
  ];
  const aside = { isSidechain: true, agentId: "7" };
  const agentRows = [
    row(1, "user", "Count.", aside),
    row(2, "assistant", [{ type: "text", text: "3" }], aside),
  ];
  const project = join(config, "projects", dir.replace(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(join(project, SESSION, "subagents"), { recursive: true });
  const text = (all: readonly object[]) => all.map((each) => `${JSON.stringify(each)}\n`).join("");
  writeFileSync(join(project, `${SESSION}.jsonl`), text(rows));
  writeFileSync(join(project, SESSION, "subagents", "agent-7.jsonl"), text(agentRows));
}

test("the SDK's functions that take a session store do the same with ours as with its own", async () => {
  const dir = tempDirectory();
  localSession(dir);
  const real = claudeSessionStore({ root: tempDirectory(), durability: "os" });
  onTestFinished(() => real.close());
  const answersOf = async (sessionStore: SessionStore) => {
    const where = { dir, sessionStore };
    await importSessionToStore(SESSION, sessionStore, { dir, batchSize: 2 });
    await importSessionToStore(SESSION, sessionStore, { dir }); // Replayed: nothing is doubled.
    await renameSession(SESSION, "Lines", where);
    await tagSession(SESSION, "counting", where);
    const messages = await getSessionMessages(SESSION, where);
    const info = await getSessionInfo(SESSION, where);
    const listed = await listSessions(where);
    const agents = await listSubagents(SESSION, where);
    const said = await getSubagentMessages(SESSION, "7", where);
    const fork = await forkSession(SESSION, where);
    const forked = await getSessionMessages(fork.sessionId, where);
    const count = (await listSessions(where)).length;
    await deleteSession(SESSION, where);
    const left = await listSessions(where);
    const timeless = (each: object | undefined) => ({ ...each, lastModified: 0, fileSize: 0 });
    return {
      ...{
        messages,
        agents,
        said,
        count,
        left: left.map(({ sessionId }) => sessionId === fork.sessionId),
      },
      ...{
        info: timeless(info),
        listed: listed.map(timeless),
        forked: forked.map((m) => m.message),
      },
      gone: await getSessionMessages(SESSION, where),
    };
  };
  const ours = await answersOf(real);
  assert.deepEqual(ours, await answersOf(new Model()));
  assert.deepEqual(
    ours.messages.map(({ type }) => type),
    ["user", "assistant", "user"],
  );
  assert.deepEqual([ours.agents, ours.said.length, ours.count], [["7"], 2, 2]);
  assert.deepEqual(ours.listed[0], { ...ours.listed[0], customTitle: "Lines", tag: "counting" });
});

test("a summary is never newer than the session's time, so that a stale one can be told", async () => {
  const real = claudeSessionStore({ root: tempDirectory(), durability: "os" });
  onTestFinished(() => real.close());
  const at = { projectKey: "p", sessionId: "s" };
  for (let n = 0; n < 4; n++) {
    await real.append(at, [{ type: "custom-title", customTitle: `title ${n}` }]);
    const [listed] = await real.listSessions("p");
    const [summary] = await real.listSessionSummaries("p");
    assert.ok(Number.isInteger(listed?.mtime));
    assert.deepEqual(summary, { sessionId: "s", mtime: listed?.mtime, data: summary?.data });
    assert.equal(summary?.data.customTitle, `title ${n}`);
  }
});
