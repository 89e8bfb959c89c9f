/**
 * Links: the streams that one subscription follows, their acknowledged offsets, and which are
 * pending.
 *
 * A stream is followed because a request named it (explicit) or because the pattern matches (glob).
 *
 * Only two things are stored: that a stream was named, and its acknowledged offset. A stream
 * without a link that the pattern matches was created after the subscription, and none of it was
 * acknowledged; so nothing is written when one appears.
 *
 * LK2  A stream is pending if and only if its end is past both the acknowledged offset and its
 * floor. So an acknowledgement of a deleted stream has no effect on one created later at the same
 * path.
 */

import { formatOffset, type OffsetToken } from "../files/offset-token.ts";
import type { StreamHead } from "../files/stream-store.ts";
import { Glob, segmentsOf } from "./glob.ts";

export interface StreamEnd {
  /** Unacknowledged data begins here: a fork's inherited part is history. */
  readonly floor: OffsetToken;
  readonly end: OffsetToken;
}

/**
 * Where each followed stream begins and ends, as far as this process knows.
 *
 * EN1  A change notification is newer than a lookup: a lookup that was running meanwhile neither
 * moves an end back nor revives a deleted stream.
 */
export class StreamEnds {
  readonly #ends = new Map<string, StreamEnd>();
  readonly #deletedMeanwhile = new Set<string>();
  #lookups = 0;

  get(path: string): StreamEnd | undefined {
    return this.#ends.get(path);
  }

  /** A followed stream changed. */
  changed(path: string, head: StreamHead): void {
    this.#ends.set(path, { floor: head.fork?.at ?? head.start, end: head.end });
  }

  /** A stream was deleted, followed or not. */
  deleted(path: string): void {
    this.#ends.delete(path);
    if (this.#lookups > 0) this.#deletedMeanwhile.add(path);
  }

  /** The stream has no follower any more, so changes are not tracked. */
  forget(path: string): void {
    this.#ends.delete(path);
  }

  /** Looks streams up; `learn` is called for each stream to follow. */
  async lookUp(work: (learn: (head: StreamHead) => void) => Promise<void>): Promise<void> {
    this.#lookups++;
    try {
      await work((head) => {
        if (this.#ends.has(head.path) || this.#deletedMeanwhile.has(head.path)) return; // EN1
        this.changed(head.path, head);
      });
    } finally {
      this.#lookups--;
      if (this.#lookups === 0) this.#deletedMeanwhile.clear();
    }
  }
}

export interface StreamLink {
  readonly isExplicit: boolean;
  /** Null: nothing was acknowledged, from the stream's floor on. */
  readonly cursor: OffsetToken | null;
}

/** What a worker learns about one stream. */
export interface LinkedStream {
  readonly path: string;
  readonly linkType: "explicit" | "glob";
  readonly acked: OffsetToken;
  readonly tail: OffsetToken;
  readonly hasPending: boolean;
}

/** New links by path; null removes one. */
export type LinkChanges = ReadonlyMap<string, StreamLink | null>;

const ZERO = formatOffset(0, 0);

export class SubscriptionLinks {
  readonly #ends: StreamEnds;
  readonly #glob: Glob | null;
  /** Never followed because of the pattern: each wake would cause another one. */
  readonly #wakeStream: string | null;
  readonly #links = new Map<string, StreamLink>();
  /** Existing streams that are followed. */
  readonly #streams = new Set<string>();
  /** Pending streams, the longest first. */
  readonly #pending = new Set<string>();
  #explicitCount = 0;

  constructor(ends: StreamEnds, pattern: string | null, wakeStream: string | null) {
    this.#ends = ends;
    this.#glob = pattern === null ? null : new Glob(pattern);
    this.#wakeStream = wakeStream;
  }

  get explicitCount(): number {
    return this.#explicitCount;
  }

  get firstPending(): string | null {
    for (const path of this.#pending) return path;
    return null;
  }

  /** `segments` are the path's, for callers that check many subscriptions for one stream. */
  follows(path: string, segments?: readonly string[]): boolean {
    return this.isExplicit(path) || this.isMatched(path, segments);
  }

  isExplicit(path: string): boolean {
    return this.#links.get(path)?.isExplicit === true;
  }

  /** Whether the pattern matches it. */
  isMatched(path: string, segments = segmentsOf(path)): boolean {
    return this.#glob !== null && path !== this.#wakeStream && this.#glob.matches(segments);
  }

  get(path: string): StreamLink | null {
    return this.#links.get(path) ?? null;
  }

  /** Applies changes that are durable by now. */
  apply(changes: LinkChanges): void {
    for (const [path, link] of changes) {
      if (this.isExplicit(path)) this.#explicitCount--;
      if (link === null) this.#links.delete(path);
      else this.#links.set(path, link);
      if (link?.isExplicit === true) this.#explicitCount++;
      this.refresh(path);
    }
  }

  /** The stream grew, was created or deleted, or its link changed. */
  refresh(path: string): void {
    const end = this.#ends.get(path);
    if (end === undefined || !this.follows(path)) {
      this.#streams.delete(path);
      this.#pending.delete(path);
      return;
    }
    this.#streams.add(path);
    if (end.end > this.acked(path)) this.#pending.add(path);
    else this.#pending.delete(path);
  }

  /** The stream, already followed, grew: the fast path of `refresh`. */
  grew(path: string): void {
    this.#streams.add(path);
    if (!this.#pending.has(path)) this.refresh(path);
  }

  /** The acknowledged offset within the stream that exists now (LK2). */
  acked(path: string): OffsetToken {
    return this.#ackedWith(path, this.#links.get(path)?.cursor ?? null);
  }

  /** Whether streams would be pending after these changes. */
  isPendingAfter(changes: LinkChanges): boolean {
    for (const path of this.#pending) {
      const change = changes.get(path);
      if (change === undefined) return true;
      const end = this.#ends.get(path);
      if (change === null || end === undefined) continue;
      if (end.end > this.#ackedWith(path, change.cursor)) return true;
    }
    return false;
  }

  /** Up to `pendingMax` pending streams; if these are fewer than `othersMax`, others too. */
  snapshot(pendingMax: number, othersMax: number): LinkedStream[] {
    const streams: LinkedStream[] = [];
    for (const path of this.#pending) {
      if (streams.length === pendingMax) return streams;
      streams.push(this.describe(path));
    }
    for (const path of this.#streams) {
      if (streams.length >= othersMax) break;
      if (!this.#pending.has(path)) streams.push(this.describe(path));
    }
    return streams;
  }

  /** All followed streams, in order of path, including named ones that do not exist yet. */
  paths(): string[] {
    const paths = new Set(this.#streams);
    for (const [path, { isExplicit }] of this.#links) if (isExplicit) paths.add(path);
    return [...paths].sort();
  }

  describe(path: string): LinkedStream {
    return {
      path,
      linkType: this.isExplicit(path) ? "explicit" : "glob",
      acked: this.acked(path),
      tail: this.#ends.get(path)?.end ?? ZERO,
      hasPending: this.#pending.has(path),
    };
  }

  #ackedWith(path: string, cursor: OffsetToken | null): OffsetToken {
    const floor = this.#ends.get(path)?.floor ?? ZERO;
    return cursor !== null && cursor > floor ? cursor : floor;
  }
}
