/**
 * Entry feed: passes the entries of a session to the pipeline that are part of its conversation, in the
 * order in which they count: without another agent's, retracted and summarised ones.
 */

import { isCheckpoint } from "../store/mapping.ts";
import type { VerifiedEntry } from "../verifying/verified-entries.ts";
import { Compacted } from "./compacted.ts";
import { agentIn, type Dialect } from "./fork/fork.ts";
import { OwnLog } from "./own-log.ts";
import type { Pipeline } from "./pipeline.ts";
import { TakenBack } from "./taken-back.ts";

export class EntryFeed {
  readonly #pipeline: Pipeline;
  readonly #dialect: Dialect;
  readonly #id: string | null;
  readonly #ownLog: OwnLog;
  readonly #takenBack: TakenBack;
  readonly #compacted: Compacted;
  #checkpoints = 0;
  messages = 0;
  /** The dialect understands a line, and does not only keep it. */
  isUnderstood = false;
  /** The last agent that an id or a line names; null where neither does. */
  agent: string | null = null;

  /** `id` is the session's; null when unknown. */
  constructor(pipeline: Pipeline, dialect: Dialect, id: string | null) {
    this.#pipeline = pipeline;
    this.#dialect = dialect;
    this.#id = id;
    this.#compacted = new Compacted(dialect, (entry) => {
      const { kind, native } = entry;
      const isSilent =
        kind !== "other" || isCheckpoint(native) || dialect.isSilent?.(native) !== false;
      pipeline.add(isSilent ? entry : { ...entry, isUnknown: true });
    });
    this.#takenBack = new TakenBack(dialect, (entry) => this.#compacted.add(entry));
    this.#ownLog = new OwnLog(dialect, id, (entry) => this.#takenBack.add(entry));
  }

  /** Lines so far, once all were passed on; without checkpoints. */
  get lines(): number {
    return this.#pipeline.entries - this.#checkpoints;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: VerifiedEntry): void {
    if (entry.kind === "message") this.messages++;
    if (isCheckpoint(entry.native)) this.#checkpoints++;
    this.isUnderstood ||= entry.kind !== "other";
    this.#ownLog.add(entry);
    this.agent = agentIn(this.#dialect.name, this.#id, entry.native) ?? this.agent;
  }

  /** Passes on held entries. Call at the end. */
  finish(): void {
    this.#ownLog.finish();
    this.#takenBack.finish();
    this.#compacted.finish();
  }
}
