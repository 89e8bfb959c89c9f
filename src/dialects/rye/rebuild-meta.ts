/**
 * Rebuild meta: makes `thread.json` from the events alone, if the file is missing or corrupt.
 *
 * A fold, so that a log of any length is read in constant memory. As in the thread-transcripts
 * document: the first start, completion and error count; any error makes the status `error`; times
 * are those of the first and the last event.
 */

import { getString, type JsonObject } from "../shared/fields.ts";
import type { RyeEvent } from "./envelope.ts";
import { errorOf, recordedCostOf } from "./facts.ts";
import { metaAtStart, type ThreadMeta } from "./thread-meta.ts";

interface Ending {
  readonly cost: JsonObject | undefined;
  readonly error: { readonly code: string; readonly detail: string } | null;
}

export class MetaRebuilder {
  readonly #threadId: string;
  #hasEvents = false;
  #firstTs: string | null = null;
  #lastTs: string | null = null;
  #start: ThreadMeta | null = null;
  #complete: Ending | null = null;
  #error: Ending | null = null;
  // From other events, used if there is no start: real threads may leave it out.
  #directive: string | null = null;
  #model: string | null = null;

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  add(event: RyeEvent): void {
    // `created_at` is the first event's time even if that is missing, as in the document.
    if (!this.#hasEvents) this.#firstTs = event.ts;
    this.#hasEvents = true;
    this.#lastTs = event.ts ?? this.#lastTs;
    this.#directive ??= event.directive;
    this.#model ??= getString(event.data, "model");
    if (event.meaning === "thread_start") this.#start ??= metaAtStart(this.#threadId, event);
    if (event.meaning === "thread_complete") this.#complete ??= endingOf(event);
    if (event.meaning === "thread_error") this.#error ??= endingOf(event);
  }

  /** The meta from the events so far; null if there were none. */
  meta(): ThreadMeta | null {
    if (!this.#hasEvents) return null;
    const cost = this.#complete ? (this.#complete.cost ?? {}) : this.#error?.cost;
    const start: ThreadMeta = this.#start ?? {
      thread_id: this.#threadId,
      directive: this.#directive ?? "",
      model: this.#model ?? "",
      provider: "",
      status: "running",
      thread_mode: "single",
      parent_thread_id: null,
      created_at: "",
      updated_at: "",
    };
    return {
      ...start,
      status: this.#error ? "error" : this.#complete ? "completed" : "running",
      created_at: this.#firstTs ?? "",
      updated_at: this.#lastTs ?? "",
      ...(cost && { cost }),
      ...(this.#error && { error: this.#error.error ?? { code: "", detail: "" } }),
      reconstructed: true,
    };
  }
}

/** The same for events in memory. */
export function reconstructMeta(threadId: string, events: Iterable<RyeEvent>): ThreadMeta | null {
  const rebuilder = new MetaRebuilder(threadId);
  for (const event of events) rebuilder.add(event);
  return rebuilder.meta();
}

function endingOf(event: RyeEvent): Ending {
  return { cost: recordedCostOf(event), error: errorOf(event) };
}
