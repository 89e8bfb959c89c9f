/** Session: one conversation in a store. Reading takes no lock; the first append takes the log's. */

import { dirname } from "node:path";
import { checkList, checkWhole } from "../../core/base/choice.ts";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import type { Sync } from "../../core/log/companion.ts";
import { encodeLine } from "../../core/log/json.ts";
import { checkLine } from "../../core/log/line-check.ts";
import type { LogOptions } from "../../core/log/log-options.ts";
import { LogReader } from "../../core/log/reader.ts";
import { LogWriter } from "../../core/log/writer.ts";
import type { Entry, Native, NewEntry } from "../../core/model/entry.ts";
import { type Dialect, writingOf } from "../../dialects/dialect.ts";
import type { DerivedFiles } from "../../dialects/facets/files.ts";
import { refuseForeign } from "../../dialects/files/foreign-log.ts";
import {
  adjustedEntries,
  type EntryOptions,
  type ForEachEntryOptions,
  forEachEntry,
  lastInOrder,
  type ReadLine,
  rangeIn,
  readOptions,
  type StoredEntry,
  understand,
} from "../../dialects/files/stored-entries.ts";
import type { Due } from "../../trust/signer/dues.ts";
import type { LogSigner } from "../../trust/signer/log-signer.ts";
import type { Repeat } from "./line-ids.ts";
import {
  bytesOf,
  endsOf,
  expressEntry,
  inWrites,
  type NewLine,
  newLine,
  SessionFacts,
  type SessionWriterFacts,
} from "./new-lines.ts";
import { SessionAppends } from "./session-appends.ts";
import { makeOwnDirectory } from "./session-ids.ts";
import type { SessionSigning } from "./session-signing.ts";
import { appendSpilled } from "./session-write.ts";
import type { Session as Published } from "./store-api.ts";

export type OpenSigning = (
  session: Session,
  facts: SessionFacts,
  derived: DerivedFiles | null,
) => Promise<SessionSigning>;

export interface SessionParts extends SessionWriterFacts {
  readonly host: Host;
  readonly root: string;
  readonly dialect: Dialect;
  readonly logOptions: Omit<LogOptions, "root">;
  /** Opens the dialect's derived files; null if it has none. */
  readonly openDerived: ((session: Session) => Promise<DerivedFiles | null>) | null;
  /** Opens the session's signing; absent if it is not signed. */
  readonly openSigning?: OpenSigning | null;
  /** The dialect to continue a log that begins with this value; null: always the same dialect. */
  readonly adopt: ((first: unknown) => Dialect) | null;
  /** Moves lines from the inbox into the log. */
  readonly beforeReading?: () => Promise<unknown>;
  /** Called before the first append. */
  readonly onOpened?: (writer: LogWriter) => Promise<void>;
  readonly onClosed: () => void;
}

export class Session implements Published {
  readonly id: string;
  /** The log's path below the store's root. */
  readonly logId: string;
  readonly root: string;
  readonly #parts: SessionParts;
  readonly #facts: SessionFacts;
  #dialect: Dialect;
  #opening: Promise<LogWriter> | null = null;
  #writer: LogWriter | null = null;
  #derived: DerivedFiles | null = null;
  /** For lines that are finished under the lock; null if they are finished before. */
  #appends: SessionAppends | null = null;
  #closing: Promise<void> | null = null;
  #signing: SessionSigning | null = null;
  /** Called before the append resolves, for each entry whose id the log has: it is not written. */
  onKnown: ((native: Native, isSame: boolean) => void) | null = null;
  /** The caller's entries, by the completed entry. */
  readonly #callerLines = new WeakMap<Native, Native>();

  constructor(parts: SessionParts) {
    this.id = parts.id;
    this.#dialect = parts.dialect;
    this.root = parts.root;
    this.logId = parts.dialect.naming.logPath(parts.id).join("/");
    this.#parts = parts;
    this.#facts = new SessionFacts(parts);
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  get signedLog(): string | null {
    return this.#signing?.log.log ?? null;
  }

  get path(): string {
    return `${this.root}/${this.logId}`;
  }

  async append(entry: NewEntry): Promise<ByteOffset> {
    const natives = this.#express(entry);
    const [only] = natives;
    if (only && natives.length === 1) return this.appendNative(only);
    const [end] = await this.#appendEach([natives]);
    return end ?? (await this.openToAppend()).end;
  }

  async appendAll(entries: readonly NewEntry[]): Promise<ByteOffset[]> {
    checkList("appendAll", entries, "entries");
    this.#refuseWhenClosed();
    return this.#appendEach(entries.map((entry) => this.#express(entry)));
  }

  async appendLines(natives: readonly Native[]): Promise<ByteOffset[]> {
    checkList("appendLines", natives, "lines");
    this.#refuseWhenClosed();
    return this.#appendNatives(natives);
  }

  /** Appends the lines of entries together; resolves to the offset after each entry. */
  async #appendEach(entries: readonly (readonly Native[])[]): Promise<ByteOffset[]> {
    if (entries.length === 0) return [];
    const ends = await this.#appendNatives(entries.flat());
    const writer = await this.openToAppend();
    if (entries.some(({ length }) => length === 0)) await this.#pause(writer);
    let count = 0;
    return entries.map(({ length }) => {
      count += length;
      return ends[count - 1] ?? writer.end;
    });
  }

