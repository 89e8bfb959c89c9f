/**
 * Thread: the API for a runner of one rye thread. It writes every required event.
 *
 * A step always gets its end and a tool call its result, even if the code inside throws.
 */

import { randomUUID } from "node:crypto";
import {
  checkData,
  checkKind,
  checkOptions,
  notByNew,
  type OptionKinds,
  rootIn,
} from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { Durability } from "../../core/log/log-options.ts";
import type { NewEntry } from "../../core/model/entry.ts";
import { provideDialect } from "../../dialects/all.ts";
import type { Envelope } from "../../dialects/rye/dialect.ts";
import { rye } from "../../dialects/rye/dialect.ts";
import type { Session } from "../../sessions/store/session.ts";
import { Store } from "../../sessions/store/store.ts";
import type { SignOption } from "../../sessions/store/store-signing.ts";

export interface ThreadOptions {
  /** The project directory. Required. */
  readonly root?: string;
  /** The document's word for `root`. */
  readonly projectPath?: string;
  readonly directive: string;
  /** Default: a new `{directive}-{epoch_seconds}`, waiting for a free second. */
  readonly threadId?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly inputs?: unknown;
  readonly threadMode?: string;
  readonly parentThreadId?: string;
  readonly capabilities?: unknown;
  readonly limits?: unknown;
  readonly durability?: Durability;
  readonly envelope?: Envelope;
  readonly markdown?: boolean;
  /** Signs the thread, and its thread.json. Default: false. */
  readonly sign?: SignOption;
}

const OPTIONS: OptionKinds<ThreadOptions> = {
  root: "text",
  projectPath: "text",
  directive: "text",
  threadId: "string",
  model: "text",
  provider: "text",
  inputs: "any",
  threadMode: "text",
  parentThreadId: "text",
  capabilities: "any",
  limits: "any",
  durability: "any",
  envelope: "any",
  markdown: "boolean",
  sign: "any",
};

/** What a step cost, as in `step_finish`. */
export interface TurnResult {
  readonly cost?: Readonly<Record<string, unknown>>;
  readonly tokens?: Readonly<Record<string, unknown>>;
  readonly finishReason?: string;
}

interface Totals {
  turns: number;
  inputTokens: number;
  outputTokens: number;
  spend: number;
  toolResults: number;
}

