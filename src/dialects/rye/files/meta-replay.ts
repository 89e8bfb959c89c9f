/**
 * Rye meta replay: what a thread's events make of its thread.json, and whether it says so.
 *
 * The events are followed from the stored file on, as a writer does (`thread-meta.ts`): what they
 * say replaces what stands there, and what only the file says, stays. So a file of another program,
 * with more in it or some of it left out, is stale only where the log contradicts it.
 *
 * MR1  `paused`, and statuses that are not ours, are not in the log: they are not judged by it. An
 *      end is, and so is going on after one.
 */

import { get, has, isObject } from "../../fields.ts";
import type { RyeEvent } from "../envelope.ts";
import { pythonJsonFile } from "../python.ts";
import { metaAfter, resumedMeta, type StoredThreadMeta } from "../thread-meta.ts";
import { parseTime } from "../time.ts";
import { GOES_ON } from "./thread-beside.ts";

/** What events determine, besides the status and what goes with it. */
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
  /** The log has an end somewhere: from there on it knows how the thread stands. */
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

  /** The stored file with what the log says of the stale fields. */
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

  /** MR1 */
  #isStatusStale(): boolean {
    const { status } = this.#stored;
    if (!this.#hasEnded || !OUR_STATUSES.includes(status)) return false;
    const said = this.#meta.status;
    if (said === "running") return status === "completed" || status === "error";
    return status !== said || (said === "error" && !agrees(this.#stored, this.#meta, "error"));
  }
}

/** Whether what `stored` has of a field agrees with `said`. Others leave fields out, or have more. */
function agrees(stored: StoredThreadMeta, said: StoredThreadMeta, key: string): boolean {
  const [found, wanted] = [get(stored, key), get(said, key)];
  if (!isObject(found) || !isObject(wanted)) return isSame(found, wanted);
  return Object.keys(wanted).every((inner) => isSame(get(found, inner), get(wanted, inner)));
}

/** By their text in the file: lines may be nested deeper than a comparison could follow. */
function isSame(found: unknown, wanted: unknown): boolean {
  if (found === undefined || wanted === undefined || found === wanted) return true;
  return pythonJsonFile(found) === pythonJsonFile(wanted);
}

function timeOf({ ts }: RyeEvent): number {
  return (ts === null ? null : parseTime(ts))?.ms ?? 0;
}
