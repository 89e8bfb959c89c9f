/**
 * Google: collects the chunks of a Gemini answer into one message. Each chunk is a whole
 * `GenerateContentResponse` with a part of the content.
 *
 * - The first candidate is the message. Others are kept after it, each as one `other` part.
 * - Texts that follow each other are joined, thoughts apart from words. The last usage wins.
 */

import type { VerbatimError } from "../../core/base/errors.ts";
import type { NewEntry, Part } from "../../core/model/entry.ts";
import { googleParts, googleUsage } from "../../dialects/shared/google-parts.ts";
import type { CaptureBudget, SizedCopy } from "./budget.ts";
import { assistantEntry, type EventFold } from "./event-fold.ts";
import {
  badStream,
  isIndex,
  isObject,
  type JsonObject,
  type MutableJson,
  otherPart,
  providerError,
  providerName,
} from "./wire.ts";

export class GoogleMessage implements EventFold<null> {
  readonly #budget: CaptureBudget;
  readonly #candidates = new Map<number, { parts: MutableJson[]; finishReason: string | null }>();
  #id: string | null = null;
  #model: string | null = null;
  #blocked: string | null = null;
  #usage: SizedCopy<unknown> | null = null;

  constructor(budget: CaptureBudget) {
    this.#budget = budget;
  }

  take(chunk: JsonObject): "unknown" | VerbatimError | null {
    const { error, candidates, usageMetadata, promptFeedback } = chunk;
    if (isObject(error)) return providerError("google", error.status ?? error.code, chunk);
    this.#id ??= providerName("google", chunk.responseId);
    this.#model = providerName("google", chunk.modelVersion) ?? this.#model;
    if (isObject(usageMetadata)) this.#usage = this.#budget.replace(this.#usage, usageMetadata);
    const why = isObject(promptFeedback) ? promptFeedback.blockReason : null;
    this.#blocked = providerName("google", why) ?? this.#blocked;
    if (candidates === undefined) return isObject(usageMetadata) || why ? null : "unknown";
    if (!Array.isArray(candidates)) throw badStream("google", "candidates is not a list");
    for (const candidate of candidates) this.#takeCandidate(candidate);
    return null;
  }

  isWhole(): boolean {
    const all = [...this.#candidates.values()];
    if (this.#blocked !== null && all.length === 0) return true;
    return all.length > 0 && all.every(({ finishReason }) => finishReason !== null);
  }

  entry(isPartial: boolean): NewEntry | null {
    if (this.#id === null && this.#candidates.size === 0 && this.#blocked === null) return null;
    const first = this.#candidates.get(0);
    const parts: Part[] = googleParts(first?.parts ?? []);
    for (const [index, { finishReason, parts: others }] of this.#candidates) {
      if (index === 0) continue;
      parts.push(otherPart({ type: "candidate", index, finishReason, parts: others }));
    }
    const stopReason = first?.finishReason ?? this.#blocked;
    const usage = googleUsage(this.#usage?.copy);
    return assistantEntry(
      { parts, model: this.#model, messageId: this.#id, stopReason, usage },
      isPartial,
    );
  }

  result(): null {
    return null;
  }

  #takeCandidate(candidate: unknown): void {
    if (!isObject(candidate)) throw badStream("google", "a candidate is not an object");
    const { index = 0, content } = candidate;
    if (!isIndex(index)) throw badStream("google", "a candidate has no index");
    const known = this.#candidates.get(index) ?? { parts: [], finishReason: null };
    this.#candidates.set(index, known);
    known.finishReason = providerName("google", candidate.finishReason) ?? known.finishReason;
    const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
    for (const part of parts) {
      if (!isObject(part)) throw badStream("google", "a part is not an object");
      const last = known.parts.at(-1);
      if (last && isText(last) && isText(part) && last.thought === part.thought) {
        last.text = `${last.text}${this.#budget.text(part.text)}`;
      } else {
        known.parts.push(this.#budget.block(part) as MutableJson);
      }
    }
  }
}

/** Words alone: a signature belongs to its own part. */
function isText(part: JsonObject): boolean {
  return typeof part.text === "string" && part.thoughtSignature === undefined;
}
