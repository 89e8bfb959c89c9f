/** Threads: which call started which subagent, of agents that keep them in different ways. */

import assert from "node:assert/strict";
import { test } from "vitest";
import {
  PARENT,
  putClaudeAgents,
  putCodexAgents,
  putCopilotAgents,
  putSidechain,
  SIDECHAIN,
} from "../../support/agent-logs.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { browserClient, linkOf } from "../auth/browser-user.ts";
import { newUser, serveSessions } from "./served.ts";

async function served(put: (home: string) => void, root: string) {
  newUser();
  const home = tempDirectory();
  put(home);
  const { server } = await serveSessions([`${home}/${root}`]);
  const client = await browserClient(server.url, linkOf(server.running));
  const { sessions } = await client.sessions.list();
  const idOf = (end: string) => {
    return sessions.find(({ session }) => session.endsWith(end))?.id ?? assert.fail(end);
  };
  /** Asks until the logs are read. */
  const threadsOf = async (end: string) => {
    for (;;) {
      const threads = await client.sessions.threads(idOf(end));
      const isRead = threads.parent === null || threads.parent.start !== null;
      if (threads.isComplete && isRead) return threads;
    }
  };
  return { client, idOf, threadsOf };
}

test("a call has the session that its result names, else the one that has its prompt", async () => {
  const { idOf, threadsOf } = await served(putClaudeAgents, ".claude");
  const { started, parent, isComplete } = await threadsOf(PARENT);
  assert.deepEqual([parent, isComplete], [null, true]);
  assert.deepEqual(
    started.map(({ callId, session, rows }) => [callId, session, rows]),
    [
      ["toolu_1", idOf("agent-a1"), 0],
      ["toolu_2", idOf("agent-a2"), 0],
      ["toolu_3", null, 0],
    ],
  );
  const [first] = started;
  for (const child of ["agent-a1", "agent-a2"]) {
    const own = await threadsOf(child);
    assert.deepEqual(own.parent, { id: idOf(PARENT), start: first?.start });
    assert.deepEqual(own.started, []);
  }
});

test("a Codex thread has the call whose result names it", async () => {
  const home = tempDirectory();
  const { parent, child } = putCodexAgents(home);
  const { idOf, threadsOf } = await served((at) => putCodexAgents(at), ".codex");
  const { started } = await threadsOf(parent);
  assert.deepEqual(
    started.map(({ callId, session }) => [callId, session]),
    [["call_1", idOf(child)]],
  );
  const { parent: known } = await threadsOf(child);
  assert.deepEqual(known, { id: idOf(parent), start: started[0]?.start });
});

test("rows of a subagent in the same log are found by its call, in pages", async () => {
  const { client, idOf, threadsOf } = await served((home) => putSidechain(home, 3), ".claude");
  const id = idOf(SIDECHAIN);
  const { started } = await threadsOf(SIDECHAIN);
  const [thread] = started;
  assert.deepEqual([started.length, thread?.callId, thread?.rows], [1, "toolu_9", 7]);
  const texts: unknown[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const page = await client.sessions.entries(id, { call: "toolu_9", from, limit: 2 });
    assert.ok(page.entries.every(({ aside }) => aside === "other_agent"));
    texts.push(
      ...page.entries.map(({ entry }) => entry?.parts[0]?.type === "text" && entry.parts[0].text),
    );
    from = page.isAtEnd ? null : page.next;
  }
  const steps = [1, 2, 3].flatMap((n) => [`**Step ${n}** of the search`, "Go on"]);
  assert.deepEqual(texts, ["Search all rooms", ...steps]);
  const all = await client.sessions.entries(id);
  assert.equal(all.entries.filter(({ aside }) => aside === null).length, 4);
  assert.deepEqual((await client.sessions.entries(id, { call: "no" })).entries, []);
  await assert.rejects(client.sessions.entries(id, { call: "toolu_9", before: 5 }), {
    code: "REQUEST_REFUSED",
  });
});

test("events of Copilot's subagents belong to the call that they name", async () => {
  const { threadsOf } = await served(putCopilotAgents, ".copilot");
  const { started } = await threadsOf("3/events");
  assert.deepEqual(
    started.map(({ callId, rows }) => [callId, rows]),
    [["c1", 1]],
  );
});
