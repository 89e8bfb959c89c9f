/**
 * Response item: one output item of a response, assembled from its events.
 *
 * - A delta appends to the text that DELTAS names; an unknown one is kept in `unknown_deltas`. The
 *   item's own end event replaces everything.
 * - Lists inside an item grow by one at a time: an index past the end is refused, so that no number
 *   can make a list long.
 * - An item is complete once its own end event came, or the response ended it
 *   (openai-responses.ts), unless it calls itself incomplete: an item that was cut has an end
 *   event, too.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import type { CaptureBudget } from "./budget.ts";
import { badStream, isIndex, isObject, type JsonObject, type MutableJson } from "./wire.ts";

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
export function isForItem({ type, output_index: index }: JsonObject): boolean {
  if (typeof type !== "string") return false;
  return Object.hasOwn(DELTAS, type) || (type.endsWith(".delta") && index !== undefined);
}

export class ResponseItem {
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
