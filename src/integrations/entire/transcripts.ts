/**
 * Entire transcripts: the session transcript API of the Forgeflare document, over the store.
 *
 * Creates nothing on disk before the first row. From then on this process holds the session until
 * it ends.
 */

import { randomUUID } from "node:crypto";
import {
  checkKind,
  checkOptions,
  notByNew,
  type OptionKinds,
  rootIn,
} from "../../core/base/choice.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Durability } from "../../core/log/log-options.ts";
import type { NewEntry } from "../../core/model/entry.ts";
import { refuseEntry } from "../../core/model/plain-json.ts";
import { provideDialect } from "../../dialects/all.ts";
import { isBlock } from "../../dialects/entire/blocks.ts";
import { entire } from "../../dialects/entire/dialect.ts";
import { datedId } from "../../dialects/shared/new-ids.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store } from "../../sessions/store/store.ts";
import type { Session as PublishedSession } from "../../sessions/store/store-api.ts";
import type { SignOption } from "../../sessions/store/store-signing.ts";

export interface SessionTranscriptOptions {
  /** The project directory: rows name it, and the transcript is below it. Required. */
  readonly root?: string;
  /** The document's word for `root`. */
  readonly cwd?: string;
  /** The model of messages that name none. */
  readonly model: string;
  /** Version of the recording program. Default: this package's. */
  readonly version?: string;
  /** Continues that session, or starts it. Default: a new one. */
  readonly sessionId?: string;
  readonly durability?: Durability;
  /** Signs the session. Default: false. */
  readonly sign?: SignOption;
  /**
   * Called for failures that lose no data, such as in derived files. Default: a process warning.
   */
  readonly onWarning?: (warning: string) => void;
}

const OPTIONS: OptionKinds<SessionTranscriptOptions> = {
  root: "text",
  cwd: "text",
  model: "text",
  version: "text",
  sessionId: "string",
  durability: "any",
  sign: "any",
  onWarning: "function",
};

/**
 * A content block in Anthropic's format; additional fields are kept. A union, so that both the
 * SDK's own types and object literals are accepted.
 */
export type ContentBlock =
  | { readonly type: string }
  | { readonly type: string; readonly [key: string]: unknown };

/** A message in Anthropic's format; additional fields are kept. */
export interface AssistantMessage {
  readonly type?: string;
  readonly role?: string;
  readonly id?: string | null;
  readonly model?: string | null;
  readonly content: string | readonly ContentBlock[];
  readonly stop_reason?: string | null;
  readonly stop_sequence?: string | null;
  readonly usage?: object | null;
}

/** An answer as captured from a stream. */
export interface CapturedAnswer {
  readonly blocks: readonly object[];
  readonly stopReason: string | null;
  readonly usage: object | null;
}

export interface AssistantOptions {
  /** The answer was interrupted; this is all that arrived. */
  readonly partial?: boolean;
}

export class SessionTranscript {
  readonly sessionId: string;
  readonly #store: Store;
  readonly #session: Session;

  private constructor(store: Store, sessionId: string) {
    if (!(store instanceof Store)) {
      throw notByNew("SessionTranscript", "await SessionTranscript.open({ root, model })");
    }
    this.sessionId = sessionId;
    this.#store = store;
    this.#session = store.session(sessionId);
  }

  static async open(options: SessionTranscriptOptions): Promise<SessionTranscript> {
    checkOptions("SessionTranscript.open", options, OPTIONS);
    const root = rootIn("SessionTranscript.open", options, "cwd");
    checkKind("model", options.model, "text");
    const { model, version, durability, sign, onWarning } = options;
    const store = new Store(nodeHost, {
      dialect: provideDialect(entire),
      root,
      model,
      ...(version === undefined ? {} : { version }),
      ...(durability === undefined ? {} : { durability }),
      ...(sign === undefined ? {} : { sign }),
      ...(onWarning === undefined ? {} : { onWarning }),
    });
    return new SessionTranscript(store, options.sessionId ?? newSessionId());
  }

  /** The neutral session, for reading it or for capturing a provider's stream into it. */
  get session(): PublishedSession {
    return this.#session;
  }

  /** Appends a neutral entry, such as one captured from a provider's stream. */
  async append(entry: NewEntry): Promise<void> {
    await this.#session.append(entry);
  }

  /** Path of the log. */
  get path(): string {
    return this.#session.path;
  }

  /** Appends a person's message. Resolves once it is durable; for the first one, prompt.txt too. */
  async user(content: string | readonly ContentBlock[]): Promise<void> {
    await this.#session.appendNative({ type: "user", message: { content } });
  }

  /** Appends the model's answer with its tool calls, in one row. */
  async assistant(
    message: AssistantMessage | CapturedAnswer,
    options: AssistantOptions = {},
  ): Promise<void> {
    checkOptions("SessionTranscript.assistant", options, { partial: "boolean" });
    const { partial = false } = options;
    await this.#session.appendNative({
      type: "assistant",
      message: isCaptured(message) ? fromCaptured(message) : message,
      ...(partial ? { partial } : {}),
    });
  }

  /** Appends tool results: a user's row of `tool_result` blocks. */
  async toolResults(blocks: readonly ContentBlock[]): Promise<void> {
    const isResults = Array.isArray(blocks) && blocks.length > 0 && blocks.every(isResult);
    if (!isResults) refuseEntry("message.content", "not a list of tool_result blocks");
    await this.user(blocks);
  }

  /** Writes context.md and closes the session. Without a row there is nothing to do. */
  end(): Promise<void> {
    return this.#store.close();
  }
}

/** `YYYY-MM-DD-<uuid v4>`, the date in UTC. */
export function newSessionId(): string {
  return datedId(Date.now(), randomUUID());
}

function isCaptured(message: AssistantMessage | CapturedAnswer): message is CapturedAnswer {
  return typeof message === "object" && message !== null && "blocks" in message;
}

function fromCaptured({ blocks, stopReason, usage, ...rest }: CapturedAnswer): object {
  return { ...rest, content: blocks, stop_reason: stopReason, usage };
}

function isResult(block: unknown): boolean {
  return isBlock(block) && block.type === "tool_result";
}
