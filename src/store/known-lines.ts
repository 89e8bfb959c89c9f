/**
 * Known lines: what a session must know of the lines in its log to write the next ones: the name of
 * the last, where lines name the line before them, and which lines are there already, of those that
 * are written once (dialects/dialect.ts, Chain and Once).
 *
 * KL1  A draft counts nothing before it is committed: lines that were refused can be appended again.
 *
 * KL2  A line that is not written again is reported to its writer, before the acknowledgement, with
 *      whether its content is that of the line that is kept: the first one.
 *
 * When it cannot find out how the log ends, it drafts nothing. Of lines that are written once an id
 * and a digest are held, and only of sessions into which such lines are written.
 */

import { createHash } from "node:crypto";
import { ioError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { type ByteOffset, START } from "../base/offset.ts";
import type { Chain, Dialect, Native, Once } from "../dialects/dialect.ts";
import { encodeLine } from "../log/json.ts";
import { LogReader } from "../log/reader.ts";
import type { TurnMark } from "../model/turns.ts";
import { type PreparedLine, prepareLine } from "./prepared-line.ts";

/** Lines that do not name one another. */
const UNCHAINED: Chain = { idOf: () => null, link: (native) => native };

export interface KnownLinesParts {
  readonly host: Host;
  readonly root: string;
  readonly logId: string;
  readonly dialect: Dialect;
}

export class KnownLines {
  readonly chain: Chain;
  readonly once: Once | null;
  readonly #parts: KnownLinesParts;
  /** The name of the last line in the log that has one. */
  #last: string | null = null;
  /** Up to where the log is known. */
  #end: ByteOffset = START;
  /** The name of the last line that was prepared: the next one will likely follow it. */
  #expected: string | null = null;
  #failure: { readonly error: unknown } | null = null;
  /** A line that is written once was prepared. Until then none of those in the log are known. */
  #writesOnce = false;
  /** Up to where those in the log are known, and the digest of each one's content, by its id. */
  #onceEnd: ByteOffset = START;
  readonly #digests = new Map<string, string>();

  constructor(parts: KnownLinesParts) {
    this.#parts = parts;
    this.chain = parts.dialect.chain ?? UNCHAINED;
    this.once = parts.dialect.once ?? null;
  }

  prepare(whole: Native, mark: TurnMark): PreparedLine {
    const line = prepareLine(this.#parts.dialect, this.chain, whole, this.#expected, mark);
    if (line.id !== null) this.#expected = line.id;
    if (this.once?.idOf(whole)) this.#writesOnce = true;
    return line;
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
      const { root, logId } = this.#parts;
      this.#failure = { error: ioError(`${root}/${logId}`, "reading", error) };
    }
  }

  /** For lines that are about to be written. With the lock held, and caught up. */
  async draft(): Promise<KnownDraft> {
    if (this.#failure) throw this.#failure.error;
    if (this.#writesOnce && this.#onceEnd !== this.#end) await this.#learnOnce();
    return new KnownDraft(this, this.#writesOnce ? this.once : null, this.#last);
  }

  digest(id: string): string | undefined {
    return this.#digests.get(id);
  }

  /** Lines of ours are in the log, which ends here. */
  took(lines: readonly Native[], last: string | null, end: ByteOffset): void {
    this.#last = last;
    this.#end = end;
    if (!this.#writesOnce) return;
    for (const line of lines) this.#noteOnce(line);
    this.#onceEnd = end;
  }

  async #learnOnce(): Promise<void> {
    // Shorter than it was: which lines were cut is not known.
    if (this.#onceEnd > this.#end) {
      this.#digests.clear();
      this.#onceEnd = START;
    }
    const stretch = { from: this.#onceEnd, to: this.#end };
    for await (const { value } of this.#reader().forward(stretch)) this.#noteOnce(value);
    this.#onceEnd = stretch.to;
  }

  #noteOnce(value: unknown): void {
    if (this.once?.forgets(value)) this.#digests.clear();
    const id = this.once?.idOf(value) ?? null;
    // Where lines of other programs share an id, the first is the one that counts.
    if (id !== null && !this.#digests.has(id)) this.#digests.set(id, digestOf(value));
  }

  async #lastNamed(from: ByteOffset, to: ByteOffset): Promise<string | null> {
    if (from >= to || this.chain === UNCHAINED) return null;
    for await (const { value } of this.#reader().backward({ from, to })) {
      const id = this.chain.idOf(value);
      if (id !== null) return id;
    }
    return null;
  }

  #reader(): LogReader {
    const { host, logId, root } = this.#parts;
    return new LogReader(host, logId, { root, onBadLine: "skip" });
  }
}

/** Lines that are about to be written. */
export class KnownDraft {
  readonly #known: KnownLines;
  /** Null where no line is written once. */
  readonly #once: Once | null;
  readonly #taken: Native[] = [];
  readonly #repeats: Repeat[] = [];
  readonly #digests = new Map<string, string>();
  #hasForgotten = false;
  /** The name of the last line that has one: what the next one follows. */
  last: string | null;

  constructor(known: KnownLines, once: Once | null, last: string | null) {
    this.#known = known;
    this.#once = once;
    this.last = last;
  }

  /** The line as it is to be written; null when it is there already and is written once. */
  add({ whole, native, line, previous, id }: PreparedLine): Uint8Array | null {
    if (this.#once && this.#isRepeat(this.#once, whole)) return null;
    this.#taken.push(whole);
    const isRight = previous === this.last;
    const linked = isRight ? line : encodeLine(this.#known.chain.link(native, this.last));
    if (id !== null) this.last = id;
    return linked;
  }

  #isRepeat(once: Once, native: Native): boolean {
    if (once.forgets(native)) {
      this.#hasForgotten = true;
      this.#digests.clear();
    }
    const id = once.idOf(native);
    if (id === null) return false;
    const kept = this.#digestOfKept(id);
    const digest = digestOf(native);
    if (kept === undefined) this.#digests.set(id, digest);
    else this.#repeats.push({ native, isSame: kept === digest });
    return kept !== undefined;
  }

  #digestOfKept(id: string): string | undefined {
    return this.#digests.get(id) ?? (this.#hasForgotten ? undefined : this.#known.digest(id));
  }

  /** KL1: the lines are in the log, which ends here. Returns those that were not written again. */
  commit(end: ByteOffset): readonly Repeat[] {
    this.#known.took(this.#taken, this.last, end);
    return this.#repeats;
  }
}

/** A line that was given again. */
export interface Repeat {
  readonly native: Native;
  /** Whether the line that is kept has the same content, whatever the order of its keys. */
  readonly isSame: boolean;
}

function digestOf(value: unknown): string {
  const sorted = (_: string, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  try {
    return createHash("sha256").update(JSON.stringify(value, sorted)).digest("base64").slice(0, 22);
  } catch {
    return UNKNOWN; // Nested deeper than JSON is written.
  }
}

const UNKNOWN = "";
