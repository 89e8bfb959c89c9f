/**
 * Vocabulary: the event types of a thread, and the other names that real files use for them.
 *
 * Owns names only. Their markdown is in `markdown.ts`, their entries in `decode.ts`. Format:
 * docs/formats/rye.md, "Events".
 */

/** The twelve events of the thread-transcripts document. */
export const EVENT_TYPES = [
  "thread_start",
  "user_message",
  "step_start",
  "assistant_text",
  "assistant_reasoning",
  "tool_call_start",
  "tool_call_result",
  "step_finish",
  "thread_complete",
  "thread_error",
  "hook_triggered",
  "spawn_child",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The type of a checkpoint. Only a signer writes these lines; a caller's are refused. */
export const CHECKPOINT_TYPE = "checkpoint";

/**
 * The type for a block of a message that rye has no event for. To rye itself it is one more unknown
 * type.
 */
export const BLOCK_TYPE = "message_block";

/** A map, not an object: a type named `constructor` must not match. */
const MEANINGS: ReadonlyMap<string, EventType> = new Map<string, EventType>([
  ...EVENT_TYPES.map((type) => [type, type] as const),
  ["cognition_in", "user_message"],
  ["cognition_out", "assistant_text"],
  ["thread_completed", "thread_complete"],
]);

/**
 * Which of the twelve a type is; null for one that is stored without a meaning: `checkpoint`,
 * `token_delta`, `checkpoint_saved`, `directive_return`, and every unknown type.
 */
export function meaningOf(type: string): EventType | null {
  return MEANINGS.get(type) ?? null;
}

/** Types that no model sees, as far as is known. Other unknown types may be seen. */
const SILENT_TYPES: readonly string[] = [
  CHECKPOINT_TYPE,
  "checkpoint_saved",
  "directive_return",
  "hook_triggered",
  "token_delta",
];

export function isSilentType(type: string): boolean {
  return SILENT_TYPES.includes(type);
}
