/**
 * Reasoning details: OpenRouter's list of a model's reasoning, assembled from its chunks. Chunks
 * with the same index and type are one: their texts are joined, other fields replaced. A chunk
 * without an index continues the last one, if that is a text of the same type.
 */

import type { Budget } from "./budget.ts";
import { badStream, isObject, type JsonObject, type MutableJson } from "./wire.ts";

/** The field of each type that comes in pieces. */
const JOINED: readonly string[] = ["text", "summary", "data"];

export class ReasoningDetails {
  readonly #budget: Budget;
  readonly #list: MutableJson[] = [];

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get list(): readonly JsonObject[] {
    return this.#list;
  }

  add(chunks: unknown): void {
    if (!Array.isArray(chunks)) throw badStream("openai", "reasoning_details is not a list");
    for (const chunk of chunks) {
      if (!isObject(chunk)) throw badStream("openai", "a reasoning detail is not an object");
      const known = this.#continuedBy(chunk);
      if (known) this.#merge(known, chunk);
      else this.#list.push(this.#budget.block(chunk) as MutableJson);
    }
  }

  #continuedBy({ type, index, id }: JsonObject): MutableJson | undefined {
    const isSame = (each: JsonObject) =>
      each.type === type && (id == null || each.id == null || each.id === id);
    if (typeof index === "number") {
      return this.#list.findLast((each) => each.index === index && isSame(each));
    }
    const last = this.#list.at(-1);
    const isText = type === "reasoning.text" || type === "reasoning.summary";
    return last && isText && last.index === undefined && isSame(last) ? last : undefined;
  }

  #merge(known: MutableJson, chunk: JsonObject): void {
    for (const [field, value] of Object.entries(this.#budget.copy(chunk))) {
      if (value === null || value === undefined || field === "__proto__") continue;
      const before = known[field];
      const isJoined = JOINED.includes(field) && typeof before === "string";
      known[field] = isJoined && typeof value === "string" ? before + value : value;
    }
  }
}
