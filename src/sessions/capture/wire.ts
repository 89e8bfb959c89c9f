/**
 * Wire: reading a provider's data, and the errors about it.
 *
 * No error text contains the data: a provider's own words go into `cause` or, when they are one
 * short word, into `details`.
 */

import { type Provider, VerbatimError } from "../../core/base/errors.ts";
import { CAPTURED_NAME_CHARS_MAX } from "../../core/base/limits.ts";
import type { Part } from "../../core/model/entry.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** An object under construction. */
export type MutableJson = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An index of a list that comes in pieces. */
export function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A count of tokens; null for anything else. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** An id, a model, a stop reason; null when there is none. Refuses one that is too long. */
export function providerName(provider: Provider, value: unknown): string | null {
  if (typeof value !== "string" || value === "") return null;
  if (value.length > CAPTURED_NAME_CHARS_MAX) throw badStream(provider, "a name is too long");
  return value;
}

/**
 * The fields of a block that its part does not have, as a part that follows it; none when there are
 * none. Nulls, empty lists and the usual caller of a tool do not count. With `key`, the block is
 * named in it, too.
 */
export function beyond(
  block: JsonObject,
  fields: readonly string[],
  key?: string,
): readonly Part[] {
  const rest = Object.entries(block).filter(
    ([name, value]) => name !== "type" && name !== key && !fields.includes(name) && saysMore(value),
  );
  if (rest.length === 0) return [];
  const keyField =
    key === undefined || !Object.hasOwn(block, key) ? [] : [[key, block[key]] as const];
  return [otherPart(Object.fromEntries([["type", block.type], ...keyField, ...rest]))];
}

export function otherPart(native: unknown): Part {
  return { type: "other", native };
}

function saysMore(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !(isObject(value) && value.type === "direct" && Object.keys(value).length === 1);
}

export function badStream(provider: Provider, reason: string, cause?: unknown): VerbatimError {
  return new VerbatimError(
    "BAD_STREAM",
    `the stream of ${provider} cannot be captured: ${reason}; what came before is kept as partial`,
    { provider, reason },
    cause === undefined ? undefined : { cause },
  );
}

/** For a caller who captures the stream of one provider as another's. */
export function unknownEventsError(provider: Provider): VerbatimError {
  const reason = `none of its events is one of ${provider}`;
  return new VerbatimError(
    "BAD_STREAM",
    `the stream cannot be captured: ${reason}, so nothing was recorded; use the function of the ` +
      "provider that sends it",
    { provider, reason },
  );
}

/** The provider's own error; its whole event is the `cause`. */
export function providerError(provider: Provider, type: unknown, cause: unknown): VerbatimError {
  const word = typeof type === "string" && /^[\w.-]{1,64}$/.test(type) ? type : "unknown";
  return new VerbatimError(
    "PROVIDER_ERROR",
    `${provider} ended the message with ${word}; what arrived is kept as partial: send it again`,
    { provider, type: word },
    { cause },
  );
}

export function incomplete(provider: Provider, reason: "ended" | "stopped"): VerbatimError {
  const why =
    reason === "ended" ? "the stream ended before it did" : "the consumer stopped reading";
  return new VerbatimError(
    "STREAM_INCOMPLETE",
    `the message of ${provider} is incomplete: ${why}; what arrived is kept as partial`,
    { provider, reason },
  );
}
