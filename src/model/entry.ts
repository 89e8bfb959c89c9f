/**
 * Entry: what a line of a session means, in words that no dialect owns.
 *
 * Every dialect decodes its lines into these, so that showing, searching, costing and resuming
 * are written once. Nothing is dropped on the way: `native` is the line as it was parsed.
 */

export type Role = "system" | "user" | "assistant" | "tool";

export type Part =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "reasoning";
      readonly text: string;
      /** The provider's seal: without it, or over another text, the provider refuses the block. */
      readonly signature?: string;
      /** What the provider keeps unreadable, whatever of it the text tells; given back as it is. */
      readonly withheld?: string;
      /** Whose seal it is, or who keeps it, where the line says that of the thought itself. */
      readonly provider?: string;
    }
  | {
      readonly type: "tool_call";
      readonly callId: string | null;
      readonly tool: string;
      readonly input: unknown;
    }
  | {
      readonly type: "tool_result";
      readonly callId: string | null;
      readonly output: unknown;
      /** Why the tool failed; null when it did not. */
      readonly error: string | null;
      readonly durationMs: number | null;
    }
  /** A session that this one began. */
  | { readonly type: "child"; readonly session: string; readonly agent: string | null }
  /** A block that is kept and not understood: an image, a citation, whatever comes next. */
  | { readonly type: "other"; readonly native: unknown };

/**
 * Why a line is not part of the conversation: it is another agent's, the program's own words, was
 * taken back by a later line, was summed up by a later one, or is an attachment whose text the log
 * does not have.
 */
export type Aside = "other_agent" | "program" | "taken_back" | "compacted" | "attachment";

/**
 * Who speaks in the user's name, when that is not a person: the program itself, an agent that gives
 * work to another one, or the summary that takes the place of what was said before.
 */
export type Speaker = "program" | "agent" | "summary";

export interface Usage {
  /** Without those that a cache took or gave, where somebody told them apart. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheWriteTokens?: number;
  readonly cacheReadTokens?: number;
  /** As recorded; not always the sum of the others. */
  readonly totalTokens: number | null;
  /** Money as recorded, in US dollars; null when nobody recorded any. */
  readonly spend: number | null;
}

export interface Entry {
  /**
   * `start` and `end` bound a session, `turn_start` and `turn_end` an LLM round trip;
   * `other` is kept and shown, not understood.
   */
  readonly kind: "start" | "message" | "turn_start" | "turn_end" | "end" | "other";
  /** ISO 8601, UTC; null when the line has no time. */
  readonly at: string | null;
  readonly role: Role | null;
  /** Absent: a person, where the role is `user`. */
  readonly saidBy?: Speaker;
  readonly parts: readonly Part[];
  readonly model: string | null;
  /** The provider's id of the message. */
  readonly messageId?: string;
  /** Why the model stopped, in the provider's word. */
  readonly stopReason?: string;
  /** The message broke off: what is here is all that arrived of it. */
  readonly isPartial?: true;
  /** Of one turn on `turn_end` and messages, of the whole session on `end`. */
  readonly usage: Usage | null;
  /** How a session ended; null on all other kinds. */
  readonly outcome: "completed" | "error" | null;
  /** Why it ended in an error. */
  readonly error: { readonly code: string; readonly detail: string } | null;
  /** The line as parsed, unknown keys included. */
  readonly native: Readonly<Record<string, unknown>>;
}

/** What a caller gives to `append`: an entry without what reading it adds. */
export type NewEntry = Partial<Omit<Entry, "native" | "saidBy">> & Pick<Entry, "kind">;

/** An entry in which nothing is known yet: the start of every decoding. */
export function emptyEntry(native: Readonly<Record<string, unknown>>): Entry {
  return {
    kind: "other",
    at: null,
    role: null,
    parts: [],
    model: null,
    usage: null,
    outcome: null,
    error: null,
    native,
  };
}
