/**
 * Rye derived files: updates `transcript.md` and `thread.json` with a thread's log.
 *
 * The markdown grows by each event's rendering, in log order, under the log's lock. thread.json is
 * created with the first event, and replaced at a start, a completion or an error and when a paused
 * thread continues. Both can be rebuilt (B1): damage by a crash or another program is mended on
 * opening.
 *
 * With durability `os` and exclusive access to the log, they are written once per turn of the event
 * loop, not once per event: no other process can write meanwhile, and `os` makes no promise about
 * them. In all other cases they are written before the event is acknowledged. A signed thread.json
 * is always written first, and durably: a checkpoint may name its revision next (signed-meta.ts).
 * The checkpoint that it names is durable before it: a file that names a missing one is not
 * trusted.
 */

import { dirname } from "node:path";
import { assert, VerbatimError } from "../../../core/base/errors.ts";
import { parseExactly } from "../../../core/base/exact-numbers.ts";
import type { Directory } from "../../../core/base/files.ts";
import type { Host } from "../../../core/base/host.ts";
import { type ByteOffset, START, toByteOffset } from "../../../core/base/offset.ts";
import { readSmallFile, replaceFile, replaceFileDurably } from "../../../core/base/replace.ts";
import type { Sync } from "../../../core/log/companion.ts";
import type { Durability, LogMode } from "../../../core/log/log-options.ts";
import { LogReader } from "../../../core/log/reader.ts";
import type { Native } from "../../../core/model/entry.ts";
import type { DerivedFiles, SigningTools } from "../../facets/files.ts";
import { copyAside } from "../../files/aside.ts";
import { ExpectedLines } from "../../files/expected-lines.ts";
import { type ReadEnvelope, type RyeEvent, readEnvelope } from "../envelope.ts";
import {
  DOCUMENT_OPTIONS,
  type EventOptions,
  isOriginalsMarkdown,
  LIVE_OPTIONS,
  readPrinted,
  renderEvent,
} from "../markdown.ts";
import { MetaRebuilder } from "../rebuild-meta.ts";
import { MARKDOWN_NAME, META_NAME } from "../thread-id.ts";
import {
  formatThreadMeta,
  isThreadMeta,
  metaAfter,
  pausedMeta,
  resumedMeta,
  type StoredThreadMeta,
  withoutSignatures,
} from "../thread-meta.ts";
import { MarkdownFile } from "./markdown-file.ts";
import { SignedMeta } from "./signed-meta.ts";

/** The original's heading is within these first bytes of the text. */
export const MARKDOWN_HEAD_BYTES = 4096;
/** For longer files only the end is checked; reading all would take too long. */
const CHECKED_WHOLE_BYTES_MAX = 4 * 1024 * 1024;
const CHECKED_EVENTS = 50;
/** Characters compared or written at once while mending. */
const MEND_CHARS = 64 * 1024;
/** Events that continue an ended thread; other events may follow an end. */
export const GOES_ON: ReadonlySet<string> = new Set(["thread_start", "user_message", "step_start"]);

export interface RyeDerivedParts {
  readonly host: Host;
  readonly threadId: string;
  /** Path of the log below the root. */
  readonly logId: string;
  readonly root: string;
  readonly durability: Durability;
  readonly mode: LogMode;
  readonly hasMarkdown: boolean;
  readonly nowMs: () => number;
  readonly onMeta: (meta: StoredThreadMeta) => void;
  readonly onWarning: (warning: string) => void;
}

export class RyeDerivedFiles implements DerivedFiles {
  readonly #parts: RyeDerivedParts;
  readonly #expected = new ExpectedLines();
  #directory: Directory | null = null;
  #markdown: MarkdownFile | null = null;
  #meta: StoredThreadMeta | null = null;
  #unsavedMeta: StoredThreadMeta | null = null;
  /** Null if thread.json is not signed. */
  #signed: SignedMeta | null = null;
  #unsavedText = "";
  /** The next turn of the event loop, in which both are written. */
  #turn: NodeJS.Immediate | null = null;
  #logEnd: ByteOffset | null = null;

  constructor(parts: RyeDerivedParts) {
    this.#parts = parts;
  }

  signWith(tools: SigningTools): void {
    this.#signed = new SignedMeta(this.#parts.threadId, tools);
  }

  revision(isLast: boolean): number {
    const { rev } = this.#signed ?? { rev: 0 };
    return isLast && this.#signed && this.#unsavedMeta ? rev + 1 : rev;
  }

