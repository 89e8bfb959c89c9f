/**
 * Scribe: gives the lines of a session their last shape, with the log's lock held.
 *
 * A line may name the one before it, whoever wrote that, and checkpoints sign all that came before
 * them; so what is to be written is known only when nobody else can append any more. What can be
 * done before that is: judging, splitting, encoding.
 *
 * SB1  What the scribe knows of the log is what stands in it. A draft that was not written changes
 *      nothing; one that was is taken over when the log has acknowledged it.
 * SB2  When it cannot find out what the log ends in, it composes nothing.
 */

import { assert, ioError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { type ByteOffset, START, toByteOffset } from "../base/offset.ts";
import type { Chain, Dialect, Native, SpillFile } from "../dialects/dialect.ts";
import { SPILL_TOOLS } from "../dialects/files/spill-files.ts";
import type { Companion } from "../log/companion.ts";
import { encodeLine } from "../log/json.ts";
import { LogReader } from "../log/reader.ts";
import type { TurnMark } from "../model/turns.ts";
import type { LogSigner } from "../signing/writing/log-signer.ts";
import type { Due, Sealing } from "../signing/writing/sealing.ts";
import { type KnownDraft, KnownLines, type Repeat } from "./known-lines.ts";

const LF = Buffer.of(0x0a);

/** What a checkpoint says to whatever stands beside the log. */
const SAYS_NOTHING: Native = {};

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
  /** Signed sessions: what it is to their turns. */
  readonly mark: TurnMark;
}

export interface ScribeParts {
  readonly host: Host;
  readonly root: string;
  readonly logId: string;
  readonly dialect: Dialect;
  /** How lines name one another; null where they do not. */
  readonly chain: Chain | null;
  /** Told of each line that is about to be written, and what it says. */
  readonly expect: (line: Uint8Array, native: Native) => void;
  /** Where checkpoints go; null when the session is not signed. */
  readonly sealing: Sealing | null;
  /** Told of each line that is not written again (known-lines.ts, KL2). */
  readonly onKnown: (repeat: Repeat) => void;
}

/** Lines that stand for themselves. */
const UNCHAINED: Chain = { idOf: () => null, link: (native) => native };

export class Scribe {
  readonly #parts: ScribeParts;
  readonly #chain: Chain;
  /** The name of the last line in the log that has one. */
  #last: string | null = null;
  /** Up to where the log was looked at. */
  #end: ByteOffset = START;
  /** The last line prepared: what the next will likely follow. */
  #expected: string | null = null;
  /** Which lines stand already, of those that are written once; null where all are written. */
  readonly #known: KnownLines | null;
  #failure: { readonly error: unknown } | null = null;

  constructor(parts: ScribeParts) {
    this.#parts = parts;
    this.#chain = parts.chain ?? UNCHAINED;
    const { once } = parts.dialect;
    this.#known = once ? new KnownLines(once) : null;
  }

  get sealing(): Sealing | null {
    return this.#parts.sealing;
  }

