/**
 * Entry feed: passes the entries of a session to the pipeline that are part of its conversation, in the
 * order in which they count: without another agent's, retracted and summarised ones.
 */

import type { Compaction, TurnRules } from "../dialects/facets/turns.ts";
import type { VerifiedEntry } from "../evidence/verify/verified-entries.ts";
import { isCheckpoint } from "../sessions/store/mapping.ts";
import { agentIn, type Dialect } from "./fork/fork.ts";
import type { GatheredEntry } from "./gather.ts";
import { OwnLogFilter } from "./own-log.ts";
import type { Pipeline } from "./pipeline.ts";
import { Room } from "./room.ts";
import { TakeBackFilter } from "./taken-back.ts";

export class EntryFeed {
  readonly #pipeline: Pipeline;
  readonly #dialect: Dialect;
  readonly #id: string | null;
  readonly #ownLog: OwnLogFilter;
  readonly #takenBack: TakeBackFilter;
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
    this.#compacted = new Compacted(dialect.turns, (entry) => {
      const { kind, native } = entry;
      const isSilent =
        kind !== "other" || isCheckpoint(native) || dialect.reading.isSilent?.(native) !== false;
      pipeline.add(isSilent ? entry : { ...entry, isUnknown: true });
    });
    this.#takenBack = new TakeBackFilter(dialect.turns, (entry) => this.#compacted.add(entry));
    this.#ownLog = new OwnLogFilter(dialect.reading, id, (entry) => this.#takenBack.add(entry));
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

  /**
   * Whether an entry after `finish` changed what earlier ones mean: feed all of them again.
   */
  get isOutdated(): boolean {
    return [this.#ownLog, this.#takenBack, this.#compacted].some(({ isOutdated }) => isOutdated);
  }

  /** Passes on held entries, and those that are added later at once. */
  finish(): void {
    this.#ownLog.finish();
    this.#takenBack.finish();
    this.#compacted.finish();
  }
}

type Held = VerifiedEntry & Pick<GatheredEntry, "aside">;

export class Compacted {
  readonly #compaction: Compaction | undefined;
  readonly #pass: (entry: Held) => void;
  #room = new Room();
  #held: Held[] = [];
  /** The index of the last boundary among the held entries; null when none lacks its summary. */
  #boundary: number | null = null;
  /** What the boundary kept, to follow the summary. */
  #kept: Held[] = [];
  #isFinished = false;
  #isOutdated = false;

  constructor({ compaction }: Pick<TurnRules, "compaction">, pass: (entry: Held) => void) {
    this.#compaction = compaction;
    this.#pass = pass;
  }

  /** A summary came after `finish`. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: Held): void {
    if (!this.#compaction) {
      this.#pass(entry);
      return;
    }
    this.#room.takeParts(Math.max(1, entry.parts.length), entry.line);
    this.#room.takeChars(entry.end - entry.start, entry.line);
    const isAside = Boolean(entry.aside);
    const isSummary = !isAside && this.#compaction.isSummary(entry.native);
    if (this.#isFinished) {
      this.#isOutdated ||= isSummary;
      this.#pass(entry);
      return;
    }
    const isBoundary = !isAside && this.#compaction.isBoundary(entry.native);
    if (isSummary) this.#startOver(isBoundary ? entry : null);
    else this.#held.push(...this.#kept.splice(0)); // After all rows of the summary.
    if (isBoundary && !isSummary) this.#boundary = this.#held.length;
    this.#held.push(entry);
  }

  finish(): void {
    this.#isFinished = true;
    for (const entry of [...this.#held, ...this.#kept]) this.#pass(entry);
    this.#held = [];
    this.#kept = [];
  }

  /** `own`: the summary, if it is its own boundary. */
  #startOver(own: Held | null): void {
    const last = this.#held.at(-1);
    // A summary in several rows is one.
    const isOne = own === null && last && !last.aside;
    if (isOne && this.#compaction?.isSummary(last.native)) return;
    const at = this.#boundary ?? this.#held.length;
    const before = [...this.#held.slice(0, at), ...(own === null ? [] : this.#kept.splice(0))];
    const boundary = this.#held[at] ?? own;
    const natives = before.map(({ native }) => native);
    const kept = (boundary && this.#compaction?.keptBy(boundary.native, natives)) ?? new Set();
    for (const entry of before) {
      if (kept.has(entry.native)) this.#kept.push(entry);
      else this.#pass(entry.aside ? entry : { ...entry, aside: "compacted" });
    }
    this.#held = this.#held.slice(at);
    this.#boundary = null;
    this.#room = new Room(); // Nothing is held any more.
  }
}
