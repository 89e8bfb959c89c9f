/**
 * Entire transcripts: the session transcript that the Forgeflare document asks for, over the store.
 *
 * Nothing is made on the disk before the first row. From then on the session is this process's
 * until it ends.
 */

import { randomUUID } from "node:crypto";
import { checkKind, checkOptions, notByNew, type OptionKinds } from "../../../base/choice.ts";
import { nodeHost } from "../../../base/node-host.ts";
import type { Durability } from "../../../log/log-options.ts";
import type { NewEntry } from "../../../model/entry.ts";
import type { Session } from "../../../store/session.ts";
import { Store } from "../../../store/store.ts";
import type { SignOption } from "../../../store/store-signing.ts";
import { datedId } from "../../new-ids.ts";
import { isBlock } from "../blocks.ts";
import { refuse } from "../invalid-row.ts";

export interface SessionTranscriptOptions {
  /** The project: rows name it, and the transcript lies below it. */
  readonly cwd: string;
  /** Who answers when a message does not say. */
  readonly model: string;
  /** Of the program that records. Default: this package's. */
  readonly version?: string;
  /** Goes on with that session, or begins it. Default: a new one. */
  readonly sessionId?: string;
  readonly durability?: Durability;
  /** Signs the session. Default: false. */
  readonly sign?: SignOption;
  /** What went wrong beside the log, where nothing is lost. Default: a process warning. */
  readonly onWarning?: (warning: string) => void;
}

const OPTIONS: OptionKinds<SessionTranscriptOptions> = {
  cwd: "text",
  model: "text",
  version: "text",
  sessionId: "string",
  durability: "any",
  sign: "any",
  onWarning: "function",
};

/**
 * A content block in Anthropic's words; whatever else it holds is kept. Twice, so that both the SDK's
 * own types and blocks written out by hand are taken.
 */
export type ContentBlock =
  | { readonly type: string }
  | { readonly type: string; readonly [key: string]: unknown };

/** An answer in Anthropic's words; whatever else it holds is kept. */
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

/** An answer as capturing its stream gives it. */
export interface CapturedAnswer {
  readonly blocks: readonly object[];
  readonly stopReason: string | null;
  readonly usage: object | null;
}

export interface AssistantOptions {
  /** The answer broke off: what is given is all that came. */
  readonly partial?: boolean;
}

export class SessionTranscript {
  readonly sessionId: string;
  readonly #store: Store;
  readonly #session: Session;

  private constructor(store: Store, sessionId: string) {
    if (!(store instanceof Store)) {
      throw notByNew("SessionTranscript", "await SessionTranscript.open({ cwd, model })");
    }
    this.sessionId = sessionId;
    this.#store = store;
    this.#session = store.session(sessionId);
  }

  static async open(options: SessionTranscriptOptions): Promise<SessionTranscript> {
    checkOptions("SessionTranscript.open", options, OPTIONS);
    checkKind("cwd", options.cwd, "text");
    checkKind("model", options.model, "text");
    const { cwd, model, version, durability, sign, onWarning } = options;
    const store = new Store(nodeHost, {
      dialect: "entire",
      root: cwd,
      model,
      ...(version === undefined ? {} : { version }),
      ...(durability === undefined ? {} : { durability }),
      ...(sign === undefined ? {} : { sign }),
      ...(onWarning === undefined ? {} : { onWarning }),
    });
    return new SessionTranscript(store, options.sessionId ?? newSessionId());
  }

  /** The session in neutral words: to read it, or to capture a provider's stream into it. */
  get session(): Session {
    return this.#session;
  }

  /** Appends an entry in neutral words, such as capturing a provider's stream makes. */
  async append(entry: NewEntry): Promise<void> {
    await this.#session.append(entry);
  }

  /** The log. */
  get path(): string {
    return this.#session.path;
  }

  /** What a person said. Resolves once it is durable, and with the first of them prompt.txt. */
  async user(content: string | readonly ContentBlock[]): Promise<void> {
    await this.#session.appendNative({ type: "user", message: { content } });
  }

  /** What the model answered, with its tool calls, in one row. */
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

  /** What the tools gave back: a user's row of `tool_result` blocks. */
  async toolResults(blocks: readonly ContentBlock[]): Promise<void> {
    const isResults = Array.isArray(blocks) && blocks.length > 0 && blocks.every(isResult);
    if (!isResults) refuse("message.content", "not a list of tool_result blocks");
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