  /** Everything about a line that needs no lock. */
  prepare(whole: Native): Prepared {
    const { spilling } = this.#parts.dialect;
    const chain = this.#chain;
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
    if (this.#known?.once.idOf(whole)) this.#known.isWanted = true;
    const mark = this.sealing?.markOf(whole) ?? null;
    return { whole, native, spills, line, previous, id, mark };
  }

  /** Lines that are to follow what now stands in the log. With the lock held, and caught up. */
  draft(): Draft {
    if (this.#failure) throw this.#failure.error; // SB2
    const { expect, sealing, onKnown } = this.#parts;
    const commit = (last: string | null) => {
      this.#last = last;
    };
    const known = this.#known?.isWanted ? this.#known.draft() : null;
    return new Draft({ chain: this.#chain, expect, commit, sealing, known, onKnown }, this.#last);
  }

  /** What stands now ends the session, as it seems (sealing.ts, SL3). */
  foreseeEnd(): void {
    this.sealing?.foresee("final", this.#last);
  }

  /** The log ends here, and not all of it is ours: looks for the last name, backward. */
  async caughtUp(end: ByteOffset, cutBytes: number): Promise<void> {
    await this.#parts.sealing?.caughtUp(end, cutBytes);
    try {
      const found = await this.#lastNamed(this.#end, end);
      if (found !== null) this.#last = found;
      this.#expected = this.#last;
      this.#failure = null;
      this.#end = end;
    } catch (error) {
      const { root, logId } = this.#parts;
      this.#failure = { error: ioError(`${root}/${logId}`, "reading", error) };
    }
  }

  /** Lines are to be written that may stand already: `learn` must go before a draft. */
  get writesOnce(): boolean {
    return this.#known?.isWanted === true;
  }

  /** Notes which lines stand of those that are written once. With the lock held, and caught up. */
  async learn(): Promise<void> {
    const known = this.#known;
    if (!known?.isWanted || known.end === this.#end) return;
    const { host, logId, root } = this.#parts;
    const to = this.#end;
    // Shorter than it was: of what was cut nobody knows which lines it held.
    if (known.end > to) known.forget();
    const reader = new LogReader(host, logId, { root, onBadLine: "skip" });
    for await (const { value } of reader.forward({ from: known.end, to })) known.note(value);
    known.end = to;
  }

  /** Lines of our own, up to there. */
  appended(end: ByteOffset): void {
    this.#end = end;
  }

  async #lastNamed(from: ByteOffset, to: ByteOffset): Promise<string | null> {
    const { host, logId, root, chain } = this.#parts;
    if (from >= to || !chain) return null;
    const reader = new LogReader(host, logId, { root, onBadLine: "skip" });
    for await (const { value } of reader.backward({ from, to })) {
      const id = chain.idOf(value);
      if (id !== null) return id;
    }
    return null;
  }
}

interface DraftParts extends Pick<ScribeParts, "expect" | "sealing" | "onKnown"> {
  readonly chain: Chain;
  readonly commit: (last: string | null) => void;
  readonly known: KnownDraft | null;
}

/** Lines in the making; nothing of them counts before `commit` (SB1). */
export class Draft {
  readonly #parts: DraftParts;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;
  #last: string | null;
  readonly #sealed: LogSigner | null;
  readonly #beside: Uint8Array[] = [];
  readonly #added: Prepared[] = [];

  constructor(parts: DraftParts, last: string | null) {
    this.#parts = parts;
    this.#last = last;
    this.#sealed = parts.sealing?.draft() ?? null;
  }

  /**
   * Adds a line, unless it stands already and is one that is written once; answers where it ends,
   * in bytes from the draft's start.
   */
  add(prepared: Prepared): number {
    const { whole, native, line, previous, id } = prepared;
    const { chain, expect, known } = this.#parts;
    if (known && !known.takes(whole)) return this.#length;
    const isRight = previous === this.#last;
    const linked = isRight ? line : encodeLine(chain.link(native, this.#last));
    expect(linked, whole);
    const chunk = Buffer.concat([linked, LF]);
    this.#push(chunk);
    this.#sealed?.addLines(chunk);
    this.#added.push(prepared);
    if (id !== null) this.#last = id;
    return this.#length;
  }

  /** Adds a checkpoint over all before it, here or to what goes beside the log; returns its line. */
  async seal(due: Due): Promise<Uint8Array> {
    const { sealing, expect } = this.#parts;
    assert(sealing && this.#sealed, "only a signed session has checkpoints");
    const { line, id } = await sealing.make(this.#sealed, due, this.#last, this.#added);
    if (sealing.isSidecar) {
      this.#beside.push(line);
    } else {
      expect(line.subarray(0, -LF.length), SAYS_NOTHING);
      this.#push(line);
    }
    if (id !== null) this.#last = id;
    return line;
  }

  /** What goes beside the log, once these lines are durable. */
  get beside(): Uint8Array {
    return Buffer.concat(this.#beside);
  }

  #push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  get length(): number {
    return this.#length;
  }

  /** The entries in it, in order. */
  get added(): readonly Prepared[] {
    return this.#added;
  }

  get lines(): Uint8Array {
    const [only] = this.#chunks;
    return only?.length === this.#length ? only : Buffer.concat(this.#chunks, this.#length);
  }

  /** The lines stand in the log, which ends here. */
  commit(end: ByteOffset): void {
    const { commit, sealing, known, onKnown } = this.#parts;
    commit(this.#last);
    for (const repeat of known?.commit(end) ?? []) onKnown(repeat);
    if (!sealing || !this.#sealed) return;
    for (const { whole, mark } of this.#added) sealing.note(whole, mark);
    sealing.stands(this.#sealed, end);
    if (this.#added.at(-1)?.mark === "finishes") sealing.foresee("turn", this.#last);
  }
}

/** The log's companion when both a scribe and what stands beside the log must be in step with it. */
export function companionOf(scribe: Scribe, beside: Companion | null): Companion {
  return {
    async caughtUp(end, cutBytes) {
      await scribe.caughtUp(end, cutBytes);
      await beside?.caughtUp(end, cutBytes);
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
