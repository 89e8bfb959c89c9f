/**
 * Part order: what a record's own fields cannot hold of a message's parts: their order, boundaries
 * between texts, signatures, and unknown blocks. Page: docs/formats/homeagent.md, "Parts".
 *
 * The list in `metadata.parts` repeats no text: a text is a number of characters of `content`, a
 * thought a number of characters of `metadata.reasoning`, a call the next of `toolCalls`, and so
 * on.
 *
 * The list is used only if it matches the record to the last character. Otherwise it is another
 * program's, or the record was changed, and the record is read without it. A message that the
 * record's own fields reproduce is written without the list.
 */

import type { Native, Part } from "../../core/model/entry.ts";
import { mediaPartIn } from "../../core/model/media.ts";
import { blockPart } from "../shared/entry-parts.ts";

/** Separator between two texts in one field. */
const BETWEEN = "\n\n";

/** The order in which the record's own fields are read. */
const READING_ORDER: readonly Part["type"][] = [
  "reasoning",
  "text",
  "tool_call",
  "tool_result",
  "child",
];

/** Whether a tool's input must be wrapped in an object, because the document requires one. */
export function hasBareInput({ input }: Extract<Part, { type: "tool_call" }>): boolean {
  return typeof input !== "object" || input === null || Array.isArray(input);
}

/** The list for what the record's own fields cannot hold; null if they hold everything. */
export function orderOf(parts: readonly Part[]): readonly Native[] | null {
  return isPlain(parts) ? null : parts.map(placeOf);
}

/** Whether the record's own fields reproduce these parts. */
function isPlain(parts: readonly Part[]): boolean {
  let last = -1;
  for (const part of parts) {
    const at = READING_ORDER.indexOf(part.type);
    const isText = part.type === "text" || part.type === "reasoning";
    if (at < last || (isText && (at === last || part.text === ""))) return false;
    if (at === -1 || (part.type === "reasoning" && isSealed(part))) return false;
    if (part.type === "tool_call" && hasBareInput(part)) return false;
    last = at;
  }
  return true;
}

function isSealed({ signature, withheld, provider }: Extract<Part, { type: "reasoning" }>) {
  return (signature ?? withheld ?? provider) !== undefined;
}

function placeOf(part: Part): Native {
  const { type } = part;
  switch (type) {
    case "text":
      return { type, chars: part.text.length };
    case "reasoning":
      return {
        type,
        chars: part.text.length,
        ...(part.signature === undefined ? {} : { signature: part.signature }),
        ...(part.withheld === undefined ? {} : { withheld: part.withheld }),
        ...(part.provider === undefined ? {} : { provider: part.provider }),
      };
    case "tool_call":
      return hasBareInput(part) ? { type, bare: true } : { type };
    case "other":
      return { type, native: part.native };
    case "image":
    case "file":
      return { ...part };
    default:
      return { type };
  }
}

/** Content of the record's own fields. */
export interface PlainParts {
  readonly content: string | undefined;
  readonly reasoning: unknown;
  /** Calls, results and children, as read without the list. */
  readonly others: readonly Part[];
}

/** The parts in the order of the list; null if the list does not match the record. */
export function orderParts(
  list: unknown,
  { content, reasoning, others }: PlainParts,
): Part[] | null {
  if (!Array.isArray(list)) return null;
  const texts = new Pieces(content);
  const thoughts = new Pieces(reasoning);
  const queues = new Map<string, Part[]>([
    ["tool_call", []],
    ["tool_result", []],
    ["child", []],
  ]);
  for (const part of others) queues.get(part.type)?.push(part);
  const parts: Part[] = [];
  for (const place of list) {
    const part = isPartIndex(place)
      ? (mediaPartIn(place) ?? partAt(place, texts, thoughts, queues))
      : null;
    if (part === null) return null;
    parts.push(part);
  }
  const isAllSaid = [...queues.values()].every((queue) => queue.length === 0);
  return texts.isAtEnd && thoughts.isAtEnd && isAllSaid ? parts : null;
}

interface PartIndex {
  readonly type: string;
  readonly chars?: unknown;
  readonly signature?: unknown;
  readonly withheld?: unknown;
  readonly provider?: unknown;
  readonly bare?: unknown;
  readonly native?: unknown;
}

function isPartIndex(value: unknown): value is PartIndex {
  return (
    typeof value === "object" && value !== null && typeof (value as PartIndex).type === "string"
  );
}

function partAt(
  { type, chars, signature, withheld, provider, bare, native }: PartIndex,
  texts: Pieces,
  thoughts: Pieces,
  queues: ReadonlyMap<string, Part[]>,
): Part | null {
  if (type === "other") return blockPart(native);
  if (type === "text") {
    const text = texts.next(chars);
    return text === null ? null : { type, text };
  }
  if (type === "reasoning") {
    const text = thoughts.next(chars);
    if (text === null) return null;
    return {
      type,
      text,
      ...(typeof signature === "string" ? { signature } : {}),
      ...(typeof withheld === "string" ? { withheld } : {}),
      ...(typeof provider === "string" ? { provider } : {}),
    };
  }
  const part = queues.get(type)?.shift() ?? null;
  if (part?.type !== "tool_call" || bare !== true) return part;
  const { input } = part.input as { readonly input?: unknown };
  return { type: part.type, callId: part.callId, tool: part.tool, input };
}

/** A field of joined texts, consumed piece by piece. */
class Pieces {
  readonly #text: string | null;
  #at = 0;
  #isFirst = true;

  constructor(text: unknown) {
    this.#text = typeof text === "string" ? text : null;
  }

  get isAtEnd(): boolean {
    return this.#isFirst ? (this.#text ?? "") === "" : this.#at === this.#text?.length;
  }

  /** The next piece of `chars` characters; null if there is none. */
  next(chars: unknown): string | null {
    if (this.#text === null || typeof chars !== "number" || !(chars >= 0)) return null;
    if (!this.#isFirst) {
      if (!this.#text.startsWith(BETWEEN, this.#at)) return null;
      this.#at += BETWEEN.length;
    }
    this.#isFirst = false;
    const piece = this.#text.slice(this.#at, this.#at + chars);
    if (piece.length !== chars) return null;
    this.#at += chars;
    return piece;
  }
}
