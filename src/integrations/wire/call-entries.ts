/**
 * Call entries: what is written of a call to a provider. Page: docs/formats/wire.md.
 *
 * - Of a request: the system prompt and the tools if they are new, and the messages that the session
 *   does not have.
 * - Of an answer: its message with usage, times and status; or why there is none.
 */

import type { NewEntry, Part } from "../../core/model/entry.ts";
import { checkedEntry, refuseNamedFiles } from "../../core/model/entry-check.ts";
import type { RawMark } from "../../core/model/wire-mark.ts";
import type { ProviderAnswer } from "./answer.ts";
import type { CallAnswer, CallRequest } from "./call.ts";
import { markOf, type Placement, systemMark } from "./conversations.ts";
import type { ModelRequest } from "./provider-api.ts";

/** How much is kept of a body that is not understood. */
const UNREAD_CHARS_MAX = 64 * 1024;

export function requestEntries(
  request: ModelRequest,
  placement: Placement,
  atMs: number,
): NewEntry[] {
  const { conversation, from, summary, isNewSystem, hasNewTools } = placement;
  const at = new Date(atMs).toISOString();
  const entries: NewEntry[] = [];
  if (isNewSystem) {
    const metadata = { wire: { system: systemMark(request) } };
    entries.push({ kind: "message", role: "system", at, parts: request.system, metadata });
  }
  if (hasNewTools) {
    const metadata = { wire: { tools: markOf(request.tools) } };
    const parts = [other({ type: "tools", tools: request.tools })];
    entries.push({ kind: "other", at, parts, metadata });
  }
  const last = request.messages.length - 1;
  for (const [index, { role, parts }] of request.messages.entries()) {
    if (index < from) continue;
    const wire = {
      ...(index === summary ? { summary: true } : {}),
      ...(index === last
        ? { mark: conversation.marks.at(-1), messages: request.messages.length }
        : {}),
    };
    const metadata = Object.keys(wire).length > 0 ? { metadata: { wire } } : {};
    entries.push({ kind: "message", role, at, parts, ...metadata });
  }
  return entries.map(storable);
}

/** A request that is not understood. */
export function unreadRequest(
  { atMs, api, body, target }: Pick<CallRequest, "atMs" | "api" | "body" | "target">,
  text: string | null,
): NewEntry {
  const facts = { type: "unread_request", api, path: target };
  const at = new Date(atMs).toISOString();
  return storable({ kind: "other", at, parts: [unread(facts, body, text)] });
}

export interface AnswerFacts {
  readonly message: CallAnswer;
  readonly answer: ProviderAnswer | null;
  readonly text: string | null;
  readonly attempt: number;
  /** Of the request, for providers that do not repeat it. */
  readonly model: string | null;
  readonly raw: RawMark | null;
}

export function answerEntry(facts: AnswerFacts): NewEntry {
  const { message, answer, text, attempt, model, raw } = facts;
  const { status, headers, end, firstByteMs, durationMs, body } = message;
  const requestId = headers["request-id"] ?? headers["x-request-id"];
  const wire = {
    status,
    durationMs: Math.round(durationMs),
    ...(firstByteMs === null ? {} : { firstByteMs: Math.round(firstByteMs) }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(attempt > 1 ? { attempt } : {}),
    ...(end === "whole" ? {} : { end }),
    ...(raw === null ? {} : { raw }),
  };
  const at = new Date(message.atMs).toISOString();
  const error = answer?.error ?? (end === "unreachable" ? UNREACHABLE : null);
  const common = { at, metadata: { wire }, ...(error === null ? {} : { error }) };
  const entry = answer?.entry ?? null;
  if (entry !== null) return storable({ ...entry, model: entry.model ?? model, ...common });
  const native = { status, end, ...(error ?? {}) };
  const part =
    error === null
      ? unread({ type: "unread_answer", ...native }, body, text)
      : other({ type: "call_failed", ...native });
  return storable({ kind: "other", parts: [part], ...common });
}

const UNREACHABLE = { code: "unreachable", detail: "the provider could not be reached" };

function unread(facts: object, body: Uint8Array | null, text: string | null): Part {
  const bytes = body === null ? { isTooLarge: true } : { bytes: body.length };
  return other({ ...facts, ...bytes, text: text?.slice(0, UNREAD_CHARS_MAX) ?? null });
}

function other(native: object): Part {
  return { type: "other", native };
}

/** Anything may be in a message; what no entry can hold is kept as text. */
function storable(entry: NewEntry): NewEntry {
  try {
    refuseNamedFiles(checkedEntry(entry));
    return entry;
  } catch {
    const text = JSON.stringify(entry.parts ?? []);
    return { ...entry, parts: [other({ type: "unread_parts", text })] };
  }
}
