/**
 * Thread meta: the content of `thread.json`, and how events change it.
 *
 * Owns the content and its text; the store owns the file, its lock and its rename. Functions take a
 * meta and return a new one; unknown keys stay. Format: docs/formats/rye.md, "thread.json".
 *
 * A required field without a value is "", never absent. An event that changes nothing returns the
 * same object, so that a store can tell.
 */

import { get, getString, has, isObject, type JsonObject, withoutKeys } from "../shared/fields.ts";
import type { RyeEvent } from "./envelope.ts";
import { errorOf, recordedCostOf } from "./facts.ts";
import { printValue, pythonJsonFile } from "./python.ts";
import { isoFormat } from "./time.ts";

export type ThreadStatus = "running" | "completed" | "error" | "paused";

/** A `thread.json` as found: other writers leave fields out, and add their own. */
export interface StoredThreadMeta {
  readonly thread_id: string;
  /** One of ThreadStatus when we wrote it. */
  readonly status: string;
  readonly directive?: string | null;
  readonly model?: string | null;
  readonly provider?: string | null;
  readonly thread_mode?: string | null;
  readonly parent_thread_id?: string | null;
  readonly created_at?: string | null;
  readonly updated_at?: string | null;
  readonly inputs?: unknown;
  /** What the thread spent, from its completion. */
  readonly cost?: unknown;
  readonly error?: unknown;
  readonly capabilities?: unknown;
  readonly limits?: unknown;
  readonly outputs?: unknown;
  /** Rebuilt from the log, because the file was missing or corrupt. */
  readonly reconstructed?: unknown;
  readonly [key: string]: unknown;
}

/** A `thread.json` as we write it: every required field is there. */
export interface ThreadMeta extends StoredThreadMeta {
  readonly directive: string;
  readonly model: string;
  readonly provider: string;
  readonly thread_mode: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const STRING_FIELDS = [
  "directive",
  "model",
  "provider",
  "thread_mode",
  "parent_thread_id",
  "created_at",
  "updated_at",
];
/** Fields of a start or an end that thread.json keeps unchanged. */
const KEPT_FIELDS = ["inputs", "capabilities", "limits", "outputs"];

/** Whether a parsed `thread.json` is usable; if not, it is corrupt and the log is used. */
export function isThreadMeta(value: unknown): value is StoredThreadMeta {
  if (!isObject(value)) return false;
  if (getString(value, "thread_id") === null || getString(value, "status") === null) return false;
  return STRING_FIELDS.every((key) => {
    const field = get(value, key, null);
    return field === null || typeof field === "string";
  });
}

/** The meta of a thread that begins with this event; missing fields are "". */
export function metaAtStart(threadId: string, event: RyeEvent): ThreadMeta {
  const { data } = event;
  const ts = event.ts ?? "";
  return {
    thread_id: threadId,
    directive: event.directive ?? "",
    model: printValue(get(data, "model")),
    provider: printValue(get(data, "provider")),
    status: "running",
    thread_mode: getString(data, "thread_mode") || "single",
    parent_thread_id: getString(data, "parent_thread_id"),
    created_at: ts,
    updated_at: ts,
    ...kept(data),
  };
}

/**
 * The meta after an event: created by the first, of any type, since real threads may leave the
 * start out; changed by a start, a completion or an error; else the same object.
 */
export function metaAfter(
  threadId: string,
  meta: StoredThreadMeta | null,
  event: RyeEvent,
): StoredThreadMeta {
  switch (event.meaning) {
    case "thread_start":
      return meta ? startedAgain(meta, event) : metaAtStart(threadId, event);
    case "thread_complete":
      return ended(meta ?? metaAtStart(threadId, event), event, "completed");
    case "thread_error":
      return ended(meta ?? metaAtStart(threadId, event), event, "error");
    default:
      return meta ?? metaAtStart(threadId, event);
  }
}

/** The meta of a running thread that was closed cleanly without an end. Any other status stays. */
export function pausedMeta<M extends StoredThreadMeta>(meta: M, nowMs: number): M {
  if (meta.status !== "running") return meta;
  return { ...meta, status: "paused", updated_at: isoFormat(nowMs) };
}

/** The meta of a thread that continues, whatever its status: an earlier error is cleared. */
export function resumedMeta(meta: StoredThreadMeta, nowMs: number): StoredThreadMeta {
  if (meta.status === "running") return meta;
  return { ...withoutError(meta), status: "running", updated_at: isoFormat(nowMs) };
}

/** Signatures cover the old content: a changed meta must not keep them. */
export function withoutSignatures(meta: StoredThreadMeta): StoredThreadMeta {
  if (!has(meta, "_signature") && !has(meta, "_signature2")) return meta;
  return withoutKeys(meta, ["_signature", "_signature2"]) as StoredThreadMeta;
}

/** The file's text: Python's `json.dumps(meta, indent=2)`, without a final newline. */
export function formatThreadMeta(meta: StoredThreadMeta): string {
  return pythonJsonFile(meta);
}

/** A new start's fields replace the old ones; other fields, and the creation time, stay. */
function startedAgain(meta: StoredThreadMeta, event: RyeEvent): StoredThreadMeta {
  const said = metaAtStart(meta.thread_id, event);
  const given = STRING_FIELDS.filter((key) => has(event.data, key)).map((key) => [key, said[key]]);
  return {
    ...said,
    ...withoutError(meta),
    ...Object.fromEntries(given),
    ...kept(event.data),
    status: "running",
    created_at: meta.created_at ?? said.created_at,
    updated_at: said.updated_at,
  };
}

function ended(
  meta: StoredThreadMeta,
  event: RyeEvent,
  status: "completed" | "error",
): StoredThreadMeta {
  const cost = recordedCostOf(event);
  const error = status === "error" ? (errorOf(event) ?? { code: "", detail: "" }) : null;
  return {
    ...withoutError(meta),
    status,
    updated_at: event.ts ?? meta.updated_at ?? "",
    ...(cost && { cost }),
    ...(error && { error }),
    ...kept(event.data),
  };
}

function kept(data: JsonObject): JsonObject {
  return Object.fromEntries(
    KEPT_FIELDS.filter((key) => has(data, key)).map((key) => [key, get(data, key)]),
  );
}

function withoutError(meta: StoredThreadMeta): StoredThreadMeta {
  return withoutKeys(meta, ["error"]) as StoredThreadMeta;
}
