/**
 * Entry feed: passes the entries of a session to the pipeline that are part of its conversation, in the
 * order in which they count: without another agent's, retracted and summarised ones.
 *
 * Own log: decides whose rows are the conversation of a log.
 *
 * - In a session's log a subagent's rows are not part of the conversation; in the subagent's own
 *   log they are. A log is a subagent's when its id says so, or when it has no message of another
 *   agent, whatever its id is. Rows are held until one comes, or the end: a session's log may begin
 *   with a subagent's.
 * - Held entries count against the limit, as in retractions.ts (TB1).
 */

import { relative } from "node:path";
import type { LockHolder } from "../core/base/errors.ts";
import type { Host } from "../core/base/host.ts";
import { writerOf } from "../core/log/lock.ts";
import { openLogPath } from "../core/log/log-path.ts";
import type { Aside } from "../core/model/entry.ts";
import type { Reading } from "../dialects/facets/reading.ts";
import type { Compaction, TurnRules } from "../dialects/facets/turns.ts";
import type { VerifiedEntry } from "../evidence/verify/verified-entries.ts";
import { isCheckpoint } from "../sessions/store/entry-mapping.ts";
import { agentIn, type Dialect } from "./fork/fork.ts";
import type { GatheredEntry } from "./gather.ts";
import type { Pipeline } from "./pipeline.ts";
import { TakeBackFilter } from "./retractions.ts";
import { Room } from "./room.ts";

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

type FeedEntry = VerifiedEntry & Pick<GatheredEntry, "aside">;

export class Compacted {
  readonly #compaction: Compaction | undefined;
  readonly #pass: (entry: FeedEntry) => void;
  #room = new Room();
  #held: FeedEntry[] = [];
  /** The index of the last boundary among the held entries; null when none lacks its summary. */
  #boundary: number | null = null;
  /** What the boundary kept, to follow the summary. */
  #kept: FeedEntry[] = [];
  #isFinished = false;
  #isOutdated = false;

  constructor({ compaction }: Pick<TurnRules, "compaction">, pass: (entry: FeedEntry) => void) {
    this.#compaction = compaction;
    this.#pass = pass;
  }

  /** A summary came after `finish`. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: FeedEntry): void {
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
  #startOver(own: FeedEntry | null): void {
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

type OwnLogEntry = VerifiedEntry & Pick<GatheredEntry, "aside">;

export class OwnLogFilter {
  readonly #reading: Pick<Reading, "asideOf">;
  readonly #id: string | null;
  readonly #pass: (entry: OwnLogEntry) => void;
  readonly #room = new Room();
  #held: VerifiedEntry[] = [];
  /** A message of the session's own agent came. */
  #isKnown = false;
  #isFinished = false;
  /** Rows were passed on as those of a subagent's own log. */
  #isSubagents = false;

  /** `id` is the session's; null when unknown. */
  constructor(
    reading: Pick<Reading, "asideOf">,
    id: string | null,
    pass: (entry: OwnLogEntry) => void,
  ) {
    this.#reading = reading;
    this.#id = id;
    this.#pass = pass;
  }

  /** After `finish` a message came that shows that the log is not a subagent's. */
  get isOutdated(): boolean {
    return this.#isKnown && this.#isSubagents;
  }

  /** Refuses with RESUME_TOO_LARGE. */
  add(entry: VerifiedEntry): void {
    const isOthers = this.#asideOf(entry, false) === "other_agent";
    if (entry.kind === "message" && !isOthers) {
      this.#isKnown = true;
      this.#letGo(false);
    }
    const isFirst = this.#held.length === 0 && !this.#isSubagents;
    if (this.#isKnown || (!isOthers && isFirst)) {
      this.#passOn(entry, false);
      return;
    }
    this.#room.takeParts(Math.max(1, entry.parts.length), entry.line);
    this.#room.takeChars(entry.end - entry.start, entry.line);
    this.#held.push(entry);
    if (this.#isFinished) this.#letGo(true);
  }

  finish(): void {
    this.#isFinished = true;
    this.#letGo(true);
  }

  #letGo(isSubagents: boolean): void {
    this.#isSubagents ||= isSubagents && this.#held.length > 0;
    for (const entry of this.#held) this.#passOn(entry, isSubagents);
    this.#held = [];
  }

  #passOn(entry: VerifiedEntry, isSubagents: boolean): void {
    this.#pass({ ...entry, aside: this.#asideOf(entry, isSubagents) });
  }

  #asideOf({ native }: VerifiedEntry, isSubagents: boolean): Aside | null {
    return this.#reading.asideOf?.(native, this.#id, isSubagents) ?? null;
  }
}

/**
 * Whether another process is writing a session, for code that continues from it.
 *
 * Between two appends only `exclusive` writers are visible: a `shared` writer holds the lock only
 * during each append.
 *
 * The writer of the log, as its lock file names it; null when there is none, or it is this process.
 */
export async function otherWriterOf(
  host: Host,
  { root, path }: { readonly root: string; readonly path: string },
): Promise<LockHolder | null> {
  const place = await openLogPath(host, relative(root, path), { create: false, root });
  try {
    const holder = await writerOf(place.directory, place.name);
    const { pid, started } = host.process;
    const isOurs = holder !== null && holder !== "unknown" && holder.pid === pid;
    return isOurs && holder.started === started ? null : holder;
  } finally {
    place.directory.close();
  }
}