  #express(entry: unknown): readonly Native[] {
    const hasFiles = this.#parts.openDerived !== null;
    return expressEntry(entry, { dialect: this.#dialect, facts: this.#facts, hasFiles });
  }

  async #appendNatives(natives: readonly Native[]): Promise<ByteOffset[]> {
    const [only] = natives;
    if (!only) return [];
    if (natives.length === 1) return [await this.appendNative(only)];
    for (const { line } of this.#encode(natives)) checkLine(this.path, line, LOG_LIMITS);
    const writer = await this.openToAppend();
    const ends: ByteOffset[] = [];
    for (const group of inWrites(this.#encode(natives))) {
      ends.push(...(await this.#appendGroup(writer, group)));
    }
    return ends;
  }

  async #appendGroup(writer: LogWriter, group: readonly NewLine[]): Promise<ByteOffset[]> {
    if (this.#appends) {
      const ends: ByteOffset[] = [];
      const natives = group.map(({ native }) => native);
      await this.#appends.submit(natives, ends);
      return ends;
    }
    for (const { line, native } of group) this.#derived?.expect(line, native);
    const [lines, spills] = [bytesOf(group), group.flatMap((each) => each.spills)];
    if (spills.length === 0) return endsOf(group, await writer.appendLines(lines));
    const end = await appendSpilled(writer, { lines, spills }, () => this.#openDirectory());
    return endsOf(group, end);
  }

  /** Appends one line of the dialect, without the fields that the writer adds. */
  appendNative(given: Native): Promise<ByteOffset> {
    // Not `async`: wrapping the log's promise in a second one would double the cost.
    try {
      this.#refuseWhenClosed();
      // Validated before anything is opened: a refused entry leaves no trace.
      const native = this.#complete(given);
      return this.#writer ? this.#appendLine(this.#writer, native) : this.#appendFirst(given);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #appendFirst(native: Native): Promise<ByteOffset> {
    const writer = await this.openToAppend();
    // Completed only now, when the log's own envelope is known.
    return this.#appendLine(writer, this.#complete(native));
  }

  #complete(given: Native): Native {
    const native = writingOf(this.#dialect).complete(given, this.#facts);
    if (this.onKnown) this.#callerLines.set(native, given);
    return native;
  }

  #appendLine(writer: LogWriter, native: Native): Promise<ByteOffset> {
    if (this.#appends) return this.#appends.submit([native]);
    const { spilling } = this.#dialect.writing ?? {};
    const line = encodeLine(native);
    if (spilling && line.length > spilling.lineBytesMax) return this.#appendLong(writer, native);
    this.#derived?.expect(line, native);
    return writer.append(line);
  }

  async #appendLong(writer: LogWriter, native: Native): Promise<ByteOffset> {
    const lines = [newLine(native, this.#dialect, this.path)];
    const [end = writer.end] = await this.#appendGroup(writer, lines);
    return end;
  }

  /** Signed sessions: adds checkpoints that the caller chooses, with the log's lock held. */
  async addCheckpoints(choose: (signer: LogSigner) => Promise<readonly Due[]>): Promise<void> {
    await this.openToAppend();
    await this.#appends?.addCheckpoints(choose);
  }

  /** Changes derived files, with the log's lock held; nothing is appended. */
  async changeDerived(change: (derived: DerivedFiles, sync: Sync) => Promise<void>): Promise<void> {
    const writer = await this.openToAppend();
    const derived = this.#derived;
    if (!derived) return;
    await writer.inTurn((turn) => change(derived, () => turn.syncAll()));
  }

  #encode(natives: readonly Native[]): NewLine[] {
    return natives.map((given) => newLine(this.#complete(given), this.#dialect, this.path));
  }

  /** Takes the lock (in `exclusive`) and repairs a torn tail. The first append calls this. */
  async openToAppend(): Promise<LogWriter> {
    this.#refuseWhenClosed();
    this.#opening ??= this.#openWriter();
    return this.#opening;
  }

  async #openWriter(): Promise<LogWriter> {
    try {
      const { host, root, logOptions, openDerived, openSigning } = this.#parts;
      await refuseForeign(host, this, this.#dialect, true);
      await makeOwnDirectory(host, root, this.logId);
      const derived = (await openDerived?.(this)) ?? null;
      this.#derived = derived;
      const signing = openSigning ? await openSigning(this, this.#facts, derived) : null;
      this.#signing = signing;
      const { chain, once } = this.#dialect.writing ?? {};
      const appends = chain || once || signing ? this.#newAppends(derived, signing) : null;
      const companion = appends ?? derived;
      const writer = await LogWriter.open(host, this.logId, {
        ...logOptions,
        root,
        ...(companion ? { companion } : {}),
      });
      appends?.attach(writer);
      this.#appends = appends;
      if (this.#parts.adopt && writer.end > 0) {
        for await (const { value } of this.reader({ onBadLine: "skip" }).forward()) {
          this.#dialect = this.#parts.adopt(value);
          break;
        }
      }
      await this.#parts.onOpened?.(writer);
      this.#writer = writer;
      return writer;
    } catch (cause) {
      this.#opening = null; // The next append tries again.
      throw cause;
    }
  }

  #newAppends(derived: DerivedFiles | null, signing: SessionSigning | null): SessionAppends {
    const { host, root, logOptions } = this.#parts;
    return new SessionAppends({
      host,
      root,
      logId: this.logId,
      id: this.id,
      derived,
      signing,
      facts: this.#facts,
      dialect: () => this.#dialect,
      isDurable: logOptions.durability !== "os",
      openDirectory: () => this.#openDirectory(),
      onKnown: ({ native, isSame }: Repeat) =>
        this.onKnown?.(this.#callerLines.get(native) ?? native, isSame),
    });
  }

  #openDirectory(): Promise<Directory> {
    const { host, root } = this.#parts;
    return host.files.openDirectory(dirname(this.path), { create: false, root });
  }

  async *entries(options: EntryOptions = {}): AsyncGenerator<StoredEntry> {
    await this.#parts.beforeReading?.();
    const lines = this.reader(options).forward(rangeIn(options));
    yield* adjustedEntries(this.dialect, this.#understand(lines, options));
  }

  /** Passes the entries in order to a function, as fast as they can be read. */
  async each(onEntry: (entry: Entry) => void, options: ForEachEntryOptions): Promise<void> {
    await this.#parts.beforeReading?.();
    const { onOffset = () => {}, ...how } = options;
    await forEachEntry(this.dialect, this.reader(how), onEntry, { ...how, onOffset });
  }

  async last(count: number, options: EntryOptions = {}): Promise<StoredEntry[]> {
    checkWhole("count", count);
    readOptions(this.root, options);
    if (count === 0) return [];
    await this.#parts.beforeReading?.();
    const backward = this.reader(options).backward(rangeIn(options));
    return lastInOrder(this.dialect, this.#understand(backward, options), count);
  }

  async *follow(options: EntryOptions = {}): AsyncGenerator<StoredEntry> {
    await this.#parts.beforeReading?.();
    const reader = this.reader(options);
    const { from, onRewound } = options;
    const lines = reader.follow({ ...(from === undefined ? {} : { from }), onRewound });
    yield* adjustedEntries(this.dialect, this.#understand(lines, options));
  }

  /** A reader of the session's raw lines. */
  reader(options: EntryOptions = {}): LogReader {
    return new LogReader(this.#parts.host, this.logId, readOptions(this.root, options));
  }

  #understand(lines: AsyncIterable<ReadLine>, options: EntryOptions): AsyncGenerator<StoredEntry> {
    const log = { dialect: this.dialect, path: this.path };
    return understand(lines, { ...log, openDirectory: () => this.#openDirectory() }, options);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Like `close`, but leaves the session's status unchanged. */
  async release(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  /** Like `release`, but signs nothing: for a session with bytes that its opener did not expect. */
  async abandon(): Promise<void> {
    this.#closing ??= this.#release({ signs: false });
    return this.#closing;
  }

  async #release({ signs } = { signs: true }): Promise<void> {
    this.#parts.onClosed();
    const writer = await this.#opening;
    await this.#appends?.stop({ signs });
    try {
      await writer?.close();
    } finally {
      await this.#signing?.pinned();
    }
  }

  async #close(): Promise<void> {
    const writer = await this.#opening;
    try {
      if (writer) await this.#pause(writer);
    } finally {
      await this.#release();
    }
  }

  /** Tells the derived files that the session ends here, with the lock held. */
  async #pause(writer: LogWriter): Promise<void> {
    const derived = this.#derived;
    const isShared = this.#parts.logOptions.mode === "shared";
    await writer.idle();
    if (!derived || (isShared && !derived.pausesShared)) return;
    try {
      // In the writer's queue: they may still be processing the last append.
      await writer.inTurn((turn) => derived.pause(() => turn.syncAll()));
    } catch (cause) {
      if (!isShared) throw cause;
      derived.notPaused?.(cause);
    }
  }

  #refuseWhenClosed(): void {
    if (!this.#closing) return;
    const { path } = this;
    throw new VerbatimError("LOG_CLOSED", `${path} was closed; open the session again`, { path });
  }
}
