/**
 * Span: a span before it is encoded, and its ids.
 *
 * - An id depends on the session and the offset of the entry that a span begins with. So exports
 *   are idempotent: span ids never change.
 */

import { createHash } from "node:crypto";
import { checkData, checkKind, checkWhole, requireChoice } from "../../core/base/choice.ts";
import type { Entry } from "../../core/model/entry.ts";
import type { MessageCollector } from "./content.ts";

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

export interface TraceSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: "internal" | "client";
  /** Nanoseconds since 1970. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Attributes;
  readonly links: readonly SpanLink[];
  /** What failed; the text is null where it must not be exported. */
  readonly failure: { readonly message: string | null } | null;
  /** The offset after the entry that ended it; null while it is open. */
  readonly completedAt: number | null;
}

/** The session of the spans. */
export interface SpannedSession {
  readonly dialect: string;
  readonly id: string;
}

export type SpanPart = "session" | "turn" | "chat" | "tool";
const SPAN_PARTS: readonly SpanPart[] = ["session", "turn", "chat", "tool"];

/** 32 hexadecimal digits. */
export function traceIdOf(session: SpannedSession): string {
  checkData("traceIdOf", session, "session");
  const { dialect, id } = session;
  checkKind("dialect", dialect, "text");
  checkKind("id", id, "string");
  return hexOf(["trace", dialect, id], 16);
}

/** 16 hexadecimal digits: for the `index`th part of what begins at that entry. */
export function spanIdOf(traceId: string, part: SpanPart, offset: number, index = 0): string {
  checkKind("traceId", traceId, "text");
  requireChoice("part", part, SPAN_PARTS);
  checkWhole("offset", offset);
  checkWhole("index", index);
  return hexOf(["span", traceId, part, String(offset), String(index)], 8);
}

function hexOf(words: readonly string[], bytes: number): string {
  const hash = createHash("sha256").update(JSON.stringify(["verbatim-otel-1", ...words]));
  const id = hash.digest("hex").slice(0, 2 * bytes);
  return /[1-9a-f]/.test(id) ? id : `${id.slice(1)}1`; // No id may be all zeros.
}

/** The largest time that all OTLP readers accept: the year 2262. */
const NS_MAX = 2n ** 63n - 1n;

/** An entry's time in nanoseconds; null when it has none, or one that OTLP cannot express. */
export function nsOf(at: string | null): bigint | null {
  const ms = at === null ? Number.NaN : Date.parse(at);
  if (Number.isNaN(ms)) return null;
  const ns = BigInt(ms) * 1_000_000n;
  return ns > 0n && ns <= NS_MAX ? ns : null;
}

/**
 * What is known of a session, a turn, a model call and a tool call in progress.
 *
 * A session from its beginning, or its continuation, to its end.
 */
export interface RunFacts {
  readonly spanId: string;
  readonly offset: number;
  startNs: bigint | null;
  turns: number;
  model: string | null;
  links: SpanLink[];
}

export interface TurnFacts {
  readonly spanId: string;
  readonly offset: number;
  readonly number: number;
  /** The log marks its beginning, and will mark its end. */
  readonly isMarked: boolean;
  readonly startNs: bigint | null;
  endNs: bigint | null;
  chat: ChatFacts | null;
  links: SpanLink[];
}

export interface ChatFacts {
  readonly offset: number;
  readonly messageId: string | null;
  readonly startNs: bigint | null;
  endNs: bigint | null;
  /** The session's model at the time of the call: some logs name it once, at the start. */
  readonly askedModel: string | null;
  /** The model that the message names. */
  model: string | null;
  stopReason: string | null;
  usage: Entry["usage"];
  isPartial: boolean;
  /** A tool has answered it: the model's next text is another message. */
  isAnswered: boolean;
  readonly input: MessageCollector | null;
  readonly output: MessageCollector | null;
}

export interface CallFacts {
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly offset: number;
  readonly startNs: bigint | null;
  /** Bounded, as exported. */
  readonly tool: string;
  readonly callId: string | null;
  /** The model's provider ran it. */
  readonly isHosted: boolean;
  readonly input: string | null;
}
