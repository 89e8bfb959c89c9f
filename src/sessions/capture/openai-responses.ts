/**
 * OpenAI responses: collects the events of a response into one message, each output item from its own
 * events.
 *
 * - A response ends with `response.completed`, `.incomplete` or `.failed`. Their output wins over
 *   what was collected, an item's own end over its deltas.
 * - An incomplete response is a complete message: the provider says why it stopped. A failed one is
 *   an error.
 * - Only a completed response ends all of its items. Otherwise one may have been cut: an item ends
 *   by its own event, unless it calls itself incomplete, or as `completed` in the output that the
 *   response ends with.
 * - A delta appends to the text that DELTAS names; an unknown one is kept in `unknown_deltas`. The
 *   item's own end event replaces everything.
 * - Lists inside an item grow by one at a time: an index past the end is refused, so that no number
 *   can make a list long.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import type { NewEntry, Part } from "../../core/model/entry.ts";
import type { CaptureBudget, SizedCopy } from "./budget.ts";
import { assistantEntry, type EventFold, readArguments } from "./event-fold.ts";
import { type OpenAIResult, type OpenAIUsage, usageOf } from "./openai-result.ts";
import {
  badStream,
  beyond,
  isIndex,
  isObject,
  type JsonObject,
  type MutableJson,
  otherPart,
  providerError,
  providerName,
} from "./wire.ts";

/** Fields that are left out, or that the parts already have. */
const ITEM_SAID = ["id", "status"];
const MESSAGE_SAID = [...ITEM_SAID, "role", "content"];
const CALL_SAID = [...ITEM_SAID, "name", "arguments", "input"];
const REASONING_SAID = [...ITEM_SAID, "summary", "content", "encrypted_content"];

/**
 * The output items of a response as neutral parts.
 *
 * Data that no part can hold follows its part as an `other` one. Ids and states of items are left
 * out there: requests do not need them.
 *
 * The parts of an item; a call counts only when it is complete.
 */
function itemParts(item: JsonObject, isWhole: boolean): readonly Part[] {
  const { type, content, name } = item;
  if (type === "message" && Array.isArray(content)) {
    return [...content.flatMap(contentPart), ...beyond(item, MESSAGE_SAID)];
  }
  if (type === "reasoning") return reasoningParts(item);
  const isCall = type === "function_call" || type === "custom_tool_call";
  return isCall && typeof name === "string" ? callParts(item, name, isWhole) : [otherPart(item)];
}

function contentPart(part: unknown): readonly Part[] {
  if (!isObject(part) || part.type !== "output_text" || typeof part.text !== "string") {
    return [otherPart(part)];
  }
  return [{ type: "text", text: part.text }, ...beyond(part, ["text"])];
}

function reasoningParts(item: JsonObject): readonly Part[] {
  const { summary, content, encrypted_content: sealed } = item;
  const thoughts = [...textsOf(content), ...textsOf(summary)];
  if (thoughts.includes(null)) return [otherPart(item)];
  const withheld = typeof sealed === "string" && sealed !== "" ? { withheld: sealed } : {};
  const part: Part = { type: "reasoning", text: thoughts.join("\n\n"), ...withheld };
  return [part, ...beyond(item, REASONING_SAID)];
}

/** The texts of a list's elements; null for an element without one. */
function textsOf(list: unknown): readonly (string | null)[] {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) return [null];
  return list.map((element) =>
    isObject(element) && typeof element.text === "string" ? element.text : null,
  );
}

function callParts(item: JsonObject, tool: string, isWhole: boolean): readonly Part[] {
  const isCustom = item.type === "custom_tool_call";
  const input = isCustom ? item.input : item.arguments;
  const text = typeof input === "string" ? input : "";
  const read = isCustom ? { input: text } : readArguments(text);
  if (!isWhole || !read) {
    const { arguments: _, input: __, ...rest } = item;
    return [otherPart({ ...rest, input_text: text })];
  }
  const callId = typeof item.call_id === "string" && item.call_id !== "" ? item.call_id : null;
  const call: Part = { type: "tool_call", callId, tool, ...read };
  const more = beyond(item, CALL_SAID, "call_id");
  // A custom tool is marked, because its results go back in different items than a function's.
  if (isCustom && more.length === 0) return [call, otherPart({ type: item.type, call_id: callId })];
  return [call, ...more];
}

