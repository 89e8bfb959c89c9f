/** The session store with any version of the Claude Agent SDK: one test file for each. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type * as Newest from "@anthropic-ai/claude-agent-sdk";
import type { SessionKey, SessionStore, SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import { onTestFinished } from "vitest";
import { claudeSessionStore } from "../../src/doors/claude-agent.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** The functions that take a session store, and the SDK's own store. In all versions since 0.2.113. */
export type Sdk = Pick<
  typeof Newest,
  | "deleteSession"
  | "forkSession"
  | "getSessionInfo"
  | "getSessionMessages"
  | "getSubagentMessages"
  | "importSessionToStore"
  | "InMemorySessionStore"
  | "listSessions"
  | "listSubagents"
  | "renameSession"
  | "tagSession"
>;

/** The SDK's own store, which also drops an entry with a known uuid, as the contract requires. */
export function onceByUuid(Own: typeof Newest.InMemorySessionStore) {
  return class extends Own {
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
  };
}

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
    parentUuid: n === 1 ? null : `00000000-0000-4000-8000-00000000000${n - 1}`,
    ...SAME,
    isSidechain: false,
    cwd: dir,
    type,
    message: { role: type, content },
    ...more,
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

/** The SDK's functions that take a session store do the same with ours as with its own. */
export async function answersAlike(sdk: Sdk): Promise<void> {
  const dir = tempDirectory();
  localSession(dir);
  const real = claudeSessionStore({ root: tempDirectory(), durability: "os" });
  onTestFinished(() => real.close());
  const answersOf = async (sessionStore: SessionStore) => {
    const where = { dir, sessionStore };
    await sdk.importSessionToStore(SESSION, sessionStore, { dir, batchSize: 2 });
    await sdk.importSessionToStore(SESSION, sessionStore, { dir }); // Replayed: nothing is doubled.
    await sdk.renameSession(SESSION, "Lines", where);
    await sdk.tagSession(SESSION, "counting", where);
    const messages = await sdk.getSessionMessages(SESSION, where);
    const info = await sdk.getSessionInfo(SESSION, where);
    const listed = await sdk.listSessions(where);
    const agents = await sdk.listSubagents(SESSION, where);
    const said = await sdk.getSubagentMessages(SESSION, "7", where);
    const fork = await sdk.forkSession(SESSION, where);
    const forked = await sdk.getSessionMessages(fork.sessionId, where);
    const count = (await sdk.listSessions(where)).length;
    await sdk.deleteSession(SESSION, where);
    const left = await sdk.listSessions(where);
    const timeless = (each: object | undefined) => ({ ...each, lastModified: 0, fileSize: 0 });
    return {
      messages,
      agents,
      said,
      count,
      left: left.map(({ sessionId }) => sessionId === fork.sessionId),
      info: timeless(info),
      listed: listed.map(timeless),
      forked: forked.map((m) => m.message),
      gone: await sdk.getSessionMessages(SESSION, where),
    };
  };
  const ours = await answersOf(real);
  assert.deepEqual(ours, await answersOf(new (onceByUuid(sdk.InMemorySessionStore))()));
  assert.deepEqual(
    ours.messages.map(({ type }) => type),
    ["user", "assistant", "user"],
  );
  assert.deepEqual([ours.agents, ours.said.length, ours.count], [["7"], 2, 2]);
  assert.deepEqual(ours.listed[0], { ...ours.listed[0], customTitle: "Lines", tag: "counting" });
}
