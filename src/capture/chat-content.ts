/**
 * Chat content: the content of a chat completion's message: text, a list of chunks as Mistral sends
 * it, or first the one and then the other.
 */

import type { Part } from "../model/entry.ts";
import type { Budget } from "./budget.ts";
import { badStream, isObject, type JsonDraft, type JsonObject, other } from "./wire.ts";

export class ChatContent {
  readonly #budget: Budget;
  #text: string | null = null;
  /** Instead of the text, once a list came. */
  #chunks: JsonDraft[] | null = null;

  constructor(budget: Budget) {
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
      return thought === null ? other(chunk) : { type: "reasoning", text: thought };
    });
  }

  #addChunk(chunks: JsonDraft[], chunk: unknown): void {
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
    else chunks.push(this.#budget.block(chunk) as JsonDraft);
  }

  /** Appends to the last chunk if it has the same type, else adds one. */
  #addText(chunks: JsonDraft[], type: "text" | "thinking", piece: string): void {
    if (piece === "") return;
    const last = chunks.at(-1);
    const before = last?.type === type ? (type === "text" ? last.text : thoughtIn(last)) : null;
    const said = typeof before === "string" ? before + piece : piece;
    if (typeof before === "string") chunks.pop();
    const chunk = type === "text" ? said : [{ type: "text", text: said }];
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
