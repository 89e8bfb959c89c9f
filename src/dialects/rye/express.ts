/**
 * Express: maps a neutral entry to rye's events, as flat lines before `complete`.
 *
 * A message becomes one event per part, in order; the event implies the part's role, except for
 * texts. Content that rye cannot hold throws INVALID_ENTRY, or goes under keys of our own
 * (docs/formats/rye.md): the writer's time replaces `at`, which is kept as `said_at`.
 */

import type { Native, NewEntry, Part, Role, Usage } from "../../core/model/entry.ts";
import { refuseEntry } from "../../core/model/plain-json.ts";
import { BLOCK_TYPE } from "./vocabulary.ts";

/** Fields that an entry of each kind may have besides its model and its time. */
const SAYS: Readonly<Record<NewEntry["kind"], readonly (keyof NewEntry)[]>> = {
  start: [],
  message: ["role", "parts", "usage", "messageId", "stopReason", "isPartial"],
  turn_start: [],
  turn_end: ["usage", "stopReason"],
  end: ["usage", "outcome", "error"],
  other: ["parts"],
};

const FIELDS = [
  "role",
  "parts",
  "usage",
  "outcome",
  "error",
  "messageId",
  "stopReason",
  "isPartial",
] as const;

export function express(entry: NewEntry): readonly Native[] {
  if (!Object.hasOwn(SAYS, entry.kind)) refuseEntry("kind", "unknown");
  for (const field of FIELDS) {
    const value = entry[field];
    const isSaid =
      value !== null && value !== undefined && !(Array.isArray(value) && !value.length);
    if (isSaid && !SAYS[entry.kind].includes(field))
      refuseEntry(field, `not said by a ${entry.kind}`);
  }
  const model = modelAndTime(entry);
  switch (entry.kind) {
    case "start":
      return [{ type: "thread_start", ...model }];
    case "turn_start":
      return [{ type: "step_start", ...model }];
    case "turn_end":
      return [{ type: "step_finish", ...model, ...turnUsage(entry.usage), ...stopReasonOf(entry) }];
    case "end":
      return [{ ...ending(entry), ...model, ...threadUsage(entry.usage) }];
    case "message":
      return message(entry, model);
    case "other":
      return other(entry, model);
  }
}

/** Fields on every event of an entry. */
function modelAndTime({ model, at }: NewEntry): object {
  return {
    ...(model === null || model === undefined ? {} : { model }),
    ...(at === null || at === undefined ? {} : { said_at: at }),
  };
}

/**
 * Fields of the whole message go on its last message event: so a sum over all events counts a usage
 * once, and a reader in order knows that the message is complete.
 */
function message(entry: NewEntry, model: object): readonly Native[] {
  const { parts = [], role = null } = entry;
  const shown: readonly Part[] = parts.length > 0 ? parts : [{ type: "text", text: "" }];
  const lastSaid = shown.findLastIndex(({ type }) => type !== "child");
  const last = lastSaid === -1 ? shown.length - 1 : lastSaid;
  return shown.map((part, at) => ({
    ...said(part, role),
    ...(role === null || role === ROLE_OF[part.type] ? {} : { role }),
    ...model,
    ...(at === last ? ofWholeMessage(entry) : {}),
  }));
}

/** The role that an event implies; texts of the user and the system state theirs. */
const ROLE_OF: Readonly<Partial<Record<Part["type"], Role>>> = {
  text: "assistant",
  reasoning: "assistant",
  tool_call: "assistant",
  tool_result: "tool",
};

function ofWholeMessage(entry: NewEntry): object {
  const { usage, messageId, isPartial } = entry;
  return {
    ...turnUsage(usage),
    ...(messageId === undefined ? {} : { message_id: messageId }),
    ...stopReasonOf(entry),
    ...(isPartial ? { partial: true } : {}),
  };
}

/** The document's own field, which it has at the end of a turn. */
function stopReasonOf({ stopReason }: NewEntry): object {
  return stopReason === undefined ? {} : { finish_reason: stopReason };
}

function other({ parts = [] }: NewEntry, model: object): readonly Native[] {
  const isChild = parts.length > 0 && parts.every((part) => part.type === "child");
  if (!isChild) refuseEntry("kind", "other, of which rye can only say that a child begins");
  return parts.map((part) => ({ ...said(part, null), ...model }));
}

function said(part: Part, role: Role | null): Native {
  switch (part.type) {
    case "text":
      if (role === "assistant") return { type: "assistant_text", text: part.text };
      return { type: "user_message", text: part.text, role: role ?? "user" };
    case "reasoning":
      return {
        type: "assistant_reasoning",
        text: part.text,
        ...(part.signature === undefined ? {} : { signature: part.signature }),
        ...(part.withheld === undefined ? {} : { withheld: part.withheld }),
        ...(part.provider === undefined ? {} : { provider: part.provider }),
      };
    case "tool_call": {
      const { tool, callId, input } = part;
      return { type: "tool_call_start", tool, call_id: callId, input };
    }
    case "tool_result":
      return {
        type: "tool_call_result",
        call_id: part.callId,
        output: part.output,
        ...(part.error === null ? {} : { error: part.error }),
        ...(part.durationMs === null ? {} : { duration_ms: part.durationMs }),
      };
    case "child":
      return {
        type: "spawn_child",
        child_thread_id: part.session,
        ...(part.agent === null ? {} : { child_directive: part.agent }),
      };
    case "image":
    case "file":
      return { type: BLOCK_TYPE, role: role ?? "user", block: part };
    case "other":
      return { type: BLOCK_TYPE, role: role ?? "user", block: part.native };
  }
}

function ending({ outcome, error }: NewEntry): Native {
  if (outcome === "completed" && error) refuseEntry("error", "given although it completed");
  if (outcome !== "error" && !error) return { type: "thread_complete" };
  return {
    type: "thread_error",
    ...(error ? { error_code: error.code, detail: error.detail } : {}),
  };
}

function turnUsage(usage: Usage | null | undefined): object {
  if (!usage) return {};
  return {
    ...filled("cost", { spend: usage.spend }),
    ...filled("tokens", {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      ...cacheTokens(usage),
      total_tokens: usage.totalTokens,
    }),
  };
}

function threadUsage(usage: Usage | null | undefined): object {
  if (!usage) return {};
  return filled("cost", {
    tokens: usage.totalTokens,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    ...cacheTokens(usage),
    spend: usage.spend,
  });
}

function cacheTokens({ cacheWriteTokens, cacheReadTokens }: Usage) {
  return {
    cache_creation_input_tokens: cacheWriteTokens ?? null,
    cache_read_input_tokens: cacheReadTokens ?? null,
  };
}

/** `{ [key]: … }` with the known numbers; nothing if none is known. */
function filled(key: string, numbers: Readonly<Record<string, number | null>>): object {
  const known = Object.entries(numbers).filter(([, value]) => value !== null);
  return known.length > 0 ? { [key]: Object.fromEntries(known) } : {};
}
