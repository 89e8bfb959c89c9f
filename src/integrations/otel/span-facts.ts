/** Span facts: what is known of a session, a turn, a model call and a tool call in progress. */

import type { Entry } from "../../model/entry.ts";
import type { ToldMessages } from "./content.ts";
import type { SpanLink } from "./span.ts";

/** A session from its beginning, or its continuation, to its end. */
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
  readonly input: ToldMessages | null;
  readonly output: ToldMessages | null;
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
