/**
 * Store sessions: the sessions of a store that recorded calls go to.
 *
 * - A program that names its session in a header gets one of that name: `claude-code.<its id>`. Lists
 *   show it as one with the program's own file (dialects/facets/naming.ts, `hooksOf`).
 * - Sessions of earlier runs are continued: the last mark in their entries names what they have. A
 *   program that names its session continues that one and its children only.
 * - Only the sessions that were used last are open, so that others can append to the rest.
 */

import type { NewEntry } from "../../core/model/entry.ts";
import { wireMarkIn } from "../../core/model/wire-mark.ts";
import { dialectNamed } from "../../dialects/all.ts";
import type { StoredEntry } from "../../dialects/files/stored-entries.ts";
import { iterateLogs } from "../../dialects/find.ts";
import type { Session, Store } from "../../sessions/store/store-api.ts";
import type { CallSessions } from "../wire/call-sessions.ts";
import { type Conversation, type Conversations, newConversation } from "../wire/conversations.ts";

const OPEN_MAX = 16;
/** Sessions of earlier runs that may be continued, besides the one that a header names. */
const RECENT_MAX = 32;

export class StoreSessions implements CallSessions {
  readonly #store: Store;
  readonly #conversations: Conversations;
  readonly #open = new Map<string, Session>();
  readonly #restored = new Set<string>();

  constructor(store: Store, conversations: Conversations) {
    this.#store = store;
    this.#conversations = conversations;
  }

  async restore(group: string, isContinued: boolean): Promise<void> {
    const isNeeded = group !== "" || isContinued;
    if (!isNeeded || this.#restored.has(group)) return;
    this.#restored.add(group);
    const { dialect, root } = this.#store;
    const logs = [...iterateLogs(root, dialectNamed(dialect).naming.layout)];
    logs.sort((a, b) => b.mtimeMs - a.mtimeMs);
    const ids = logs.slice(0, RECENT_MAX).map(({ id }) => id);
    for (const id of ids.reverse()) if (id !== group) await this.#restore(id, group);
    if (group !== "" && (await this.#store.has(group))) await this.#restore(group, group);
  }

  async append(
    conversation: Conversation,
    entries: readonly NewEntry[],
    agent: string,
  ): Promise<void> {
    if (entries.length === 0) return;
    const session = await this.#sessionOf(conversation, agent);
    await session.appendAll(entries);
  }

  async close(): Promise<void> {
    await this.#store.close();
  }

  async #sessionOf(conversation: Conversation, agent: string): Promise<Session> {
    const open = conversation.id === null ? undefined : this.#open.get(conversation.id);
    const session = open ?? (await this.#begin(conversation, agent));
    conversation.id = session.id;
    this.#open.delete(session.id);
    this.#open.set(session.id, session);
    const [oldest] = this.#open;
    if (oldest && this.#open.size > OPEN_MAX) {
      this.#open.delete(oldest[0]);
      await oldest[1].close();
    }
    return session;
  }

  #begin(conversation: Conversation, agent: string): Promise<Session> | Session {
    const { id, group, parent } = conversation;
    if (id !== null) return this.#store.session(id, { agent });
    const isMain = group !== "" && this.#conversations.mainOf(group) === conversation;
    if (isMain) return this.#store.session(group, { agent });
    const above = parent?.id ?? (group === "" ? null : group);
    return this.#store.create({ agent, ...(above === null ? {} : { parent: above }) });
  }

  async #restore(id: string, group: string): Promise<void> {
    const conversation = newConversation(group, null);
    const session = this.#store.session(id);
    const { reading } = dialectNamed(this.#store.dialect);
    let length = 0;
    for await (const entry of session.entries()) {
      // A session without tools, or of a subagent, has the one that the header names as its parent.
      const isForeign = entry.start === 0 && group !== "" && id !== group;
      if (isForeign && reading.about?.(entry.native, id)?.parent !== group) break;
      length = restored(conversation, entry, length);
    }
    await session.close();
    if (length === 0) return;
    conversation.id = id;
    this.#conversations.restore(conversation, id === group);
  }
}

/** Adds what an entry says; returns how many messages the conversation has. */
function restored(conversation: Conversation, entry: StoredEntry, length: number): number {
  const wire = wireMarkIn(entry.metadata);
  conversation.raw.restore(wire?.pieces ?? []);
  if (wire?.system !== undefined) conversation.systems.push(wire.system);
  if (wire?.tools !== undefined) conversation.tools = wire.tools;
  conversation.hasTools ||= wire?.tools !== undefined;
  if (wire?.status !== undefined) {
    const { role, parts, isPartial, model, messageId = null } = entry;
    const isAnswer = role === "assistant";
    conversation.answer = isAnswer ? { parts, isWhole: isPartial !== true } : null;
    conversation.model = model ?? conversation.model;
    conversation.responseId = messageId;
  }
  if (wire?.mark === undefined || wire.messages === undefined) return length;
  conversation.marks = [...new Array<string>(wire.messages).fill(""), wire.mark];
  conversation.answer = null;
  return wire.messages;
}
