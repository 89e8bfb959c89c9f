/**
 * Call recorder: makes entries of recorded calls, one message after the other.
 *
 * - The caller's bytes have passed on long ago: nothing here may delay them or fail them.
 * - If an append fails, the conversation is forgotten. Its next request has all messages, so a new
 *   session, or the one that is read again, gets what is missing.
 */

import type { NewEntry } from "../../core/model/entry.ts";
import type { RawMark } from "../../core/model/wire-mark.ts";
import { readAnswer } from "./answer.ts";
import { type BodyTexts, bodyTexts, type Headers, Secrets } from "./body.ts";
import type { CallAnswer, CallMessage, CallRequest } from "./call.ts";
import { answerEntry, requestEntries, unreadRequest } from "./call-entries.ts";
import { type CallSessions, groupOf } from "./call-sessions.ts";
import { type Conversation, type Conversations, newConversation } from "./conversations.ts";
import { type ProviderApi, parsedJson, readRequest } from "./provider-api.ts";
import { piecesOf, withPieces } from "./raw.ts";

interface OpenCall {
  readonly conversation: Conversation;
  readonly api: ProviderApi;
  readonly agent: string;
  /** Null: calls are not recorded as they were, or this one was too large. */
  readonly raw: Pick<RawMark, "run" | "target" | "request"> | null;
}

export class CallRecorder {
  readonly #conversations: Conversations;
  readonly #sessions: CallSessions;
  readonly #onProblem: (cause: unknown) => void;
  /** Named in calls that are recorded as they were; null: they are not. */
  readonly #run: string | null;
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
    run: string | null = null,
  ) {
    this.#conversations = conversations;
    this.#sessions = sessions;
    this.#onProblem = onProblem;
    this.#run = run;
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
    const { api, atMs, body, call, headers } = message;
    this.#secrets.learn(headers, message.target);
    const target = this.#secrets.removeFromTarget(message.target);
    const texts = await this.#textsOf(body, headers);
    const request = texts === null ? null : readRequest(api, parsedJson(texts.text), target);
    const group = request === null ? "" : groupOf(headers);
    const agent = agentOf(headers, group);
    let conversation = this.#unread;
    let entries: readonly NewEntry[];
    if (request === null) {
      entries = [unreadRequest({ atMs, api, body, target }, texts?.text ?? null)];
    } else {
      const isContinued = request.messages.some(({ role }) => role === "assistant");
      await this.#sessions.restore(group, isContinued || request.previousResponse !== null);
      const placement = this.#conversations.place(request, group);
      conversation = placement.conversation;
      entries = requestEntries(request, placement, atMs);
    }
    const fresh: string[] = [];
    const hashes = this.#rawOf(conversation, texts, request === null, fresh);
    const run = this.#run ?? "";
    const raw = hashes === null ? null : { run, target, request: hashes };
    this.#calls.set(call, { conversation, api, agent, raw });
    await this.#append(conversation, withPieces(entries, fresh), agent);
  }

  async #answer(message: CallAnswer): Promise<void> {
    const call = this.#calls.get(message.call);
    this.#calls.delete(message.call);
    if (call === undefined) return; // Its request could not be recorded.
    const { conversation, api, agent } = call;
    this.#secrets.learn(message.headers);
    const texts = await this.#textsOf(message.body, message.headers);
    const text = texts?.text ?? null;
    const answer = text === null ? null : readAnswer(api, message.status, text);
    const { attempt, model } = conversation;
    const fresh: string[] = [];
    const [hash = null] = this.#rawOf(conversation, texts, true, fresh) ?? [];
    const raw: RawMark | null = call.raw && {
      ...call.raw,
      ...conversation.raw.after(call.raw.request),
      answer: hash,
      headers: this.#secrets.removeFromHeaders(message.headers),
      ...(texts?.charset === "latin1" ? { charset: "latin1" } : {}),
    };
    const entry = answerEntry({ message, answer, text, attempt, model, raw });
    const { role, parts = [], isPartial, messageId = null } = entry;
    const speech = role === "assistant" ? { parts, isWhole: isPartial !== true } : null;
    if (conversation !== this.#unread) {
      this.#conversations.answered(conversation, speech, messageId);
    }
    await this.#append(conversation, withPieces([entry], fresh), agent);
  }

  /** The hashes of a body's pieces; those that the session does not have go to `fresh`. */
  #rawOf(
    { raw }: Conversation,
    texts: BodyTexts | null,
    isOnePiece: boolean,
    fresh: string[],
  ): string[] | null {
    if (this.#run === null || texts === null) return null;
    return raw.take(isOnePiece ? [texts.raw] : piecesOf(texts.raw), fresh);
  }

  async #append(
    conversation: Conversation,
    entries: readonly NewEntry[],
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

  /** Null: too large, or it cannot be decompressed: the entry says so. */
  async #textsOf(body: Uint8Array | null, headers: Headers): Promise<BodyTexts | null> {
    return body && bodyTexts(body, headers, this.#secrets).catch(() => null);
  }
}

/** Lists show it: the program, or the client that it calls with. */
function agentOf(headers: Headers, group: string): string {
  const [program = ""] = group.split(".", 1);
  if (program !== "") return program;
  const [product = ""] = /^[\w.-]{1,60}/.exec(headers["user-agent"] ?? "") ?? [];
  return product === "" ? "unnamed client" : product.toLowerCase();
}
