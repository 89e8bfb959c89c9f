/**
 * VerbatimChats: chats of the AI SDK, stored while they are streamed.
 *
 * - The user's message is durable before the model is called; each part of the answer is durable
 *   before a reader gets it; the finished message is durable when its answer has ended.
 * - The answering process holds the chat's lock until the answer has ended, so there is one answer
 *   at a time, and an answer whose lock is free has lost its process: its chunks are kept as an
 *   interrupted message.
 * - Reading, resuming and stopping need no lock, and work from another process.
 */

import { generateId, UI_MESSAGE_STREAM_HEADERS, type UIMessage } from "ai";
import { badOption, checkKind, checkOptions, type OptionKinds } from "../../core/base/choice.ts";
import { type LockHolder, VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { provideDialect } from "../../dialects/all.ts";
import { sdk } from "../../dialects/verbatim/sdk-dialect.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store } from "../../sessions/store/store.ts";
import {
  addMessage,
  type BegunAnswer,
  beginAnswer,
  INTERRUPTED_CHUNK,
  type KeptMessage,
  keptMessages,
  lastAnswer,
  messageOf,
  openAnswer,
  pump,
  STOPPED_CHUNK,
  takeBack,
} from "./answer-pump.ts";
import { type AnswerStreams, answerStreams, isStreams } from "./answer-streams.ts";
import type {
  LoadedChat,
  RespondOptions,
  ResumeAnswerOptions,
  VerbatimChatsOptions,
} from "./chat-options.ts";
import { bodyOf } from "./chat-options.ts";

const DOOR = "ai-sdk";
/** The usual maximum from an answer's last chunk to its stored message. */
const ENDING_WAIT_MS = 250;

interface Running {
  /** Its stream is closed, or about to be. */
  isEnding: boolean;
  ended: Promise<void>;
}

const OPTIONS: OptionKinds<VerbatimChatsOptions> = {
  root: "text",
  remember: "boolean",
  durability: "any",
  sign: "any",
  onWarning: "function",
  streams: "object",
};

const RESPOND_OPTIONS: OptionKinds<RespondOptions<UIMessage>> = {
  message: "object",
  regenerate: "text",
  answer: "function",
  onError: "function",
  generateId: "function",
  waitUntil: "function",
};

export class VerbatimChats<M extends UIMessage = UIMessage> {
  readonly #store: Store;
  readonly #streams: AnswerStreams;
  readonly #onWarning: (warning: string) => void;
  /** The same store for answering: it waits for an answer that has just ended. */
  readonly #waitingStore: Store;
  /** Answers of this process that have not ended, by chat. */
  readonly #answers = new Map<string, Running>();
  readonly #reading = new Set<AbortController>();

  constructor(given: VerbatimChatsOptions) {
    checkOptions("VerbatimChats", given, OPTIONS);
    const { streams, ...options } = given;
    if (!isStreams(streams)) {
      throw badOption(
        "streams",
        "must be of `await openStreams(…)`, or streams of a VerbatimClient",
      );
    }
    this.#streams = answerStreams(streams);
    this.#onWarning = options.onWarning ?? ((text) => process.emitWarning(text, "VerbatimWarning"));
    // The lock is held for a whole answer, which takes long: do not wait for it.
    this.#store = new Store(nodeHost, { dialect: provideDialect(sdk), ...options, lockWaitMs: 0 });
    const lockWaitMs = ENDING_WAIT_MS;
    this.#waitingStore = new Store(nodeHost, {
      dialect: provideDialect(sdk),
      ...options,
      lockWaitMs,
    });
  }

  /** All messages, without undone ones. An answer in progress is not included. */
  async loadMessages(chatId: string): Promise<M[]> {
    return (await this.loadChat(chatId)).messages;
  }

  /** Like `loadMessages`, with the incomplete ones, and the message of the answer in progress. */
  async loadChat(chatId: string): Promise<LoadedChat<M>> {
    checkKind("chatId", chatId, "string");
    const open = await this.#underWay(chatId);
    return this.#using(chatId, async (session) => {
      const storedMessages = await keptMessages<M>(session);
      const nonEmpty = storedMessages.filter(({ message }) => message.parts.length > 0);
      const broken = nonEmpty.filter(({ state }) => state !== null && state !== "finished");
      return {
        messages: nonEmpty.map(({ message }) => message),
        brokenOff: broken.map(({ message }) => message.id),
        answering: open?.messageId ?? null,
      };
    });
  }

  /**
   * Stores the user's message, calls the model, and returns the SDK's response. The answer
   * continues when the reader disconnects. Refuses with SESSION_BUSY while the chat is being
   * answered.
   */
  async respond(chatId: string, options: RespondOptions<M>): Promise<Response> {
    checkKind("chatId", chatId, "string");
    checkOptions("respond", options, RESPOND_OPTIONS);
    checkKind("answer", options.answer, "function");
    await this.#justEnding(chatId);
    if (this.#answers.has(chatId)) throw busy(chatId, "unknown");
    const running: Running = { isEnding: false, ended: Promise.resolve() };
    this.#answers.set(chatId, running);
    const begun = new Promise<BegunAnswer>((resolve, reject) => {
      let isBegun = false;
      const onBegun = (answer: BegunAnswer) => {
        isBegun = true;
        resolve(answer);
      };
      running.ended = this.#answer(chatId, options, running, onBegun)
        .catch((error: unknown) => (isBegun ? this.#tellLeft(chatId, error) : reject(error)))
        .finally(() => this.#answers.delete(chatId));
    });
    const { path } = await begun;
    options.waitUntil?.(running.ended);
    return this.#response(path, 0);
  }

  /** The answer in progress, from its beginning or from any byte on; 204 when there is none. */
  async resume(chatId: string, options: ResumeAnswerOptions = {}): Promise<Response> {
    checkKind("chatId", chatId, "string");
    checkOptions("resume", options, { message: "text", from: "any" });
    const { message, from = 0 } = options;
    const open = await this.#underWay(chatId);
    const answer =
      message === undefined
        ? open
        : await this.#using(chatId, (session) => lastAnswer(session, message));
    return answer ? this.#response(answer.path, from) : new Response(null, { status: 204 });
  }

  /** Ends the answer in progress, in whatever process, and its model call. False: there is none. */
  async stop(chatId: string): Promise<boolean> {
    checkKind("chatId", chatId, "string");
    const open = await this.#underWay(chatId);
    if (open === null) return false;
    const isStopped = await this.#streams.append(open.path, [STOPPED_CHUNK], true);
    await this.#answers.get(chatId)?.ended;
    return isStopped;
  }

  /** Resolves when every answer of this process has ended; then closes everything. */
  async close(): Promise<void> {
    await Promise.all([...this.#answers.values()].map(({ ended }) => ended));
    for (const reading of this.#reading) reading.abort();
    await this.#store.close();
    await this.#waitingStore.close();
  }

  async #answer(
    chatId: string,
    options: RespondOptions<M>,
    running: Running,
    onBegun: (answer: BegunAnswer) => void,
  ): Promise<void> {
    const use = async (session: Session) => {
      await this.#lock(chatId, session);
      await this.#endLeft(session);
      if (options.regenerate !== undefined) {
        await takeBack(session, await keptMessages(session), options.regenerate);
      }
      if (options.message !== undefined) {
        const storedMessages = await keptMessages(session);
        await addMessage(session, storedMessages, { message: options.message, state: null });
      }
      const messages = (await keptMessages<M>(session)).map(({ message }) => message);
      const last = messages.at(-1);
      const messageId = last?.role === "assistant" ? last.id : (options.generateId ?? generateId)();
      const answer = { messageId, path: await this.#newPath(session, chatId, messageId) };
      await beginAnswer(session, answer);
      onBegun(answer);
      await pump({
        ...answer,
        streams: this.#streams,
        start: (abortSignal) => options.answer({ messages, messageId, abortSignal }),
        errorText: options.onError ?? ((error) => this.#tellFailed(chatId, error)),
        onEnd: () => {
          running.isEnding = true;
        },
      });
      await this.#keep(session, answer);
    };
    await this.#using(chatId, use, this.#waitingStore);
  }

  /**
   * Readers learn of an answer's end before its message is stored: their next request waits for
   * that.
   */
  async #justEnding(chatId: string): Promise<void> {
    const running = this.#answers.get(chatId);
    if (running?.isEnding) await running.ended;
  }

  /** Each answer has its own stream: one that continues a message has a number. */
  async #newPath(session: Session, chatId: string, messageId: string): Promise<string> {
    const base = `/chat/${encodeURIComponent(chatId)}/${encodeURIComponent(messageId)}`;
    const before = await lastAnswer(session, messageId);
    const number = before === null ? 1 : Number(/~(\d+)$/.exec(before.path)?.[1] ?? 1) + 1;
    const path = number === 1 ? base : `${base}~${number}`;
    await this.#streams.create(path);
    return path;
  }

  /** Readers get a general text, as in the SDK. */
  #tellFailed(chatId: string, error: unknown): string {
    const next = "onError of respond gets the error";
    this.#onWarning(`the answer in ${DOOR}/${chatId} failed: ${textOf(error)}; ${next}`);
    return "An error occurred.";
  }

  /** Its chunks are stored by the next process that opens the chat. */
  #tellLeft(chatId: string, error: unknown): void {
    this.#onWarning(`the answer in ${DOOR}/${chatId} was not stored yet: ${textOf(error)}`);
  }

  /** Stores an answer's message in the chat. */
  async #keep(session: Session, { messageId, path }: BegunAnswer): Promise<void> {
    const storedMessages = await keptMessages(session);
    const before = storedMessages.find(({ message }) => message.id === messageId)?.message ?? null;
    const chunks = (await this.#streams.read(path)) ?? [];
    try {
      await addMessage(session, storedMessages, await messageOf(chunks, { messageId, before }));
    } catch (cause) {
      if (!(cause instanceof VerbatimError && cause.code === "LINE_TOO_LONG")) throw cause;
      await addMessage(session, storedMessages, tooLong(messageId, path));
    }
  }

  /** The answer in progress. One that lost its process is ended, and does not count. */
  async #underWay(chatId: string): Promise<BegunAnswer | null> {
    await this.#justEnding(chatId);
    return this.#using(chatId, async (session) => {
      const open = await openAnswer(session);
      if (open === null || this.#answers.has(chatId)) return open;
      try {
        await session.openToAppend();
      } catch (cause) {
        if (isLocked(cause)) return open;
        throw cause;
      }
      await this.#endLeft(session);
      return null;
    });
  }

  /** Ends an answer that lost its process; with the lock held. */
  async #endLeft(session: Session): Promise<void> {
    const left = await openAnswer(session);
    if (left === null) return;
    const isThere = (await this.#streams.read(left.path)) !== null;
    if (isThere) await this.#streams.append(left.path, [INTERRUPTED_CHUNK], true);
    await this.#keep(session, left);
  }

  async #lock(chatId: string, session: Session): Promise<void> {
    try {
      await session.openToAppend();
    } catch (cause) {
      if (!isLocked(cause)) throw cause;
      throw busy(chatId, (cause as VerbatimError<"LOG_LOCKED">).details.holder);
    }
  }

  async #using<T>(
    chatId: string,
    use: (session: Session) => Promise<T>,
    store = this.#store,
  ): Promise<T> {
    const session = store.session(`${DOOR}/${chatId}`);
    try {
      return await use(session);
    } finally {
      await session.release();
    }
  }

  #response(path: string, from: number): Response {
    if (!Number.isSafeInteger(from) || from < 0) throw badOffset(path, from);
    const reading = new AbortController();
    this.#reading.add(reading);
    reading.signal.addEventListener("abort", () => this.#reading.delete(reading), { once: true });
    const body = bodyOf(this.#streams.follow(path, reading.signal), from, reading);
    return new Response(body, { headers: UI_MESSAGE_STREAM_HEADERS });
  }
}

