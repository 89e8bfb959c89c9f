/**
 * Chat choice: one choice of a chat completion, assembled from its deltas.
 *
 * - Text fields are joined. A tool call is identified by its index, and by its id where a server
 *   gives all of them the same index; its arguments are joined, its other fields replaced. Content
 *   may be a list, OpenRouter's details stay a flat list.
 * - Unknown fields are kept: texts joined, everything else as a list of what came.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import { CAPTURED_BLOCK_BYTES } from "../../core/base/limits.ts";
import type { Part } from "../../core/model/entry.ts";
import type { CaptureBudget } from "./budget.ts";
import { isBrokenOff, readArguments } from "./event-fold.ts";
import {
  badStream,
  beyond,
  isIndex,
  isObject,
  type JsonObject,
  type MutableJson,
  otherPart,
} from "./wire.ts";

/** The field of each type that comes in pieces. */
const JOINED: readonly string[] = ["text", "summary", "data"];

/**
 * OpenRouter's list of a model's reasoning, assembled from its chunks. Chunks
 * with the same index and type are one: their texts are joined, other fields replaced. A chunk
 * without an index continues the last one, if that is a text of the same type.
 */
class ReasoningDetails {
  readonly #budget: CaptureBudget;
  readonly #list: MutableJson[] = [];

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
  }

  get list(): readonly JsonObject[] {
    return this.#list;
  }

  add(chunks: unknown): void {
    if (!Array.isArray(chunks)) throw badStream("openai", "reasoning_details is not a list");
    for (const chunk of chunks) {
      if (!isObject(chunk)) throw badStream("openai", "a reasoning detail is not an object");
      const call = this.#continuedBy(chunk);
      if (call) this.#merge(call, chunk);
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

  #merge(call: MutableJson, chunk: JsonObject): void {
    for (const [field, value] of Object.entries(this.#budget.copy(chunk))) {
      if (value === null || value === undefined || field === "__proto__") continue;
      const before = call[field];
      const isJoined = JOINED.includes(field) && typeof before === "string";
      call[field] = isJoined && typeof value === "string" ? before + value : value;
    }
  }
}

/**
 * The content of a chat completion's message: text, a list of chunks as Mistral sends
 * it, or first the one and then the other.
 */
class ChatContent {
  readonly #budget: CaptureBudget;
  #text: string | null = null;
  /** Instead of the text, once a list came. */
  #chunks: MutableJson[] | null = null;

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
  }

  /** As the next request accepts it; null when there is none. */
  get value(): string | readonly JsonObject[] | null {
    return this.#chunks ?? this.#text;
  }

  add(value: unknown): void {
    if (!Array.isArray(value)) {
      const piece = this.#budget.text(value);
      if (this.#chunks === null) this.#text = (this.#text ?? "") + piece;
      else this.#addText(this.#chunks, "text", piece);
      return;
    }
    this.#chunks ??= this.#text ? [{ type: "text", text: this.#text }] : [];
    this.#text = null;
    for (const chunk of value) this.#addChunk(this.#chunks, chunk);
  }

  parts(): readonly Part[] {
    if (this.#chunks === null) return this.#text ? [{ type: "text", text: this.#text }] : [];
    return this.#chunks.map((chunk): Part => {
      const { type, text } = chunk;
      if (type === "text" && typeof text === "string") return { type, text };
      const thought = type === "thinking" ? thoughtIn(chunk) : null;
      return thought === null ? otherPart(chunk) : { type: "reasoning", text: thought };
    });
  }

  #addChunk(chunks: MutableJson[], chunk: unknown): void {
    if (!isObject(chunk)) throw badStream("openai", "a chunk of the content is not an object");
    const { type, text, ...more } = chunk;
    const isPlain = Object.keys(more).length === 0;
    if (type === "text" && typeof text === "string" && isPlain) {
      this.#addText(chunks, "text", this.#budget.text(text));
      return;
    }
    const thought = type === "thinking" ? thoughtIn(chunk) : null;
    const isThought = thought !== null && Object.keys(chunk).every((key) => THOUGHT.includes(key));
    if (isThought) this.#addText(chunks, "thinking", this.#budget.text(thought));
    else chunks.push(this.#budget.block(chunk) as MutableJson);
  }

  /** Appends to the last chunk if it has the same type, else adds one. */
  #addText(chunks: MutableJson[], type: "text" | "thinking", piece: string): void {
    if (piece === "") return;
    const last = chunks.at(-1);
    const before = last?.type === type ? (type === "text" ? last.text : thoughtIn(last)) : null;
    const joined = typeof before === "string" ? before + piece : piece;
    if (typeof before === "string") chunks.pop();
    const chunk = type === "text" ? joined : [{ type: "text", text: joined }];
    chunks.push({ type, [type]: chunk });
  }
}

const THOUGHT: readonly string[] = ["type", "thinking", "closed"];

/** The text of a thinking chunk; null when it has anything else. */
function thoughtIn({ thinking }: JsonObject): string | null {
  if (!Array.isArray(thinking)) return null;
  const texts = thinking.map((each) => {
    return isObject(each) && each.type === "text" && typeof each.text === "string"
      ? each.text
      : null;
  });
  return texts.includes(null) ? null : texts.join("");
}

interface ToolCall {
  readonly index: number;
  /** All fields but the function: a map, because a field may be called `__proto__`. */
  readonly fields: Map<string, unknown>;
  name: string | null;
  /** The text of the arguments so far. */
  json: string;
}

