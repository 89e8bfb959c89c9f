/**
 * Anthropic: collects the events of a Messages API stream into one message.
 *
 * - A block is its start event with its deltas applied: `text_delta` and `thinking_delta` append to
 *   the field of that name, `signature_delta` replaces it, `citations_delta` appends to a list,
 *   `input_json_delta` to the text of `input`; `compaction_delta` replaces the fields that it has.
 *   Any other delta goes to `unknown_deltas`.
 * - Usage is cumulative: a later event's value of a field wins, unless it is null.
 *
 * The content in `message_start` is ignored: the SDK's helper fills that object while it is read.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import type { NewEntry, Part, Usage } from "../../core/model/entry.ts";
import type { CaptureBudget, SizedCopy } from "./budget.ts";
import { type Capture, type CaptureOptions, type CaptureSession, capture } from "./capture.ts";
import { assistantEntry, type EventFold, isBrokenOff, readInput } from "./event-fold.ts";
import type { ByteStream } from "./source.ts";
import {
  badStream,
  beyond,
  countOf,
  isIndex,
  isObject,
  type JsonObject,
  type MutableJson,
  otherPart,
  providerError,
  providerName,
} from "./wire.ts";

/** The usage of a message in Anthropic's own fields; there may be more. */
export interface AnthropicUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly [field: string]: unknown;
}

export interface AnthropicResult {
  /** The content blocks, as Anthropic accepts them in the next request. */
  readonly blocks: readonly JsonObject[];
  readonly stopReason: string | null;
  readonly usage: AnthropicUsage | null;
}

/**
 * Passes on the events of a Messages API stream and appends its message to a session.
 *
 * @example
 * const stream = await client.messages.create({ ...request, stream: true });
 * const captured = captureAnthropic(stream, session);
 * for await (const event of captured) show(event);
 * const { blocks, stopReason, usage } = await captured.result;
 *
 * @typeParam Event the stream's own; for bytes, a JSON object unless you name a type.
 */
export function captureAnthropic(
  stream: ByteStream,
  session: CaptureSession,
  options?: CaptureOptions,
): Capture<JsonObject, AnthropicResult>;
export function captureAnthropic<Event extends object>(
  stream: AsyncIterable<Event>,
  session: CaptureSession,
  options?: CaptureOptions,
): Capture<Event, AnthropicResult>;
export function captureAnthropic<Event extends object>(
  stream: ByteStream,
  session: CaptureSession,
  options?: CaptureOptions,
): Capture<Event, AnthropicResult>;
export function captureAnthropic<Event>(
  stream: object,
  session: CaptureSession,
  options: CaptureOptions = {},
): Capture<Event, AnthropicResult> {
  const gather = (budget: CaptureBudget) => new AnthropicMessage(budget);
  return capture({ provider: "anthropic", stream, session, options, gather });
}

interface Block {
  readonly native: MutableJson;
  /** The text of `input` so far; null when none of it came as text. */
  json: string | null;
  isEnded: boolean;
}

