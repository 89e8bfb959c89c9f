/**
 * Wire mark: what an entry says of the call to a provider that it was recorded from, in the field
 * `wire` of its metadata. Page: docs/formats/wire.md.
 */

import type { Metadata } from "./entry.ts";

export interface WireMark {
  /** Of the last message of a request: names all messages so far, and counts them. */
  readonly mark?: string;
  readonly messages?: number;
  /** The message is a summary that replaces those before it. */
  readonly summary?: true;
  /** Names the system prompt or the tools in the entry. */
  readonly system?: string;
  readonly tools?: string;
  /** Of an answer: its HTTP status, and so on. */
  readonly status?: number;
}

export function wireMarkIn(metadata: unknown): WireMark | null {
  const { wire } = (metadata ?? {}) as Metadata;
  return typeof wire === "object" && wire !== null ? wire : null;
}