export class Thread {
  readonly id: string;
  readonly #session: Session;
  readonly #store: Store;
  readonly #startedMs = performance.now();
  readonly #totals: Totals = {
    turns: 0,
    inputTokens: 0,
    outputTokens: 0,
    spend: 0,
    toolResults: 0,
  };

  private constructor(store: Store, session: Session) {
    if (!(store instanceof Store)) throw notByNew("Thread", "await Thread.start({ … })");
    this.#store = store;
    this.#session = session;
    this.id = session.id;
  }

  /** Claims the thread's id and writes `thread_start`. */
  static async start(options: ThreadOptions): Promise<Thread> {
    checkOptions("Thread.start", options, OPTIONS);
    const root = rootIn("Thread.start", options, "projectPath");
    checkKind("directive", options.directive, "text");
    const { directive, threadId, durability, envelope, markdown, sign } = options;
    const store = new Store(nodeHost, {
      dialect: provideDialect(rye),
      root,
      agent: directive,
      ...defined({ durability, envelope, markdown, sign }),
    });
    const session = await store.create({ wait: true, ...defined({ id: threadId }) });
    const thread = new Thread(store, session);
    await thread.event("thread_start", {
      inputs: options.inputs ?? {},
      ...defined({
        model: options.model,
        provider: options.provider,
        parent_thread_id: options.parentThreadId,
        capabilities: options.capabilities,
        limits: options.limits,
      }),
      thread_mode: options.threadMode ?? "single",
    });
    return thread;
  }

  /** Writes any event. */
  async event(type: string, data: Readonly<Record<string, unknown>> = {}): Promise<void> {
    checkData("event", data);
    await this.#session.appendNative({ ...data, type });
  }

  /** Appends a neutral entry, such as one captured from a provider's stream. */
  async append(entry: NewEntry): Promise<void> {
    await this.#session.append(entry);
  }

  async userMessage(text: string, role = "user"): Promise<void> {
    checkTexts({ text, role });
    return this.event("user_message", { text, role });
  }

  async assistantText(text: string): Promise<void> {
    checkTexts({ text });
    return this.event("assistant_text", { text });
  }

  async reasoning(text: string): Promise<void> {
    checkTexts({ text });
    return this.event("assistant_reasoning", { text });
  }

  async spawnChild(childThreadId: string, childDirective: string): Promise<void> {
    checkTexts({ childThreadId, childDirective });
    const data = { child_thread_id: childThreadId, child_directive: childDirective };
    return this.event("spawn_child", data);
  }

  /** One LLM round trip: `step_start`, the events of `run`, and always `step_finish`. */
  async step(run: (turn: number) => Promise<TurnResult | undefined>): Promise<void> {
    checkKind("run", run, "function");
    const turn = ++this.#totals.turns;
    await this.event("step_start", { turn_number: turn });
    let result: TurnResult = { finishReason: "error" };
    try {
      result = (await run(turn)) ?? {};
    } finally {
      const { cost = {}, tokens = {}, finishReason = "end_turn" } = result;
      this.#totals.spend += numberIn(cost, "spend");
      this.#totals.inputTokens += numberIn(tokens, "input_tokens");
      this.#totals.outputTokens += numberIn(tokens, "output_tokens");
      await this.event("step_finish", { cost, tokens, finish_reason: finishReason });
    }
  }

  /**
   * Runs a tool between its start and its result; an error is recorded and rethrown. A value that
   * no line can hold is still returned to the caller, and the result says that it was not recorded.
   */
  async toolCall<T>(
    tool: string,
    input: unknown,
    run: () => T | Promise<T>,
    callId: string = randomUUID(),
  ): Promise<T> {
    checkTexts({ tool, callId });
    checkKind("run", run, "function");
    await this.event("tool_call_start", { tool, call_id: callId, input });
    const started = performance.now();
    const done = async (outcome: { readonly output: unknown; readonly error?: string }) => {
      const duration_ms = Math.round(performance.now() - started);
      this.#totals.toolResults++;
      await this.#toolResult({ call_id: callId, ...outcome, duration_ms });
    };
    let output: T;
    try {
      output = await run();
    } catch (cause) {
      await done({ output: "", error: errorText(cause) });
      throw cause;
    }
    await done({ output: output ?? "" });
    return output;
  }

  async #toolResult(result: Readonly<Record<string, unknown>>): Promise<void> {
    try {
      await this.event("tool_call_result", result);
    } catch (refusal) {
      if (!isUnrecordable(refusal)) throw refusal;
      const what = "error" in result ? "error" : "output";
      const error = `the tool's ${what} could not be recorded: ${refusal.code}`;
      await this.event("tool_call_result", { ...result, output: "", error });
    }
  }

  /** Ends the thread successfully. Missing costs are summed from the steps. */
  async complete(cost: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { turns, inputTokens, outputTokens, spend, toolResults } = this.#totals;
    const usage = { input_tokens: inputTokens, output_tokens: outputTokens };
    const seconds = Math.round((performance.now() - this.#startedMs) / 10) / 100;
    await this.event("thread_complete", {
      usage,
      cost: {
        turns,
        tokens: inputTokens + outputTokens,
        ...usage,
        spend,
        duration_seconds: seconds,
        ...cost,
      },
      tool_results_count: toolResults,
    });
    await this.close();
  }

  /** Ends the thread with an error. */
  async error(code: string, detail: string): Promise<void> {
    checkTexts({ code, detail });
    await this.event("thread_error", { error_code: code, detail });
    await this.close();
  }

  /** Closes the thread; without an end event its status is `paused`. */
  async close(): Promise<void> {
    await this.#store.close();
  }
}

function checkTexts(given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) checkKind(name, value, "string");
}

function defined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The value is at fault, not the log: another value can be written. */
function isUnrecordable(error: unknown): error is VerbatimError {
  if (!(error instanceof VerbatimError)) return false;
  return ["INVALID_ENTRY", "LINE_TOO_LONG", "BATCH_TOO_LARGE"].includes(error.code);
}

/** Never "": a result with an empty error counts as a success. */
function errorText(cause: unknown): string {
  try {
    return String(cause instanceof Error ? cause.message || cause.name : cause) || "error";
  } catch {
    return "error"; // Anything can be thrown, including values without a text.
  }
}

function numberIn(from: Readonly<Record<string, unknown>>, key: string): number {
  const value = from[key];
  return typeof value === "number" ? value : 0;
}
