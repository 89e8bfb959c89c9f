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
  readonly durationMs?: number;
  readonly end?: "cancelled" | "cut" | "unreachable";
  /** Parts of requests and answers as they were, which `raw` names by their SHA-256. */
  readonly pieces?: readonly string[];
  readonly raw?: RawMark;
}

/** A call as it was, without keys. */
export interface RawMark {
  /** The run of the proxy, which may have made several sessions. */
  readonly run: string;
  /** Path and query. */
  readonly target: string;
  /** The first pieces of the request are those of the earlier request with this mark: how many. */
  readonly after?: readonly [mark: string, count: number];
  readonly request: readonly string[];
  /** Null: it was too large. */
  readonly answer: string | null;
  /** Of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer is not UTF-8: each character is a byte. */
  readonly charset?: "latin1";
}

export function wireMarkIn(metadata: unknown): WireMark | null {
  const { wire } = (metadata ?? {}) as Metadata;
  return typeof wire === "object" && wire !== null ? wire : null;
}
