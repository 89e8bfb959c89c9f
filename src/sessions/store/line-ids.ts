/**
 * Line ids: what a session must know about the lines in its log to write the next ones: the name
 * of the last line, in dialects where a line names the one before it, and which write-once lines
 * are already there (dialects/dialect.ts, Chain and Once).
 *
 * A draft changes nothing until it is committed, so refused lines can be appended again. If the end
 * of the log cannot be read, there is no draft.
 *
 * KL2  A line that is already in the log is not written again. It is reported to its writer before
 *      the acknowledgement, with whether its content equals that of the line in the log (the first
 *      one).
 *
 * For write-once lines an id and a digest are held in memory, only in sessions that write such
 * lines.
 */

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { ioError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { type ByteOffset, START } from "../../core/base/offset.ts";
import { encodeLine } from "../../core/log/json.ts";
import { LogReader } from "../../core/log/reader.ts";
import type { Native } from "../../core/model/entry.ts";
import type { TurnMark } from "../../core/model/turns.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { LineChain, Once, SpillFile } from "../../dialects/facets/writing.ts";
import { SPILL_TOOLS } from "../../dialects/files/spill-files.ts";

/** An entry's line, as far as it can be built without the log's lock. */
export interface PreparedLine {
  /** The caller's entry, completed. */
  readonly whole: Native;
  /** The entry to write, except for its link to the previous line. */
  readonly native: Native;
  /** Written before the line. */
  readonly spills: readonly SpillFile[];
  /** The line, linked to `previous`. Correct unless another writer appends in between. */
  readonly line: Uint8Array;
  readonly previous: string | null;
  readonly id: string | null;
  /** Signed sessions: the entry's role in its turn. */
  readonly mark: TurnMark;
}

/** `previous` is the name of the line it will likely follow. */
function prepareLine(
  { writing }: Dialect,
  chain: LineChain,
  whole: Native,
  previous: string | null,
  mark: TurnMark,
  logName: string,
): PreparedLine {
  const id = chain.idOf(whole);
  const line = encodeLine(chain.link(whole, previous));
  const { spilling } = writing ?? {};
  if (!spilling || line.length <= spilling.lineBytesMax) {
    return { whole, native: whole, spills: [], line, previous, id, mark };
  }
  const { native, files: spills } = spilling.split(whole, logName, SPILL_TOOLS);
  const shorter = encodeLine(chain.link(native, previous));
  return { whole, native, spills, line: shorter, previous, id, mark };
}

/** Lines that do not name one another. */
const UNCHAINED: LineChain = { parentField: "", idOf: () => null, link: (native) => native };

export interface LineIdsParts {
  readonly host: Host;
  readonly root: string;
  readonly logId: string;
  readonly dialect: Dialect;
}

export class LineIds {
  readonly chain: LineChain;
  readonly once: Once | null;
  readonly #parts: LineIdsParts;
  /** The name of the last line in the log that has one. */
  #last: string | null = null;
  /** The log is known up to here. */
  #end: ByteOffset = START;
  /** The name of the last prepared line: the next one will likely follow it. */
  #expected: string | null = null;
  #failure: { readonly error: unknown } | null = null;
  /** Set when a write-once line is prepared. Until then those in the log are not read. */
  #writesOnce = false;
  /**
   * Up to where write-once lines in the log are known, and the digest of each one's content by id.
   */
  #onceEnd: ByteOffset = START;
  readonly #digests = new Map<string, string>();

  constructor(parts: LineIdsParts) {
    this.#parts = parts;
    this.chain = parts.dialect.writing?.chain ?? UNCHAINED;
    this.once = parts.dialect.writing?.once ?? null;
  }

  prepare(whole: Native, mark: TurnMark): PreparedLine {
    const { dialect, logId } = this.#parts;
    const logName = basename(logId);
    const line = prepareLine(dialect, this.chain, whole, this.#expected, mark, logName);
    if (line.id !== null) this.#expected = line.id;
    if (this.once?.idOf(whole)) this.#writesOnce = true;
    return line;
  }

  /** The log ends here and contains lines of other writers: searches backward for the last name. */
  async caughtUp(end: ByteOffset): Promise<void> {
    try {
      const lastId = await this.#lastNamed(this.#end, end);
      if (lastId !== null) this.#last = lastId;
      this.#expected = this.#last;
      this.#failure = null;
      this.#end = end;
    } catch (error) {
      const { root, logId } = this.#parts;
      this.#failure = { error: ioError(`${root}/${logId}`, "reading", error) };
    }
  }

  /** Call with the lock held, after `caughtUp`. */
  async draft(): Promise<LineIdsDraft> {
    if (this.#failure) throw this.#failure.error;
    if (this.#writesOnce && this.#onceEnd !== this.#end) await this.#learnOnce();
    return new LineIdsDraft(this, this.#writesOnce ? this.once : null, this.#last);
  }

  digest(id: string): string | undefined {
    return this.#digests.get(id);
  }

  /** Our lines were written; the log now ends here. */
  took(lines: readonly Native[], last: string | null, end: ByteOffset): void {
    this.#last = last;
    this.#end = end;
    if (!this.#writesOnce) return;
    for (const line of lines) this.#noteOnce(line);
    this.#onceEnd = end;
  }

  async #learnOnce(): Promise<void> {
    // The log is shorter than before, and it is unknown which lines were cut.
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
    // Where lines of other programs share an id, the first one counts.
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

export class LineIdsDraft {
  readonly #ids: LineIds;
  /** Null if no line is write-once. */
  readonly #once: Once | null;
  readonly #taken: Native[] = [];
  readonly #repeats: Repeat[] = [];
  readonly #digests = new Map<string, string>();
  #hasForgotten = false;
  /** The name of the last line that has one: the next line links to it. */
  last: string | null;

  constructor(ids: LineIds, once: Once | null, last: string | null) {
    this.#ids = ids;
    this.#once = once;
    this.last = last;
  }

  /** The line to write; null if it is write-once and already in the log. */
  add({ whole, native, line, previous, id }: PreparedLine): Uint8Array | null {
    if (this.#once && this.#isRepeat(this.#once, whole)) return null;
    this.#taken.push(whole);
    const isRight = previous === this.last;
    const linked = isRight ? line : encodeLine(this.#ids.chain.link(native, this.last));
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
    return this.#digests.get(id) ?? (this.#hasForgotten ? undefined : this.#ids.digest(id));
  }

  /** The lines are in the log, which ends here. Returns those that were not written again. */
  commit(end: ByteOffset): readonly Repeat[] {
    this.#ids.took(this.#taken, this.last, end);
    return this.#repeats;
  }
}

/** A line that was appended again. */
export interface Repeat {
  readonly native: Native;
  /** Whether the line in the log has the same content, ignoring key order. */
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
