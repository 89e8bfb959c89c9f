/**
 * Entry parts: what the readers of other programs' rows have in common when they build an entry.
 *
 * Reading never refuses: a block that is not understood becomes `other`.
 *
 * Not started: the error text of a call that is known not to have run. A model that continues the
 * session must know that the call had no effect.
 */

import type { Entry, Part, Usage } from "../../core/model/entry.ts";
import { mediaIn } from "../../core/model/media.ts";
import type { DecodedValue } from "../facets/reading.ts";
import { getString, isObject, type JsonObject } from "./fields.ts";

/** The permission request was not answered. */
export const UNANSWERED =
  "NOT STARTED: permission was asked for and not given, the tool did not run.";

/** For programs whose every object is a row: all else is a bad line. */
export function rowDecoder(entryOf: (row: JsonObject) => Entry): (value: unknown) => DecodedValue {
  return (value) =>
    isObject(value)
      ? { entry: entryOf(value), fault: null }
      : { entry: null, fault: "not an object" };
}

/** A text as parts: none if it is empty or absent. */
export function textParts(text: string | null): Part[] {
  return text ? [{ type: "text", text }] : [];
}

/** The parts of a content: one text, or a list of blocks. */
export function contentParts(content: unknown, partOf: (block: JsonObject) => Part | null): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map((block: unknown) => {
    return (isObject(block) ? partOf(block) : null) ?? blockPart(block);
  });
}

/** A block that is no word and no call: an image, a file, or not understood. */
export function blockPart(native: unknown): Part {
  return mediaIn(native) ?? { type: "other", native };
}

/** A block of text, by the names that a program gives to its type. */
export function textBlock(block: JsonObject, types: readonly unknown[]): Part | null {
  const text = types.includes(block.type) ? getString(block, "text") : null;
  return text === null ? null : { type: "text", text };
}

/** What the model thought, and what its provider signed or withholds of it. */
export function reasoningPart(
  text: string,
  { signature = null, withheld = null }: Readonly<Record<string, string | null>>,
): Part {
  if (signature === null) {
    return withheld === null ? { type: "reasoning", text } : { type: "reasoning", text, withheld };
  }
  return { type: "reasoning", text, signature, ...(withheld === null ? {} : { withheld }) };
}

/** Later times are not real, and too large for the catalog. */
const TIME_MAX_MS = 8_000_000_000_000;

/** Milliseconds since 1970 as the time of an entry. */
export function isoOf(ms: number | null): string | null {
  return ms === null || ms < 0 || ms > TIME_MAX_MS ? null : new Date(ms).toISOString();
}

export const NOTHING_COUNTED: Usage = {
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  spend: null,
};

/** The call was denied. */
export function deniedText(reason: string | null): string {
  return `NOT STARTED: permission was denied, the tool did not run${reason ? `: ${reason}` : "."}`;
}
