/**
 * Call recorder: makes entries of recorded calls, one message after the other.
 *
 * - The caller's bytes have passed on long ago: nothing here may delay them or fail them.
 * - If an append fails, the conversation is forgotten. Its next request has all messages, so a new
 *   session, or the one that is read again, gets what is missing.
 */

import { readAnswer } from "./answer.ts";
import { bodyText, type Headers, Secrets } from "./body.ts";
import type { CallAnswer, CallMessage, CallRequest } from "./call.ts";
import { answerEntry, requestEntries, unreadRequest } from "./call-entries.ts";
import { type CallSessions, groupOf } from "./call-sessions.ts";
import { type Conversation, type Conversations, newConversation } from "./conversations.ts";
import { type ProviderApi, readRequest } from "./provider-api.ts";

interface OpenCall {
  readonly conversation: Conversation;
  readonly api: ProviderApi;
  readonly agent: string;
}

export class CallRecorder {
  readonly #conversations: Conversations;
  readonly #sessions: CallSessions;
  readonly #onProblem: (cause: unknown) => void;
  readonly #secrets = new Secrets();
  readonly #calls = new Map<number, OpenCall>();
  /** Requests that are not understood have one session. */
  readonly #unread = newConversation("", null);
  #queue: Promise<void> = Promise.resolve();

  /** `onProblem` is called for each message that could not be recorded. */
  constructor(
    conversations: Conversations,
    sessions: CallSessions,
    onProblem: (cause: unknown) => void,
  ) {
    this.#conversations = conversations;
    this.#sessions = sessions;
    this.#onProblem = onProblem;
  }

  /** Resolves when the message is recorded, or could not be. Never rejects. */
  take(message: CallMessage): Promise<void> {
    this.#queue = this.#queue
      .then(() => (message.type === "request" ? this.#request(message) : this.#answer(message)))
      .catch(this.#onProblem);
    return this.#queue;
  }

  async close(): Promise<void> {
    await this.#queue;
    await this.#sessions.close();
  }

  async #request(message: CallRequest): Promise<void> {
    const { api, atMs, body, headers, path, target } = message;
    this.#secrets.learn(headers, target);
    const text = await this.#textOf(body, headers);
    const request = text === null ? null : readRequest(api, parsed(text), path);
    const group = request === null ? "" : groupOf(headers);
    const agent = agentOf(headers, group);
    if (request === null) {
      this.#calls.set(message.call, { conversation: this.#unread, api, agent });
      return this.#append(this.#unread, [unreadRequest(message, text)], agent);
    }
    const isContinued = request.messages.some(({ role }) => role === "assistant");
    await this.#sessions.restore(group, isContinued || request.previousResponse !== null);
    const placement = this.#conversations.place(request, group);
    const { conversation } = placement;
    this.#calls.set(message.call, { conversation, api, agent });
    await this.#append(conversation, requestEntries(request, placement, atMs), agent);
  }

  async #answer(message: CallAnswer): Promise<void> {
    const call = this.#calls.get(message.call);
    this.#calls.delete(message.call);
    if (call === undefined) return; // Its request could not be recorded.
    const { conversation, api, agent } = call;
    this.#secrets.learn(message.headers);
    const text = await this.#textOf(message.body, message.headers);
    const answer = text === null ? null : readAnswer(api, message.status, text);
    const { attempt, model } = conversation;
    const entry = answerEntry({ message, answer, text, attempt, model });
    const { role, parts = [], isPartial, messageId = null } = entry;
    const said = role === "assistant" ? { parts, isWhole: isPartial !== true } : null;
    if (conversation !== this.#unread) this.#conversations.answered(conversation, said, messageId);
    await this.#append(conversation, [entry], agent);
  }

  async #append(
    conversation: Conversation,
    entries: Parameters<CallSessions["append"]>[1],
    agent: string,
  ): Promise<void> {
    try {
      await this.#sessions.append(conversation, entries, agent);
    } catch (cause) {
      this.#conversations.forget(conversation);
      for (const [call, open] of this.#calls) {
        if (open.conversation === conversation) this.#calls.delete(call);
      }
      throw cause;
    }
  }

  /** Null: too large, or it cannot be decompressed. */
  async #textOf(body: Uint8Array | null, headers: Headers): Promise<string | null> {
    if (body === null) return null;
    try {
      return this.#secrets.remove(await bodyText(body, headers));
    } catch {
      return null; // The entry says so.
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The entry says so.
  }
}

/** Lists show it: the program, or the client that it calls with. */
function agentOf(headers: Headers, group: string): string {
  const [program = ""] = group.split(".", 1);
  if (program !== "") return program;
  const [product = ""] = /^[\w.-]{1,60}/.exec(headers["user-agent"] ?? "") ?? [];
  return product === "" ? "unnamed client" : product.toLowerCase();
}
