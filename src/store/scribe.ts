/**
 * Scribe: gives the lines of a session their last shape, with the log's lock held.
 *
 * Each line names the one before it, whoever wrote that; so what a line says is known only when
 * nobody else can append any more. What can be done before that is: judging, splitting, encoding.
 *
 * SB1  What the scribe knows of the log is what stands in it. A draft that was not written changes
 *      nothing; one that was is taken over when the log has acknowledged it.
 * SB2  When it cannot find out what the log ends in, it composes nothing.
 */

import type { Host } from "../base/host.ts";
import { type ByteOffset, START, toByteOffset } from "../base/offset.ts";
import type { Chain, Dialect, Native, SpillFile } from "../dialects/dialect.ts";
import type { Companion } from "../log/companion.ts";
import { encodeLine } from "../log/json.ts";
import { LogReader } from "../log/reader.ts";
import { SPILL_TOOLS } from "./spill-files.ts";

const LF = Buffer.of(0x0a);

/** A line as far as it can be made without the lock. */
export interface Prepared {
  /** As the caller gave it, and completed. */
  readonly whole: Native;
  /** What will be written, but for its link. */
  readonly native: Native;
  /** To be written before the line. */
  readonly spills: readonly SpillFile[];
  /** The line after the one of that name, which is the right one unless others get in between. */
  readonly line: Uint8Array;
  readonly previous: string | null;
  readonly id: string | null;
}

export interface ScribeParts {
  readonly host: Host;
  readonly root: string;
  readonly logId: string;
  readonly dialect: Dialect;
  readonly chain: Chain;
  /** Told of each line that is about to be written, and what it says. */
  readonly expect: (line: Uint8Array, native: Native) => void;
}

export class Scribe {
  readonly #parts: ScribeParts;
  /** The name of the last line in the log that has one. */
  #last: string | null = null;
  /** Up to where the log was looked at. */
  #end: ByteOffset = START;
  /** The last line prepared: what the next will likely follow. */
  #expected: string | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(parts: ScribeParts) {
    this.#parts = parts;
  }

  /** Everything about a line that needs no lock. */
  prepare(whole: Native): Prepared {
    const { chain, dialect } = this.#parts;
    const { spilling } = dialect;
    const previous = this.#expected;
    let line = encodeLine(chain.link(whole, previous));
    let native = whole;
    let spills: readonly SpillFile[] = [];
    if (spilling && line.length > spilling.lineBytesMax) {
      ({ native, files: spills } = spilling.split(whole, SPILL_TOOLS));
      line = encodeLine(chain.link(native, previous));
    }
    const id = chain.idOf(whole);
    if (id !== null) this.#expected = id;
    return { whole, native, spills, line, previous, id };
  }

  /** Lines that are to follow what now stands in the log. With the lock held, and caught up. */
  draft(): Draft {
    if (this.#failure) throw this.#failure.error; // SB2
    const { chain, expect } = this.#parts;
    const commit = (last: string | null) => {
      this.#last = last;
    };
    return new Draft({ chain, expect, commit }, this.#last);
  }

  /** The log ends here, and not all of it is ours: looks for the last name, backward. */
  async caughtUp(end: ByteOffset): Promise<void> {
    try {
      const found = await this.#lastNamed(this.#end, end);
      if (found !== null) this.#last = found;
      this.#expected = this.#last;
      this.#failure = null;
      this.#end = end;
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Lines of our own, up to there. */
  appended(end: ByteOffset): void {
    this.#end = end;
  }

  async #lastNamed(from: ByteOffset, to: ByteOffset): Promise<string | null> {
    const { host, logId, root, chain } = this.#parts;
    if (from >= to) return null;
    const reader = new LogReader(host, logId, { root, onBadLine: "skip" });
    for await (const { value } of reader.backward({ from, to })) {
      const id = chain.idOf(value);
      if (id !== null) return id;
    }
    return null;
  }
}

interface DraftParts extends Pick<ScribeParts, "chain" | "expect"> {
  readonly commit: (last: string | null) => void;
}

/** Lines in the making; nothing of them counts before `commit` (SB1). */
export class Draft {
  readonly #parts: DraftParts;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;
  #last: string | null;

  constructor(parts: DraftParts, last: string | null) {
    this.#parts = parts;
    this.#last = last;
  }

  /** Adds a line; answers where it ends, in bytes from the draft's start. */
  add({ whole, native, line, previous, id }: Prepared): number {
    const { chain, expect } = this.#parts;
    const isRight = previous === this.#last;
    const linked = isRight ? line : encodeLine(chain.link(native, this.#last));
    expect(linked, whole);
    this.#chunks.push(linked, LF);
    this.#length += linked.length + 1;
    if (id !== null) this.#last = id;
    return this.#length;
  }

  get lines(): Uint8Array {
    return Buffer.concat(this.#chunks, this.#length);
  }

  /** The lines stand in the log. */
  commit(): void {
    this.#parts.commit(this.#last);
  }
}

/** The log's companion when both a scribe and what stands beside the log must be in step with it. */
export function companionOf(scribe: Scribe, beside: Companion | null): Companion {
  return {
    async caughtUp(end) {
      await scribe.caughtUp(end);
      await beside?.caughtUp(end);
    },
    appended(lines, length, start) {
      scribe.appended(toByteOffset(start + length));
      beside?.appended(lines, length, start);
    },
    async madeDurable() {
      await beside?.madeDurable();
    },
    close() {
      beside?.close();
    },
  };
}
