/**
 * Own log: decides whose rows are the conversation of a log.
 *
 * - In a session's log a subagent's rows are not part of the conversation; in the subagent's own
 *   log they are. A log is a subagent's when its id says so, or when it has no message of another
 *   agent, whatever its id is. Rows are held until one comes, or the end: a session's log may begin
 *   with a subagent's.
 * - Held entries count against the limit, as in taken-back.ts (TB1).
 */

import { relative } from "node:path";
import type { LockHolder } from "../core/base/errors.ts";
import type { Host } from "../core/base/host.ts";
import { writerOf } from "../core/log/lock.ts";
import { openLogPath } from "../core/log/log-path.ts";
import type { Aside } from "../core/model/entry.ts";
import type { Reading } from "../dialects/facets/reading.ts";
import type { VerifiedEntry } from "../evidence/verify/verified-entries.ts";
import type { GatheredEntry } from "./gather.ts";
import { Room } from "./room.ts";

type Judged = VerifiedEntry & Pick<GatheredEntry, "aside">;

export class OwnLogFilter {
  readonly #reading: Pick<Reading, "asideOf">;
  readonly #id: string | null;
  readonly #pass: (entry: Judged) => void;
  readonly #room = new Room();
  #held: VerifiedEntry[] = [];
  /** A message of the session's own agent came. */
  #isKnown = false;
  #isFinished = false;
  /** Rows were passed on as those of a subagent's own log. */
  #isSubagents = false;

  /** `id` is the session's; null when unknown. */
  constructor(reading: Pick<Reading, "asideOf">, id: string | null, pass: (entry: Judged) => void) {
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