export class ResponseMessage implements EventFold<OpenAIResult> {
  readonly #budget: CaptureBudget;
  #items = new Map<number, ResponseItem>();
  #hasStarted = false;
  #id: string | null = null;
  #model: string | null = null;
  #stopReason: string | null = null;
  #usage: SizedCopy<OpenAIUsage> | null = null;

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
  }

  take(event: JsonObject): "whole" | "unknown" | VerbatimError | null {
    switch (event.type) {
      case "error":
        return providerError("openai", event.code ?? typeOf(event.error), event);
      case "response.output_item.added":
        this.#begin(event);
        return null;
      case "response.output_item.done":
        this.#endItem(event);
        return null;
      case "response.completed":
      case "response.incomplete":
        this.#end(event);
        return "whole";
      case "response.failed":
        this.#end(event);
        return providerError("openai", codeOf(event.response), event);
    }
    if (isObject(event.response)) this.#name(event.response);
    else if (event.output_index === undefined && !isForItem(event)) return "unknown";
    else this.#addToItem(event);
    return null;
  }

  isWhole(): boolean {
    return false; // Only its last event says so.
  }

  entry(isPartial: boolean): NewEntry | null {
    if (!this.#hasStarted) return null;
    const message = {
      parts: this.#inOrder().flatMap(({ native, isWhole }) => itemParts(native, isWhole)),
      model: this.#model,
      messageId: this.#id,
      stopReason: this.#stopReason,
      usage: usageOf(this.#usage?.copy ?? null),
    };
    return assistantEntry(message, isPartial);
  }

  result(): OpenAIResult {
    return {
      blocks: this.#inOrder().map((item) => item.native),
      stopReason: this.#stopReason,
      usage: this.#usage?.copy ?? null,
    };
  }

  #inOrder(): readonly ResponseItem[] {
    return [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
  }

  #name(response: JsonObject): void {
    this.#hasStarted = true;
    this.#id = providerName("openai", response.id) ?? this.#id;
    this.#model = providerName("openai", response.model) ?? this.#model;
  }

  #begin(event: JsonObject): void {
    const { output_index: index } = event;
    if (!isIndex(index)) throw badStream("openai", "an output item has no index");
    if (this.#items.has(index)) throw badStream("openai", `output item ${index} began twice`);
    const item = new ResponseItem(this.#budget, this.#checkedItem(event));
    this.#hasStarted = true;
    this.#items.set(index, item);
  }

  /** An item's end event has all of it, so it may come without a start event. */
  #endItem(event: JsonObject): void {
    if (!this.#itemOf(event)) this.#begin(event);
    this.#itemOf(event)?.end(this.#checkedItem(event));
  }

  #addToItem(event: JsonObject): void {
    const item = this.#itemOf(event);
    if (item) item.add(event);
    else if (isForItem(event)) {
      throw badStream("openai", "a delta is for an output item that never began");
    }
  }

  #itemOf({ output_index: index }: JsonObject): ResponseItem | undefined {
    return isIndex(index) ? this.#items.get(index) : undefined;
  }

  #checkedItem({ item }: JsonObject): JsonObject {
    if (isObject(item) && typeof item.type === "string") return item;
    throw badStream("openai", "an output item has no type");
  }

  #end({ type, response }: JsonObject): void {
    if (!isObject(response)) throw badStream("openai", "the last event has no response");
    this.#name(response);
    const { output, usage, status, incomplete_details: details } = response;
    if (isObject(usage)) this.#usage = this.#budget.replace(this.#usage, usage);
    if (Array.isArray(output) && output.length > 0) this.#replaceItems(output);
    const reason = isObject(details) ? providerName("openai", details.reason) : null;
    this.#stopReason = reason ?? providerName("openai", status);
    if (type !== "response.completed") return;
    for (const item of this.#items.values()) item.hasEnded = true;
  }

  #replaceItems(output: readonly unknown[]): void {
    const before = this.#items;
    for (const item of before.values()) item.release();
    try {
      const items = output.map((outputItem, index) => {
        const item = new ResponseItem(this.#budget, this.#checkedItem({ item: outputItem }));
        item.hasEnded = item.native.status === "completed" || before.get(index)?.isWhole === true;
        return item;
      });
      this.#items = new Map(items.entries());
    } catch (error) {
      this.#items = before; // Too large or not an item: keeps what was collected.
      throw error;
    }
  }
}

function codeOf(response: unknown): unknown {
  return isObject(response) && isObject(response.error) ? response.error.code : null;
}

