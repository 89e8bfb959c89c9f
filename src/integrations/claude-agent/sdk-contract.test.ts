/**
 * The SDK's contract: our store behaves like its own in-memory store, and its functions that take a
 * session store cannot tell the two apart.
 */

import assert from "node:assert/strict";
import type { SessionKey, SessionStore, SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import * as sdk from "@anthropic-ai/claude-agent-sdk";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { answersAlike, onceByUuid } from "../../../test/doors/claude-agent-version.ts";
import { runs } from "../../../test/support/seed.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { type ClaudeSessionStore, claudeSessionStore } from "./session-store.ts";

const Model = onceByUuid(sdk.InMemorySessionStore);

interface Both {
  model: InstanceType<typeof Model>;
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

test("after any operations, it returns the same as the SDK's own store", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deeds, { minLength: 15, maxLength: 40 }), async (list) => {
      const real = claudeSessionStore({ root: tempDirectory(), durability: "os" });
      const both: Both = { model: new Model(), real };
      for (const deed of list) await deed(both);
      for (const each of KEYS) await loads(each)(both);
      for (const { projectKey } of KEYS) await lists(projectKey)(both);
      await both.real.close();
    }),
    { numRuns: runs(30) },
  );
});

test("the SDK's functions that take a session store do the same with ours as with its own", async () => {
  await answersAlike(sdk);
});

test("a summary is never newer than the session's time, so that a stale one can be detected", async () => {
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
