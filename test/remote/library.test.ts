/** `openStore({ remote })`: sessions of a program on a server with files, and on two with one database. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { onTestFinished, test } from "vitest";
import { type SessionItem, VerbatimClient } from "../../src/doors/client.ts";
import { type NewEntry, openStore } from "../../src/doors/index.ts";
import { serveStore } from "../../src/server/serve.ts";
import { SESSION_LIMITS } from "../../src/server/sessions/session-limits.ts";
import { openPostgresStore } from "../../src/streams/postgres/postgres-store.ts";
import { newUser } from "../server/sessions/served.ts";
import { startTestServer } from "../server/test-server.ts";
import { lacksPostgres, newSchema, sharedPostgres } from "../support/postgres.ts";
import { refusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

const sessions = { ...SESSION_LIMITS, freshMs: 0 };

async function onFiles(roots: readonly string[] = []): Promise<string[]> {
  return [(await startTestServer({ roots, sessions })).url];
}

async function onPostgres(): Promise<string[]> {
  const choices = { schema: newSchema(), durability: "memory" } as const;
  const open = async () => {
    const store = await openPostgresStore(await sharedPostgres(), choices);
    const server = await serveStore(store, { dataDirectory: tempDirectory(), port: 0, sessions });
    onTestFinished(() => server.close());
    return server.url;
  };
  return [await open(), await open()];
}

const says = (role: "user" | "assistant", text: string, more: Partial<NewEntry> = {}): NewEntry => {
  return { kind: "message", role, parts: [{ type: "text", text }], ...more };
};
const usage = { inputTokens: 12_000, outputTokens: 3_400, totalTokens: 15_400, spend: null };
const ENTRIES = [
  says("user", "Where is the zanzibar file?"),
  says("assistant", "In the drawer.", { model: "claude-opus-4-5", usage }),
];

/** The only session of a server, once all of it was read. */
async function onlySession(client: VerbatimClient): Promise<SessionItem> {
  let found = await client.sessions.list();
  await until(async () => {
    found = await client.sessions.list();
    return found.isComplete && found.sessions[0]?.totalTokens === usage.totalTokens;
  }, "the session is listed");
  assert.equal(found.sessions.length, 1);
  return found.sessions[0] ?? assert.fail();
}

/** Without the session's id, which is the server's. */
async function costsOf(client: VerbatimClient, { id }: SessionItem): Promise<unknown> {
  let costs = await client.sessions.costs(id);
  await until(async () => {
    costs = await client.sessions.costs(id);
    return costs.counting === null;
  }, "its costs are counted");
  assert.ok(costs.prompts.length > 0);
  return { ...costs, id: null };
}

const KINDS = { "with files": onFiles, "with one database": onPostgres } as const;

for (const [kind, open] of Object.entries(KINDS)) {
  test.skipIf(open === onPostgres && lacksPostgres)(
    `servers ${kind} show a sent session like a local one`,
    async () => {
      newUser();
      process.env.VERBATIM_CLOSE_MS = "60000"; // The store is closed at once, however slow we are.
      const root = tempDirectory();
      const urls = await open();
      const store = await openStore({ root, sign: true, remote: `${urls[0]}/laptop` });
      const session = await store.create();
      for (const entry of ENTRIES) await session.append(entry);
      await store.close();
      const [localUrl = ""] = await onFiles([root]);
      const local = new VerbatimClient({ url: localUrl });
      const here = await onlySession(local);
      const costs = await costsOf(local, here);
      for (const url of urls) {
        const client = new VerbatimClient({ url });
        const there = await onlySession(client);
        assert.deepEqual([there.session, there.title], [session.id, here.title]);
        const { verdict, root: tree } = await client.sessions.verify(there.id);
        assert.equal(verdict, "verified");
        assert.equal(tree, (await local.sessions.verify(here.id)).root);
        assert.deepEqual(await costsOf(client, there), costs);
        const { bytes } = await client.sessions.bytes(there.id);
        assert.deepEqual(Buffer.from(bytes), readFileSync(session.path));
        const { hits } = await client.sessions.search("zanzibar");
        assert.equal(hits.length, 1);
      }
    },
  );
}

test.skipIf(lacksPostgres)("two servers of a database cannot share a data directory", async () => {
  const dataDirectory = tempDirectory();
  const open = async () => {
    const choices = { schema: newSchema(), durability: "memory" } as const;
    const store = await openPostgresStore(await sharedPostgres(), choices);
    return serveStore(store, { dataDirectory, port: 0 });
  };
  const first = await open();
  await refusal(open(), "LOG_LOCKED");
  await first.close();
  await (await open()).close();
});