function typeOf(error: unknown): unknown {
  return isObject(error) ? (error.code ?? error.type) : null;
}

/** The text that an event's `delta` appends to: a field of the item, or of an element of a list. */
interface Target {
  readonly field: string;
  readonly list?: "content" | "summary";
  /** The element's type when no event began it. */
  readonly type?: string;
}

const DELTAS: Readonly<Record<string, Target>> = {
  "response.output_text.delta": { list: "content", type: "output_text", field: "text" },
  "response.refusal.delta": { list: "content", type: "refusal", field: "refusal" },
  "response.reasoning_text.delta": { list: "content", type: "reasoning_text", field: "text" },
  "response.reasoning_summary_text.delta": {
    list: "summary",
    type: "summary_text",
    field: "text",
  },
  "response.function_call_arguments.delta": { field: "arguments" },
  "response.custom_tool_call_input.delta": { field: "input" },
  "response.mcp_call_arguments.delta": { field: "arguments" },
  "response.code_interpreter_call_code.delta": { field: "code" },
};

/** Events that begin an element of a list. Their end events add nothing. */
const BEGINNINGS: Readonly<Record<string, "content" | "summary">> = {
  "response.content_part.added": "content",
  "response.reasoning_summary_part.added": "summary",
};

/** Whether an event belongs to an item, and means nothing without it. */
function isForItem({ type, output_index: index }: JsonObject): boolean {
  if (typeof type !== "string") return false;
  return Object.hasOwn(DELTAS, type) || (type.endsWith(".delta") && index !== undefined);
}

class ResponseItem {
  hasEnded = false;
  readonly #account: CaptureBudget;
  #native: MutableJson;

  constructor(budget: CaptureBudget, item: JsonObject) {
    this.#account = budget.account();
    this.#native = this.#account.block(item);
  }

  get native(): JsonObject {
    return this.#native;
  }

  get isWhole(): boolean {
    return this.hasEnded && this.#native.status !== "incomplete";
  }

  add(event: JsonObject): void {
    const type = typeof event.type === "string" ? event.type : "";
    const list = Object.hasOwn(BEGINNINGS, type) ? BEGINNINGS[type] : undefined;
    const target = Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined;
    if (list) this.#begin(list, event);
    else if (target) this.#addText(target, event);
    else if (type === "response.output_text.annotation.added") {
      this.#addTo(this.#elementOf("content", event), "annotations", event.annotation ?? null);
    } else if (type.endsWith(".delta")) this.#addTo(this.#native, "unknown_deltas", event);
  }

  /** Replaces the item by the one in its end event. */
  end(item: JsonObject): void {
    this.#account.release();
    this.#native = this.#account.block(item);
    this.hasEnded = true;
  }

  /** Releases its budget: something else is held instead. */
  release(): void {
    this.#account.release();
  }

  #begin(list: "content" | "summary", event: JsonObject): void {
    const { part } = event;
    if (!isObject(part)) throw badStream("openai", "a part of an output item is not an object");
    const elements = this.#listOf(this.#native, list);
    if (event[INDEX[list]] !== elements.length) throw outOfOrder();
    elements.push(this.#account.copy(part));
  }

  #addText({ list, type, field }: Target, event: JsonObject): void {
    const target = list ? this.#elementOf(list, event, type) : this.#native;
    const before = target[field] ?? "";
    if (typeof before !== "string")
      throw badStream("openai", "a delta adds text to a field that is not text");
    target[field] = before + this.#account.text(event.delta);
  }

  #elementOf(list: "content" | "summary", event: JsonObject, type?: string): MutableJson {
    const elements = this.#listOf(this.#native, list);
    const index = event[INDEX[list]];
    if (type !== undefined && index === elements.length) elements.push({ type });
    const element: unknown = isIndex(index) ? elements[index] : undefined;
    if (!isObject(element)) throw outOfOrder();
    return element;
  }

  #addTo(target: MutableJson, field: string, value: unknown): void {
    this.#listOf(target, field).push(this.#account.copy(value));
  }

  #listOf(target: MutableJson, field: string): unknown[] {
    const list = target[field] ?? [];
    if (!Array.isArray(list))
      throw badStream("openai", "an event adds to a field that is not a list");
    target[field] = list;
    return list;
  }
}

const INDEX = { content: "content_index", summary: "summary_index" } as const;

function outOfOrder(): VerbatimError {
  return badStream("openai", "an event is for a part that has not begun, or has ended");
}