  /** The checkpoint that thread.json names as its head, verified or not; null: none, or unknown. */
  async namedSeq(): Promise<number | null> {
    try {
      return headSeqIn(await readSmallFile(await this.#openDirectory(), META_NAME));
    } catch {
      return null; // Then its head is not found, and the file is not signed.
    }
  }

  expect(line: Uint8Array, native: Native): void {
    this.#expected.add(line, native);
  }

  async caughtUp(end: ByteOffset): Promise<void> {
    this.#writeOut(); // What follows is of other writers.
    try {
      const directory = await this.#openDirectory();
      await this.#mendMarkdown(directory, end);
      if (!this.#unsavedMeta) this.#meta = await this.#readMeta(directory, end);
    } catch (cause) {
      this.#dropMarkdown(cause);
    }
    this.#logEnd = end;
  }

  appended(lines: Uint8Array, length: number, start: ByteOffset): void {
    for (const native of this.#expected.take(lines, length)) {
      const { event } = readEnvelope(native);
      if (!event) continue;
      if (this.#markdown) this.#unsavedText += renderEvent(event, LIVE_OPTIONS);
      this.#follow(event);
    }
    this.#logEnd = toByteOffset(start + length);
    const { durability, mode } = this.#parts;
    if (durability === "os" && mode === "exclusive") {
      this.#turn ??= setImmediate(() => this.#writeOut());
    } else {
      this.#writeOut();
    }
  }

  /** Updates both files; with `disk`, thread.json waits for `madeDurable`. */
  #writeOut(): void {
    if (this.#turn) clearImmediate(this.#turn);
    this.#turn = null;
    const text = this.#unsavedText;
    this.#unsavedText = "";
    try {
      if (text !== "") this.#markdown?.append(text);
    } catch (cause) {
      this.#dropMarkdown(cause);
    }
    if (this.#signed || this.#parts.durability === "disk" || !this.#unsavedMeta) return;
    const meta = this.#unsavedMeta;
    this.#unsavedMeta = null;
    try {
      if (this.#directory) replaceFile(this.#directory, META_NAME, formatThreadMeta(meta));
      this.#parts.onMeta(meta);
    } catch (cause) {
      this.#warn(META_NAME, cause);
    }
  }

  async madeDurable(): Promise<void> {
    if (this.#signed || !this.#unsavedMeta) return;
    await this.#writeMeta((meta, put) => put(formatThreadMeta(meta)));
  }

  /** Only now is the head for thread.json known. */
  async sealed(sync: Sync, meanwhile?: () => void): Promise<void> {
    const signed = this.#signed;
    if (!signed || !this.#unsavedMeta) return;
    await this.#writeMeta(async (meta, put) => {
      await sync();
      await signed.write(meta, (text) => {
        const written = put(text);
        meanwhile?.();
        return written;
      });
    });
  }

  async #writeMeta(
    write: (meta: StoredThreadMeta, put: (text: string) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const [meta, directory] = [this.#unsavedMeta, this.#directory];
    if (!meta || !directory) return;
    try {
      await write(meta, (text) => replaceFileDurably(directory, META_NAME, text));
      this.#parts.onMeta(meta);
    } catch (cause) {
      this.#warn(META_NAME, cause);
    } finally {
      if (this.#unsavedMeta === meta) this.#unsavedMeta = null;
    }
  }

  async pause(sync: Sync): Promise<void> {
    if (!this.#meta) return;
    // Nothing was appended: a writer that cannot sign leaves a signed file unchanged.
    if (!this.#signed && withoutSignatures(this.#meta) !== this.#meta) return;
    const paused = pausedMeta(this.#meta, this.#parts.nowMs());
    if (paused !== this.#meta) this.#save(paused);
    this.#writeOut();
    await this.madeDurable();
    await this.sealed(sync);
  }

  /**
   * Replaces thread.json by a caller's content, signed. Throws NOT_VERIFIED if the current file was
   * altered: the next signature would hide that (signed-meta.ts).
   */
  async replaceMeta(meta: StoredThreadMeta, sync: Sync): Promise<void> {
    const [signed, directory] = [this.#signed, this.#directory];
    assert(signed && directory, "a thread.json is replaced while a signed log is open");
    const { root, logId, threadId } = this.#parts;
    if (signed.doubt !== null) {
      const path = `${root}/${dirname(logId)}/${META_NAME}`;
      throw new VerbatimError(
        "NOT_VERIFIED",
        `${path} does not verify (${signed.doubt}) and is not replaced; ` +
          `\`verbatim verify ${threadId}\` says more. Where you know why, delete it first`,
        { path, verdict: "tampered" },
      );
    }
    await sync();
    const given = withoutSignatures(meta);
    await signed.writeSigned(given, (text) => replaceFileDurably(directory, META_NAME, text));
    this.#meta = given;
    this.#parts.onMeta(given);
  }

  close(): void {
    this.#writeOut();
    this.#markdown?.close();
    this.#directory?.close();
  }

  #follow(event: RyeEvent): void {
    let meta = metaAfter(this.#parts.threadId, this.#meta, event);
    if (meta !== null && meta === this.#meta) {
      const goesOn = meta.status === "paused" || GOES_ON.has(event.meaning ?? "");
      if (goesOn) meta = resumedMeta(meta, this.#parts.nowMs());
    }
    if (meta !== null && meta !== this.#meta) this.#save(meta);
  }

  #save(changed: StoredThreadMeta): void {
    this.#meta = withoutSignatures(changed);
    this.#unsavedMeta = this.#meta;
  }

  async #openDirectory(): Promise<Directory> {
    const { host, logId, root } = this.#parts;
    const path = `${root}/${dirname(logId)}`;
    this.#directory ??= await host.files.openDirectory(path, { create: true, root });
    return this.#directory;
  }

  async #mendMarkdown(directory: Directory, end: ByteOffset): Promise<void> {
    if (!this.#parts.hasMarkdown) return;
    const isFirst = this.#markdown === null;
    this.#markdown ??= MarkdownFile.open(directory, MARKDOWN_NAME);
    const markdown = this.#markdown;
    if (!isFirst && this.#logEnd !== null) {
      let isDifferent = false;
      await markdown.mend(markdown.size, this.#render(this.#logEnd, end), async () => {
        isDifferent = true;
        return false;
      });
      if (!isDifferent) return;
    } else if (end > CHECKED_WHOLE_BYTES_MAX && (await this.#endsRight(markdown))) {
      return;
    }
    const mayReplace = () => this.#mayReplace(directory, markdown, end);
    await markdown.mend(0, this.#render(START, end), mayReplace);
  }

  /** False for text by the original or the document's Python; other text is copied aside first. */
  async #mayReplace(directory: Directory, markdown: MarkdownFile, end: ByteOffset) {
    if (isOriginalsMarkdown(await markdown.beginning(MARKDOWN_HEAD_BYTES))) return false;
    if (await markdown.is(this.#render(START, end, DOCUMENT_OPTIONS))) return false;
    await this.#copyAside(directory, MARKDOWN_NAME);
    return true;
  }

  async #copyAside(directory: Directory, name: string): Promise<void> {
    const copy = await copyAside(directory, name);
    const { threadId, onWarning } = this.#parts;
    onWarning(`${name} of ${threadId} had other content than its log; it is kept in ${copy}`);
  }

  /** Renders a range of the log as markdown, in chunks of events. */
  async *#render(
    from: ByteOffset,
    to: ByteOffset,
    options: EventOptions = LIVE_OPTIONS,
  ): AsyncGenerator<string> {
    let text = "";
    if (from === to) return;
    for await (const event of this.#events(from, to, readPrinted)) {
      text += renderEvent(event, options);
      if (text.length < MEND_CHARS) continue;
      yield text;
      text = "";
    }
    if (text !== "") yield text;
  }

  async #endsRight(markdown: MarkdownFile): Promise<boolean> {
    const last = await this.#reader().last(CHECKED_EVENTS);
    const events = last.map(({ value, bytes }) => readPrinted(value, bytes).event);
    const text = events.map((event) => (event ? renderEvent(event, LIVE_OPTIONS) : "")).join("");
    return text !== "" && (await markdown.endsWith(text));
  }

  /** thread.json, or its reconstruction from the log if it is missing or corrupt. */
  async #readMeta(directory: Directory, end: ByteOffset): Promise<StoredThreadMeta | null> {
    const text = await readSmallFile(directory, META_NAME);
    const stored = parseMeta(text);
    await this.#signed?.found(stored && text);
    if (stored || end === 0) return stored;
    if (text !== null) await this.#copyAside(directory, META_NAME);
    const rebuilder = new MetaRebuilder(this.#parts.threadId);
    for await (const event of this.#events(START, end)) rebuilder.add(event);
    return rebuilder.meta();
  }

  async *#events(
    from: ByteOffset,
    to: ByteOffset,
    read: (value: unknown, line: Uint8Array) => ReadEnvelope = readEnvelope,
  ): AsyncGenerator<RyeEvent> {
    for await (const { value, bytes } of this.#reader().forward({ from, to })) {
      const { event } = read(value, bytes);
      if (event) yield event;
    }
  }

  #reader(): LogReader {
    const { host, logId, root } = this.#parts;
    return new LogReader(host, logId, { root, onBadLine: "skip" });
  }

  #dropMarkdown(cause: unknown): void {
    this.#markdown?.close();
    this.#markdown = null;
    this.#warn(MARKDOWN_NAME, cause);
  }

  #warn(name: string, cause: unknown): void {
    const { threadId, onWarning } = this.#parts;
    onWarning(`${name} of ${threadId} could not be written and is mended later: ${String(cause)}`);
  }
}

/** The checkpoint that a thread.json's text names as its head, verified or not; null: none. */
export function headSeqIn(text: string | null): number | null {
  const { seq } = (parseMeta(text)?.head ?? {}) as { readonly seq?: unknown };
  return typeof seq === "number" ? seq : null;
}

/** Parses a thread.json; null if it is missing or corrupt. */
export function parseMeta(text: string | null): StoredThreadMeta | null {
  if (text === null) return null;
  try {
    const value = parseExactly(text);
    return isThreadMeta(value) ? value : null;
  } catch {
    return null;
  }
}
