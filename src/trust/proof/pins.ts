/**
 * Pins: the state that the lines of `heads.jsonl` add up to, and how a log is judged by its pinned
 * head. Format: docs/formats/heads.md.
 *
 * PB1  A pin moves forward by itself, never back: a line `signed` or `verified` counts only when it
 *     is ahead of the pin of the same session and log. So two processes may write in any order.
 *     Moving back takes a person (`accepted`).
 * - A pin too many raises an alarm that a person can end; a pin too few is silent. So in doubt a
 *   head stays pinned.
 * - A tombstone says that a session was deleted with its pinned head. One with another head says
 *   nothing, and the session stays pinned.
 * PB3  The needed lines give the same state as all lines.
 */

import type { Pin } from "./pin.ts";

/** The pin of a session. */
export interface SessionPin {
  readonly pin: Pin;
  /** With an accepted pin: the head that a person gave up for it. */
  readonly lost: Pin | null;
  /** The pinned session was deleted, as a tombstone says. Whether that is signed is not judged. */
  readonly deleted?: Pin;
}

/** A session to look up. */
export interface PinLookup {
  readonly place: string;
  readonly id: string;
  /** The id that the log itself states; null when it has no checkpoint. */
  readonly log: string | null;
}

/** A pin, and how many lines came before it. */
interface OrderedPin {
  readonly pin: Pin;
  readonly order: number;
}

/** All pins of one session at one place. */
interface Entry {
  newest: OrderedPin;
  /** By the log's id: a log that was replaced may continue elsewhere. */
  readonly byLog: Map<string, OrderedPin>;
  /** The pin before a person accepted another; null once signing has continued. */
  given: OrderedPin | null;
  /** The tombstone with the newest head. */
  deleted: OrderedPin | null;
}

export class PinBook {
  readonly #entries = new Map<string, Entry>();
  #count = 0;

  /** Adds the next line. */
  add(pin: Pin): void {
    const held = { pin, order: this.#count++ };
    const key = keyOf(pin);
    const entry = this.#entries.get(key);
    if (pin.why === "forgotten") {
      this.#entries.set(key, { newest: held, byLog: new Map(), given: null, deleted: null });
      return;
    }
    if (pin.why === "deleted") {
      if (entry && isSameHead(entry.newest.pin, pin)) entry.deleted = held;
      return;
    }
    // A session that was restored: it was verified again.
    const isBack = entry?.deleted && pin.why === "verified" && isSameHead(entry.newest.pin, pin);
    if (isBack) entry.deleted = null;
    const newestPin = entry?.byLog.get(pin.log);
    if (newestPin && pin.why !== "accepted" && pin.seq <= newestPin.pin.seq) return; // PB1
    if (!entry) {
      const byLog = new Map([[pin.log, held]]);
      this.#entries.set(key, { newest: held, byLog, given: null, deleted: null });
      return;
    }
    entry.deleted = null;
    if (pin.why !== "accepted") entry.given = null;
    else if (entry.newest.pin.why !== "forgotten") entry.given ??= entry.newest;
    entry.newest = held;
    entry.byLog.set(pin.log, held);
  }

  /**
   * The pin of a session: by its place and id, else by its log's id, in case it was moved or
   * copied; null when there is none.
   */
  lookup({ place, id, log }: PinLookup): SessionPin | null {
    const entry = this.#entries.get(keyOf({ place, id }));
    if (entry && entry.newest.pin.why !== "forgotten") return pinnedOf(entry);
    if (log === null) return null;
    let newestPin: OrderedPin | null = null;
    for (const { byLog } of this.#entries.values()) {
      const held = byLog.get(log);
      if (held && held.order > (newestPin?.order ?? -1)) newestPin = held;
    }
    return newestPin && { pin: newestPin.pin, lost: null };
  }

  /** The pin of each session at each place, in the order of the lines. */
  current(): SessionPin[] {
    return [...this.#entries.values()]
      .filter(({ newest }) => newest.pin.why !== "forgotten")
      .sort((one, other) => one.newest.order - other.newest.order)
      .map(pinnedOf);
  }

  /** Every pin in force, one for each session and log, in the order of the lines. */
  pins(): Pin[] {
    return inOrder([...this.#entries.values()].flatMap(({ byLog }) => [...byLog.values()]));
  }

  /** The lines that are enough to rebuild this book, in order (PB3). */
  needed(): Pin[] {
    const needed = new Set<OrderedPin>();
    for (const { newest, byLog, given, deleted } of this.#entries.values()) {
      needed.add(newest);
      if (deleted) needed.add(deleted);
      for (const held of byLog.values()) needed.add(held);
      if (given) needed.add(given);
    }
    return inOrder([...needed]);
  }
}

function inOrder(held: OrderedPin[]): Pin[] {
  return held.sort((one, other) => one.order - other.order).map(({ pin }) => pin);
}

/** Whether a line may affect a lookup: all others can be skipped. */
export function concerns(pin: Pin, { place, id, log }: PinLookup): boolean {
  return pin.log === log || pin.why === "forgotten" || (pin.id === id && pin.place === place);
}

/** A head is lost unless the accepted one is the same. */
function pinnedOf({ newest, given, deleted }: Entry): SessionPin {
  const isLost = given !== null && given.pin.line !== newest.pin.line;
  const lost = isLost ? given.pin : null;
  return { pin: newest.pin, lost, ...(deleted && { deleted: deleted.pin }) };
}

function isSameHead(one: Pin, other: Pin): boolean {
  return (
    one.why !== "forgotten" &&
    one.log === other.log &&
    one.seq === other.seq &&
    one.line === other.line
  );
}

function keyOf({ place, id }: { readonly place: string; readonly id: string }): string {
  return `${place}\0${id}`;
}

/** The checkpoints of a log, as far as a pin is compared with them. */
export interface PinnableLog {
  /** Its id; null when it has no checkpoint, or is missing. */
  readonly log: string | null;
  /** Its newest checkpoint. */
  readonly seq: number;
  /** SHA-256 of the line of checkpoint `seq`; null when there is no such checkpoint. */
  lineAt(seq: number): string | null;
}

/** `match`: the newest checkpoint is the pinned one. `ahead`: it is a later one. */
export type Freshness = "match" | "ahead" | "none";

/**
 * `REPLACED`: this is another log. `BEHIND`: it ends before the pinned checkpoint. `FORK`: it has
 * another checkpoint with that number.
 */
export type Rollback = "REPLACED" | "BEHIND" | "FORK";

export type PinJudgement =
  | { readonly freshness: Freshness; readonly rollback: null }
  | { readonly freshness: null; readonly rollback: Rollback };

/** Whether a log still has its pinned head. */
export function judgePin(pin: Pin | null, file: PinnableLog): PinJudgement {
  if (pin === null) return { freshness: "none", rollback: null };
  if (file.log === null) return { freshness: null, rollback: "BEHIND" };
  if (file.log !== pin.log) return { freshness: null, rollback: "REPLACED" };
  const line = file.lineAt(pin.seq);
  if (line === null) return { freshness: null, rollback: "BEHIND" };
  if (line !== pin.line) return { freshness: null, rollback: "FORK" };
  return { freshness: file.seq > pin.seq ? "ahead" : "match", rollback: null };
}
