/**
 * OpenAI responses: collects the events of a response into one message.
 *
 * - A response ends with `response.completed`, `.incomplete` or `.failed`. Their output wins over
 *   what was collected, an item's own end over its deltas.
 * - An incomplete response is a complete message: the provider says why it stopped. A failed one is
 *   an error.
 * - Only a completed response ends all of its items. Otherwise one may have been cut: an item ends
 *   by its own event, or as `completed` in the output that the response ends with.
 */

import type { VerbatimError } from "../base/errors.ts";
import type { NewEntry } from "../model/entry.ts";
import type { Budget, Weighed } from "./budget.ts";
import { assistantEntry, type Gathering } from "./gathering.ts";
import { type OpenAIResult, type OpenAIUsage, usageOf } from "./openai-result.ts";
import { isForItem, ResponseItem } from "./response-item.ts";
import { itemParts } from "./response-parts.ts";
import { badStream, isIndex, isObject, type JsonObject, nameOf, providerError } from "./wire.ts";

export class ResponseMessage implements Gathering<OpenAIResult> {
  readonly #budget: Budget;
  #items = new Map<number, ResponseItem>();
  #hasStarted = false;
  #id: string | null = null;
  #model: string | null = null;
  #stopReason: string | null = null;
  #usage: Weighed<OpenAIUsage> | null = null;

  constructor(budget: Budget) {
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
    const said = {
      parts: this.#inOrder().flatMap(({ native, isWhole }) => itemParts(native, isWhole)),
      model: this.#model,
      messageId: this.#id,
      stopReason: this.#stopReason,
      usage: usageOf(this.#usage?.copy ?? null),
    };
    return assistantEntry(said, isPartial);
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
    this.#id = nameOf("openai", response.id) ?? this.#id;
    this.#model = nameOf("openai", response.model) ?? this.#model;
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
    const reason = isObject(details) ? nameOf("openai", details.reason) : null;
    this.#stopReason = reason ?? nameOf("openai", status);
    if (type !== "response.completed") return;
    for (const item of this.#items.values()) item.hasEnded = true;
  }

  #replaceItems(output: readonly unknown[]): void {
    const before = this.#items;
    for (const item of before.values()) item.release();
    try {
      const items = output.map((given, index) => {
        const item = new ResponseItem(this.#budget, this.#checkedItem({ item: given }));
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
