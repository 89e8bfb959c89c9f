/**
 * Links: the streams that one subscription follows, how far each was acknowledged, and which wait.
 *
 * A stream is followed because a request named it (explicit) or because the pattern does (glob).
 *
 * LK1  Only what must be remembered is kept: that a stream was named, and how far it was
 *      acknowledged. A stream without a link that the pattern names came after the subscription,
 *      and none of it was acknowledged; so nothing is written when one appears.
 * LK2  A stream waits if and only if its end is past both what was acknowledged and its floor. So an
 *      acknowledgement of a stream that was deleted says nothing about one made later (K1).
 */

import { formatOffset, type OffsetToken } from "../streams/offset-token.ts";
import type { StreamEnds } from "./ends.ts";
import { Glob, segmentsOf } from "./glob.ts";

export interface Link {
  readonly isExplicit: boolean;
  /** Null: nothing was acknowledged, from the stream's floor on. */
  readonly cursor: OffsetToken | null;
}

/** What a worker is told of one stream. */
export interface LinkedStream {
  readonly path: string;
  readonly linkType: "explicit" | "glob";
  readonly acked: OffsetToken;
  readonly tail: OffsetToken;
  readonly hasPending: boolean;
}

/** Links as they are to be; null: none. */
export type LinkChanges = ReadonlyMap<string, Link | null>;

const ZERO = formatOffset(0, 0);

export class Links {
  readonly #ends: StreamEnds;
  readonly #glob: Glob | null;
  /** Never followed because of the pattern: each wake would wake again. */
  readonly #wakeStream: string | null;
  readonly #links = new Map<string, Link>();
  /** Streams that exist and are followed. */
  readonly #streams = new Set<string>();
  /** Those that wait, the longest first. */
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

  /** `segments` are the path's, for whoever asks many subscriptions about one stream. */
  follows(path: string, segments?: readonly string[]): boolean {
    return this.isExplicit(path) || this.isMatched(path, segments);
  }

  isExplicit(path: string): boolean {
    return this.#links.get(path)?.isExplicit === true;
  }

  /** Whether the pattern names it. */
  isMatched(path: string, segments = segmentsOf(path)): boolean {
    return this.#glob !== null && path !== this.#wakeStream && this.#glob.matches(segments);
  }

  get(path: string): Link | null {
    return this.#links.get(path) ?? null;
  }

  /** Takes changes over, which are durable by now. */
  apply(changes: LinkChanges): void {
    for (const [path, link] of changes) {
      if (this.isExplicit(path)) this.#explicitCount--;
      if (link === null) this.#links.delete(path);
      else this.#links.set(path, link);
      if (link?.isExplicit === true) this.#explicitCount++;
      this.refresh(path);
    }
  }

  /** The stream grew, was made or deleted, or its link changed. */
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

  /** The stream, followed already, grew: the quick part of `refresh`. */
  grew(path: string): void {
    this.#streams.add(path);
    if (!this.#pending.has(path)) this.refresh(path);
  }

  /** Up to where it was acknowledged, in terms of the stream that is there now (LK2). */
  acked(path: string): OffsetToken {
    return this.#ackedWith(path, this.#links.get(path)?.cursor ?? null);
  }

  /** Whether streams would wait if these changes were made. */
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

  /** Those that wait, up to `pendingMax`; and while these are fewer than `othersMax`, others. */
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

  /** All that are followed, in order of path; those named that do not exist yet too. */
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
