/**
 * Entry: the meaning of one line of a session, in terms that no dialect owns.
 *
 * Every dialect decodes its lines into entries, so that display, search, costs and resume are
 * written once. Nothing is dropped: `native` is the parsed line.
 */

export type Role = "system" | "user" | "assistant" | "tool";

export type Part =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "reasoning";
      readonly text: string;
      /**
       * The provider's signature: without it, or over another text, the provider refuses the block.
       */
      readonly signature?: string;
      /** Data that the provider encrypts or redacts, to be sent back unchanged. */
      readonly withheld?: string;
      /** The provider that signed or withholds it, where the line names it on the block itself. */
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
  /** A session that this one started. */
  | { readonly type: "child"; readonly session: string; readonly agent: string | null }
  | ImagePart
  | FilePart
  /** A block that is kept but not understood: a citation, a later invention. */
  | { readonly type: "other"; readonly native: unknown };

/**
 * A picture, or another file, in a message. One of `data`, `path` and `url` says where its bytes
 * are; with none of them, a provider keeps them under an id. The line itself (`native` of the entry)
 * has what is not here, such as a level of detail.
 */
interface MediaFields {
  /** As the line says, such as `image/png`; null where it does not. */
  readonly mediaType: string | null;
  readonly name?: string;
  /** The bytes in base64. */
  readonly data?: string;
  /** The file, as its program named it, or next to the log. Its bytes are not in the log. */
  readonly path?: string;
  readonly url?: string;
}
export interface ImagePart extends MediaFields {
  readonly type: "image";
}
export interface FilePart extends MediaFields {
  readonly type: "file";
}
export type MediaPart = ImagePart | FilePart;

/**
 * Why a line is not part of the conversation: it belongs to another agent, is text of the program
 * itself, was undone by a later line, was replaced by a later summary, or is an attachment whose
 * text is not in the log.
 */
export const ASIDES = [
  ...(["other_agent", "program", "taken_back", "compacted", "attachment"] as const),
] as const;
export type Aside = (typeof ASIDES)[number];

/**
 * The speaker in the user's role, when it is not a person: the program itself, an agent that
 * delegates work, or the summary that replaces earlier messages.
 */
export type Speaker = "program" | "agent" | "summary";

export interface Usage {
  /** Without tokens written to or read from a cache, where the log counts those separately. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheWriteTokens?: number;
  readonly cacheReadTokens?: number;
  /** As recorded; not always the sum of the others. */
  readonly totalTokens: number | null;
  /** Cost as recorded, in US dollars; null when none was recorded. */
  readonly spend: number | null;
}

/** Data of the program that records; Verbatim stores it and gives it back. */
export type Metadata = Readonly<Record<string, unknown>>;

/** What the creator of a session says about it. */
export interface SessionLabels {
  readonly title?: string;
  readonly tags?: readonly string[];
  /** The person that it is for. */
  readonly user?: string;
  /** At most 4 KiB of JSON: lists have it. */
  readonly metadata?: Metadata;
}

export interface Entry {
  /**
   * `start` and `end` bound a session, `turn_start` and `turn_end` an LLM round trip; `other` is
   * kept and shown, not understood.
   */
  readonly kind: "start" | "message" | "turn_start" | "turn_end" | "end" | "other";
  /** ISO 8601, UTC; null when the line has no time. */
  readonly at: string | null;
  readonly role: Role | null;
  /** Absent for a person, where the role is `user`. */
  readonly saidBy?: Speaker;
  readonly parts: readonly Part[];
  readonly model: string | null;
  /** The provider's id of the message. */
  readonly messageId?: string;
  /** Why the model stopped, as the provider calls it. */
  readonly stopReason?: string;
  /** The message is incomplete: this is all that arrived. */
  readonly isPartial?: true;
  /** Of one turn on `turn_end` and messages, of the whole session on `end`. */
  readonly usage: Usage | null;
  /** What the program that appended it adds: any JSON object. Absent where there is none. */
  readonly metadata?: Metadata;
  /** How a session ended; null on all other kinds. */
  readonly outcome: "completed" | "error" | null;
  /** Why it ended in an error. */
  readonly error: { readonly code: string; readonly detail: string } | null;
  /** The line as parsed, unknown keys included. */
  readonly native: Readonly<Record<string, unknown>>;
}

/** The input of `append`: an entry without the fields that reading adds. */
export type NewEntry = Partial<Omit<Entry, "native" | "saidBy">> & Pick<Entry, "kind">;

/** An entry with nothing set: the start of every decoding. */
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

/** Native: a line's JSON object, in the dialect's own format. */
export type Native = Readonly<Record<string, unknown>>;
