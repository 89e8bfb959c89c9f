/** The dialects into which streams are captured in tests: a new one is one line more. */

import assert from "node:assert/strict";
import { onTestFinished } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import type { Entry, NewEntry, Part, Usage } from "../../src/core/model/entry.ts";
import { captureAnthropic, captureOpenAI } from "../../src/doors/capture.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { Store, type StoreOptions } from "../../src/sessions/store/store.ts";
import { GatheredSession } from "../support/gathered-session.ts";
import { given, type ProviderEvent, STREAMS } from "../support/provider-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

export const DIALECTS: Readonly<Record<string, StoreOptions>> = {
  homeagent: { dialect: "homeagent" },
  entire: { dialect: "entire" },
  rye: { dialect: "rye" },
  "rye with payloads": { dialect: "rye", envelope: "payload" },
};

/** A new session on the disk, in its own store. */
export async function newSession(options: StoreOptions): Promise<Session> {
  const root = tempDirectory();
  const store = new Store(nodeHost, { ...options, root, agent: "cook", durability: "os" });
  onTestFinished(() => store.close());
  return store.create();
}

/** An entry without what reading and writing add. */
export type SaidEntry = Omit<NewEntry, "at">;

/** The messages of a session, as another process would read them, each as one entry. */
export async function messagesIn(session: Session): Promise<SaidEntry[]> {
  const store = new Store(nodeHost, { dialect: session.dialect.name, root: session.root });
  const messages: SaidEntry[] = [];
  let parts: Part[] = [];
  const read = await store.open(session.id);
  for await (const entry of read.entries({ restoresSpilled: true })) {
    if (entry.kind !== "message") continue;
    parts.push(...entry.parts);
    // A dialect with a line for each part has the message's own fields on the last one.
    if (entry.messageId === undefined && entry.isPartial === undefined) continue;
    messages.push(saidIn(entry, parts));
    parts = [];
  }
  assert.deepEqual(parts, [], "parts of no message");
  return messages;
}

function saidIn(entry: Entry, parts: readonly Part[]): SaidEntry {
  const { kind, role, model, usage, messageId, stopReason, isPartial } = entry;
  return {
    kind,
    role,
    parts,
    model,
    usage: counted(usage),
    ...(messageId === undefined ? {} : { messageId }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(isPartial === undefined ? {} : { isPartial }),
  };
}

/** What is appended from these events, passed one by one: the reference for all others. */
export async function expected(name: string, events: readonly ProviderEvent[]): Promise<SaidEntry> {
  const { provider } = STREAMS[name] ?? assert.fail(name);
  const session = new GatheredSession();
  const capture = provider === "anthropic" ? captureAnthropic : captureOpenAI;
  await capture(given(events) as AsyncIterable<never>, session).result.catch(() => {});
  const { usage = null, ...said } = session.only;
  return { ...said, usage: counted(usage) };
}

/** Entire's usage has all of its counts: a missing one is 0. */
function counted(usage: Usage | null): Usage | null {
  return usage && { cacheWriteTokens: 0, cacheReadTokens: 0, ...usage };
}