function isLocked(cause: unknown): boolean {
  return cause instanceof VerbatimError && cause.code === "LOG_LOCKED";
}

function busy(chatId: string, holder: LockHolder): VerbatimError<"SESSION_BUSY"> {
  return new VerbatimError(
    "SESSION_BUSY",
    `the chat ${chatId} is being answered; resume that answer, or stop it first`,
    { session: `${DOOR}/${chatId}`, holder },
  );
}

function badOffset(stream: string, from: number): VerbatimError<"BAD_OFFSET"> {
  const reason = "it is not a count of bytes";
  return new VerbatimError(
    "BAD_OFFSET",
    `${from} is not an offset of ${stream}: ${reason}; pass the number of bytes received`,
    { stream, offset: String(from), reason },
  );
}

/** What an error may reveal here: its code, never the conversation. */
function textOf(error: unknown): string {
  if (error instanceof VerbatimError) return error.message;
  return error instanceof Error ? error.name : "for an unknown reason";
}

/** Replaces an answer that no line can hold: the chat continues, and its stream has it all. */
function tooLong(id: string, path: string): KeptMessage<UIMessage> {
  const text = `This answer is too long to be kept as a message. It is in the stream ${path}`;
  return { message: { id, role: "assistant", parts: [{ type: "text", text }] }, state: "failed" };
}
