/**
 * Rye meta replay: applies a thread's events to its thread.json, and checks that the file agrees.
 *
 * The events are applied to the stored file, as a writer does (`thread-meta.ts`): their values
 * replace the stored ones, and values only in the file stay. So another program's file, with more
 * or fewer fields, is stale only where the log contradicts it.
 *
 * `paused` and unknown statuses are not in the log, and not checked against it. An end is, and so
 * is continuing after one.
 */

import { get, has, isObject } from "../../shared/fields.ts";
import type { RyeEvent } from "../envelope.ts";
import { pythonJsonFile } from "../python.ts";
import { metaAfter, resumedMeta, type StoredThreadMeta } from "../thread-meta.ts";
import { parseTime } from "../time.ts";
import { GOES_ON } from "./derived-files.ts";

/** Fields that events determine, besides the status and its fields. */
const SAID_FIELDS = [
  "thread_id",
  "directive",
  "model",
  "provider",
  "thread_mode",
  "parent_thread_id",
  "inputs",
  "capabilities",
  "limits",
  "outputs",
  "cost",
];
const OUR_STATUSES = ["running", "completed", "error", "paused"];

export class RyeMetaReplay {
  readonly #threadId: string;
  readonly #stored: StoredThreadMeta;
  #meta: StoredThreadMeta;
  /** The log has an end: from there on it determines the status. */
  #hasEnded = false;

  constructor(threadId: string, stored: StoredThreadMeta) {
    this.#threadId = threadId;
    this.#stored = stored;
    this.#meta = stored;
  }

  add(event: RyeEvent): void {
    const { meaning } = event;
    if (meaning === "thread_complete" || meaning === "thread_error") this.#hasEnded = true;
    const meta = metaAfter(this.#threadId, this.#meta, event);
    const goesOn = meta === this.#meta && GOES_ON.has(meaning ?? "");
    this.#meta = goesOn ? resumedMeta(meta, timeOf(event)) : meta;
  }

  /** The fields in which the stored file contradicts the log. */
  staleFields(): string[] {
    const stale = SAID_FIELDS.filter((key) => !agrees(this.#stored, this.#expected(), key));
    return this.#isStatusStale() ? ["status", ...stale] : stale;
  }

  /** The stored file with the log's values for the stale fields. */
  mended(): StoredThreadMeta {
    const stale = this.staleFields();
    const { status, updated_at, error, ...fields } = this.#expected();
    const said = stale.filter((key) => has(fields, key)).map((key) => [key, fields[key]]);
    const mended = { ...this.#stored, ...Object.fromEntries(said) };
    if (!stale.includes("status")) return mended;
    const { error: _, ...withoutError } = mended;
    return { ...withoutError, status, updated_at, ...(error !== undefined && { error }) };
  }

  #expected(): StoredThreadMeta {
    return { ...this.#meta, thread_id: this.#threadId };
  }

  /** Only an end, or continuing after one, is checked. */
  #isStatusStale(): boolean {
    const { status } = this.#stored;
    if (!this.#hasEnded || !OUR_STATUSES.includes(status)) return false;
    const said = this.#meta.status;
    if (said === "running") return status === "completed" || status === "error";
    return status !== said || (said === "error" && !agrees(this.#stored, this.#meta, "error"));
  }
}

/** Whether a field of `stored` agrees with `said`. Other writers leave fields out, or add some. */
function agrees(stored: StoredThreadMeta, said: StoredThreadMeta, key: string): boolean {
  const [found, wanted] = [get(stored, key), get(said, key)];
  if (!isObject(found) || !isObject(wanted)) return isSame(found, wanted);
  return Object.keys(wanted).every((inner) => isSame(get(found, inner), get(wanted, inner)));
}

/** Compared as text: values may be nested deeper than a recursive comparison could follow. */
function isSame(found: unknown, wanted: unknown): boolean {
  if (found === undefined || wanted === undefined || found === wanted) return true;
  return pythonJsonFile(found) === pythonJsonFile(wanted);
}

function timeOf({ ts }: RyeEvent): number {
  return (ts === null ? null : parseTime(ts))?.ms ?? 0;
}