export class AnthropicMessage implements EventFold<AnthropicResult> {
  readonly #budget: CaptureBudget;
  readonly #blocks = new Map<number, Block>();
  #hasStarted = false;
  #id: string | null = null;
  #model: string | null = null;
  #stopReason: string | null = null;
  /** Fields of `message_delta` other than the stop reason. */
  #ending: SizedCopy<JsonObject> | null = null;
  #usage: SizedCopy<AnthropicUsage> | null = null;

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
  }

  take(event: JsonObject): "whole" | "unknown" | VerbatimError | null {
    switch (event.type) {
      case "error":
        return providerError("anthropic", isObject(event.error) ? event.error.type : null, event);
      case "message_start":
        this.#start(event.message);
        break;
      case "content_block_start":
        this.#begin(event);
        break;
      case "content_block_delta":
        this.#add(this.#blockOf(event), event.delta);
        break;
      case "content_block_stop":
        this.#blockOf(event).isEnded = true;
        break;
      case "message_delta":
        this.#conclude(event);
        break;
      case "message_stop":
        this.#checkStarted();
        return "whole";
      default:
        return event.type === "ping" ? null : "unknown";
    }
    return null;
  }

  isWhole(): boolean {
    return false; // Only message_stop says so.
  }

  entry(isPartial: boolean): NewEntry | null {
    if (!this.#hasStarted) return null;
    const parts = [
      ...this.#finished(!isPartial).flatMap(partsOf),
      ...beyond({ ...this.#ending?.copy, type: "message_delta" }, ["stop_reason"]),
    ];
    const usage = usageOf(this.#usage?.copy ?? null);
    const message = { parts, model: this.#model, messageId: this.#id, usage };
    return assistantEntry({ ...message, stopReason: this.#stopReason }, isPartial);
  }

  result(): AnthropicResult {
    return {
      blocks: this.#finished(true),
      stopReason: this.#stopReason,
      usage: this.#usage?.copy ?? null,
    };
  }

  #start(message: unknown): void {
    if (this.#hasStarted) throw this.#bad("message_start came twice");
    if (!isObject(message)) throw this.#bad("message_start has no message");
    this.#id = providerName("anthropic", message.id);
    this.#model = providerName("anthropic", message.model);
    this.#hasStarted = true;
    this.#count(message.usage);
  }

  #checkStarted(): void {
    if (!this.#hasStarted) throw this.#bad("an event came before message_start");
  }

  #begin({ index, content_block: block }: JsonObject): void {
    this.#checkStarted();
    if (!isIndex(index)) throw this.#bad("a block has no index");
    if (this.#blocks.has(index)) throw this.#bad(`block ${index} began twice`);
    if (!isObject(block) || typeof block.type !== "string") {
      throw this.#bad(`block ${index} has no type`);
    }
    this.#blocks.set(index, { native: this.#budget.block(block), json: null, isEnded: false });
  }

  #blockOf({ index }: JsonObject): Block {
    const block = isIndex(index) ? this.#blocks.get(index) : undefined;
    if (!block) throw this.#bad("an event is for a block that never began");
    return block;
  }

  #add(block: Block, delta: unknown): void {
    if (!isObject(delta)) throw this.#bad("a delta is not an object");
    const { native } = block;
    switch (delta.type) {
      case "text_delta":
        this.#addText(native, "text", delta.text);
        break;
      case "thinking_delta":
        this.#addText(native, "thinking", delta.thinking);
        break;
      case "signature_delta":
        native.signature = this.#budget.text(delta.signature);
        break;
      case "input_json_delta":
        block.json = (block.json ?? "") + this.#budget.text(delta.partial_json);
        break;
      case "citations_delta":
        this.#addTo(native, "citations", delta.citation ?? null);
        break;
      case "compaction_delta":
        this.#addSummary(native, delta);
        break;
      default:
        this.#addTo(native, "unknown_deltas", delta);
    }
  }

  #addText(native: MutableJson, field: string, piece: unknown): void {
    const before = native[field] ?? "";
    if (typeof before !== "string")
      throw this.#bad("a delta adds text to a field that is not text");
    native[field] = before + this.#budget.text(piece);
  }

  /** Each delta has the whole summary; the last one counts, as in the SDK. */
  #addSummary(native: MutableJson, { type, ...said }: JsonObject): void {
    const isKnown = Object.keys(said).every((field) => SUMMARY_FIELDS.includes(field));
    if (!isKnown) this.#addTo(native, "unknown_deltas", { type, ...said });
    else Object.assign(native, this.#budget.copy(said));
  }

  #addTo(native: MutableJson, field: string, value: unknown): void {
    const list = native[field] ?? [];
    if (!Array.isArray(list)) throw this.#bad("a delta adds to a field that is not a list");
    list.push(this.#budget.copy(value));
    native[field] = list;
  }

  #conclude({ delta = {}, usage }: JsonObject): void {
    this.#checkStarted();
    if (!isObject(delta)) throw this.#bad("message_delta has no delta");
    this.#stopReason = providerName("anthropic", delta.stop_reason) ?? this.#stopReason;
    this.#ending = this.#budget.replace(this.#ending, { ...this.#ending?.copy, ...delta });
    this.#count(usage);
  }

  #count(usage: unknown): void {
    if (usage === null || usage === undefined) return;
    if (!isObject(usage)) throw this.#bad("usage is not an object");
    const counts = Object.entries(usage).filter(([, count]) => count !== null);
    const merged = { ...this.#usage?.copy, ...Object.fromEntries(counts) };
    this.#usage = this.#budget.replace(this.#usage, merged);
  }

  /** The blocks in order, with the inputs of tools parsed. */
  #finished(isWhole: boolean): JsonObject[] {
    const blocks = [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
    // A block that was cut has an end event, too (event-fold.ts, TI2).
    const last = isBrokenOff(this.#stopReason) ? blocks.at(-1) : undefined;
    return blocks.map((block) => {
      const isCut = block === last && hasNoInput(block);
      return finishedBlock(block, (isWhole || block.isEnded) && !isCut);
    });
  }

  #bad(reason: string): VerbatimError {
    return badStream("anthropic", reason);
  }
}

const SUMMARY_FIELDS: readonly string[] = [
  "content",
  "encrypted_content",
  "signature",
  "tool_changes",
];

/** Whether none of its input came, neither in the start event nor after it. */
function hasNoInput({ native, json }: Block): boolean {
  return !json && isObject(native.input) && Object.keys(native.input).length === 0;
}

/** A block with its input, or with the input's text as `input_text` where it is incomplete. */
function finishedBlock({ native, json }: Block, isEnded: boolean): JsonObject {
  const hasInput = json !== null || native.type === "tool_use";
  if (!hasInput || (isEnded && !json)) return native;
  const read = isEnded && json ? readInput(json) : null;
  const { input: _, ...rest } = native;
  return read ? { ...native, ...read } : { ...rest, input_text: json ?? "" };
}

function partsOf(block: JsonObject): readonly Part[] {
  const { type, text, thinking, signature, data, id, name } = block;
  if (type === "text" && typeof text === "string") {
    return [{ type: "text", text }, ...beyond(block, ["text"])];
  }
  if (type === "thinking" && typeof thinking === "string") {
    const seal = typeof signature === "string" && signature !== "" ? { signature } : {};
    const part: Part = { type: "reasoning", text: thinking, ...seal };
    return [part, ...beyond(block, ["thinking", "signature"])];
  }
  if (type === "redacted_thinking" && typeof data === "string") {
    return [{ type: "reasoning", text: "", withheld: data }, ...beyond(block, ["data"])];
  }
  if (type === "tool_use" && typeof name === "string" && Object.hasOwn(block, "input")) {
    const callId = typeof id === "string" && id !== "" ? id : null;
    const call: Part = { type: "tool_call", callId, tool: name, input: block.input };
    return [call, ...beyond(block, ["name", "input"], "id")];
  }
  return [otherPart(block)];
}

function usageOf(usage: AnthropicUsage | null): Usage | null {
  if (usage === null) return null;
  const cacheWriteTokens = countOf(usage.cache_creation_input_tokens);
  const cacheReadTokens = countOf(usage.cache_read_input_tokens);
  return {
    inputTokens: countOf(usage.input_tokens),
    outputTokens: countOf(usage.output_tokens),
    ...(cacheWriteTokens === null ? {} : { cacheWriteTokens }),
    ...(cacheReadTokens === null ? {} : { cacheReadTokens }),
    totalTokens: null,
    spend: null,
  };
}