export class ChatChoice {
  finishReason: string | null = null;
  readonly #budget: CaptureBudget;
  readonly #calls: ToolCall[] = [];
  /** All other fields of the message. */
  readonly #fields = new Map<string, unknown>();
  readonly #content: ChatContent;
  readonly #details: ReasoningDetails;

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
    this.#content = new ChatContent(budget);
    this.#details = new ReasoningDetails(budget);
    budget.spend(CAPTURED_BLOCK_BYTES);
  }

  add(delta: JsonObject): void {
    for (const [field, value] of Object.entries(delta)) {
      if (value === null || field === "role") continue;
      if (field === "tool_calls") this.#addCalls(value);
      else if (field === "content") this.#content.add(value);
      else if (field === "reasoning_details") this.#details.add(value);
      else this.#addField(field, value);
    }
  }

  /** The message as the next request accepts it. */
  message(): JsonObject {
    const calls = this.#callsInOrder().map(({ fields, name, json }) => ({
      ...Object.fromEntries(fields),
      function: { name: name ?? "", arguments: json },
    }));
    return {
      role: "assistant",
      content: this.#content.value,
      ...Object.fromEntries(this.#fields),
      ...this.#detailsField(),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
  }

  parts(): readonly Part[] {
    const fields = Object.fromEntries(this.#fields);
    const { refusal, reasoning_content, reasoning, ...rest } = fields;
    const parts: Part[] = [];
    // Field names of several OpenAI-compatible servers; OpenAI itself sends no reasoning text. Some
    // servers send both fields with the same text.
    const thoughts = new Set([reasoning_content, reasoning].filter(isText));
    for (const text of thoughts) parts.push({ type: "reasoning", text });
    parts.push(...this.#content.parts());
    if (isText(refusal)) parts.push(otherPart({ type: "refusal", refusal }));
    const calls = this.#callsInOrder();
    for (const call of calls) parts.push(...this.#partsOf(call, call === calls.at(-1)));
    return [...parts, ...beyond({ ...rest, ...this.#detailsField(), type: "delta" }, [])];
  }

  #detailsField(): JsonObject {
    const { list } = this.#details;
    return list.length === 0 ? {} : { reasoning_details: list };
  }

  #callsInOrder(): readonly ToolCall[] {
    return this.#calls.toSorted((a, b) => a.index - b.index);
  }

  #partsOf({ fields, name, json }: ToolCall, isLast: boolean): readonly Part[] {
    const native = Object.fromEntries(fields);
    const isCut = isLast && json === "" && isBrokenOff(this.finishReason); // event-fold.ts, TI2
    // Until the choice is finished, no call is known to be complete.
    const read = this.finishReason === null || isCut ? null : readArguments(json);
    if (!read) return [otherPart({ ...native, function: { name }, input_text: json })];
    const callId = isText(native.id) ? native.id : null;
    const call: Part = { type: "tool_call", callId, tool: name ?? "", ...read };
    return [call, ...beyond(native, [], "id")];
  }

  #addField(field: string, value: unknown): void {
    const before = this.#fields.get(field);
    if (typeof value === "string" || TEXT_FIELDS.includes(field)) {
      if (before !== undefined && typeof before !== "string") throw mixed();
      this.#fields.set(field, (before ?? "") + this.#budget.text(value));
    } else {
      if (before !== undefined && !Array.isArray(before)) throw mixed();
      this.#fields.set(field, [...(before ?? []), this.#budget.copy(value)]);
    }
  }

  #addCalls(deltas: unknown): void {
    if (!Array.isArray(deltas)) throw badStream("openai", "tool_calls is not a list");
    for (const delta of deltas) {
      if (!isObject(delta)) throw badStream("openai", "a tool call is not an object");
      this.#addCall(delta);
    }
  }

  #addCall({ index = 0, function: named, ...rest }: JsonObject): void {
    if (!isIndex(index)) throw badStream("openai", "a tool call has no index");
    if (named !== null && named !== undefined && !isObject(named)) {
      throw badStream("openai", "the function of a tool call is not an object");
    }
    const call = this.#callAt(index, rest.id);
    const { name, arguments: piece } = named ?? {};
    if (typeof name === "string" && name !== "") call.name = this.#budget.text(name);
    if (piece !== null && piece !== undefined) call.json += this.#budget.text(piece);
    for (const [field, value] of Object.entries(rest)) {
      const saysNothing = value === null || value === "" || value === call.fields.get(field);
      if (!saysNothing) call.fields.set(field, this.#budget.copy(value));
    }
  }

  #callAt(index: number, id: unknown): ToolCall {
    const openCall = this.#calls.findLast((call) => call.index === index);
    const knownId = openCall?.fields.get("id") ?? null;
    if (openCall && (!isText(id) || knownId === null || knownId === id)) return openCall;
    const fields = new Map<string, unknown>([["type", "function"]]);
    const call: ToolCall = { index, fields, name: null, json: "" };
    this.#budget.spend(CAPTURED_BLOCK_BYTES);
    this.#calls.push(call);
    return call;
  }
}

const TEXT_FIELDS: readonly string[] = ["refusal", "reasoning_content", "reasoning"];

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function mixed(): VerbatimError {
  return badStream("openai", "a field of a message changes its type between chunks");
}
