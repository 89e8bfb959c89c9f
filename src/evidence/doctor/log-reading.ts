/**
 * Log reading: one pass over a log that yields each bad line, each result without a call and each
 * spill file that differs from its record, and collects what is judged at the end.
 *
 * Line by line with its caller, unlike `LogReader`, which calls back for bad lines: a million of
 * them must not pile up in memory.
 *
 * Log end: how a log ends, as distinct from a write in progress, and whether a writer is active.
 *
 * Takes no lock except the short shared one that readers use to ask (core/log/lock.ts, L3).
 *
 * LE1  A tail is called torn when two reads, with the lock free in between, see the same bytes.
 *      Bytes that a writer was writing during the first read are complete, or gone, once it has
 *      released the lock.
 */

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { errnoOf } from "../../core/base/errors.ts";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { readSmallFile } from "../../core/base/replace.ts";
import {
  clipText,
  type Finding,
  type FindingPlace,
  finding,
  troubleOf,
} from "../../core/findings/finding.ts";
import { readChunks, readStretch } from "../../core/log/bytes.ts";
import { decodeLine } from "../../core/log/json.ts";
import { isBeingWritten } from "../../core/log/lock.ts";
import { type LineSpan, spansForward } from "../../core/log/spans.ts";
import { findTail, type Tail } from "../../core/log/tail.ts";
import type { Entry } from "../../core/model/entry.ts";
import { CallPairing } from "../../core/model/pairing.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { DerivedLook } from "../../dialects/facets/files.ts";
import type { SpillReference } from "../../dialects/facets/writing.ts";
import { HEAD_BYTES, RECOGNISED_LINES } from "../../dialects/files/foreign-log.ts";
import { recognise } from "../../dialects/recognise.ts";
import { isCheckpoint } from "../../sessions/store/entry-mapping.ts";

/** Reads until the log is seen at rest between writers; after this many, a writer is active. */
const LOOKS_MAX = 100;

export interface ReadParts {
  readonly session: string | null;
  readonly path: string;
  readonly dialect: Dialect;
  readonly directory: Directory;
  readonly file: OpenFile;
  readonly end: ExaminedLogEnd;
  /** The check of the derived files, which sees each line; null if there is nothing to check. */
  readonly derived: DerivedLook | null;
  readonly onProgress: (offset: number, end: number) => void;
}

export class LogReading {
  /** Calls, each with its line number, counted from 1. */
  readonly calls = new CallPairing<number>();
  /** The files that lines refer to. */
  readonly spills = new Set<string>();
  readonly #parts: ReadParts;
  /** Some line claims to be a checkpoint. */
  hasCheckpoints = false;
  #hasEnded = false;
  #lines = 0;
  #isAnyUnderstood = false;
  /** The first lines, to recognise another program's file. */
  readonly #values: unknown[] = [];

  constructor(parts: ReadParts) {
    this.#parts = parts;
  }

  /** The session has ended, and nothing was appended after that. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async *findings(): AsyncGenerator<Finding> {
    const { file, end, onProgress } = this.#parts;
    const lacksLastLf = end.lacksOnlyLf && !end.isAtWork;
    const to = lacksLastLf ? end.end + end.tornBytes : end.end;
    const { lineBytesMax } = LOG_LIMITS;
    const stretch = { from: 0, to, lineBytesMax, signal: undefined, lacksLastLf };
    let line = 0;
    for await (const spans of spansForward(file, stretch)) {
      for (const span of spans) yield* this.#judge(span, ++line);
      onProgress(spans.at(-1)?.start ?? 0, to);
    }
    if (this.#lines === 0 || this.#isAnyUnderstood) return;
    const { session, path, dialect } = this.#parts;
    const found = await recognise({ values: this.#values, head: await this.#head() });
    const detail =
      `${this.#lines} lines, and none is a message of the dialect ${dialect.name}` +
      (found ? `: this is ${found}` : "");
    yield finding("NOTHING_UNDERSTOOD", { session, path }, detail);
  }

  async *#judge(span: LineSpan, line: number): AsyncGenerator<Finding> {
    const { session, path, dialect, directory, derived } = this.#parts;
    const at: FindingPlace = { session, path, line, offset: span.start };
    if (span.bytes === null) {
      yield badLine({ ...at, bytes: span.length }, "too long");
      return;
    }
    const { value, fault } = decodeLine(span.bytes, span.from, span.to);
    if (fault !== null) {
      if (fault !== "blank" && fault !== "holds NUL") this.#lines++;
      yield badLine({ ...at, bytes: span.length }, fault);
      return;
    }
    if (!this.#isAnyUnderstood && this.#values.length < RECOGNISED_LINES) this.#values.push(value);
    const understood = dialect.reading.decode(value);
    const comparing = derived?.add(
      value,
      understood.entry,
      span.bytes.subarray(span.from, span.to),
    );
    if (comparing) await comparing;
    if (understood.entry) yield* this.#follow(understood.entry, at);
    else {
      this.#lines++;
      yield badLine({ ...at, bytes: span.length }, understood.fault);
    }
    const references = dialect.writing?.spilling?.referencesOf(value, basename(path)) ?? [];
    for (const reference of references) {
      this.spills.add(reference.name);
      const spill = await checkSpill(directory, reference, { session, path, line });
      if (spill) yield spill;
    }
  }

  async #head(): Promise<string> {
    const { file } = this.#parts;
    return (await readStretch(file, 0, Math.min(file.size(), HEAD_BYTES))).toString("latin1");
  }

  *#follow(entry: Entry, at: FindingPlace): Generator<Finding> {
    if (isCheckpoint(entry.native)) this.hasCheckpoints = true;
    else this.#lines++;
    this.#isAnyUnderstood ||= entry.kind !== "other";
    if (entry.kind === "end") this.#hasEnded = true;
    else if (entry.kind !== "other" && entry.kind !== "turn_end") this.#hasEnded = false;
    for (const { callId, fit } of this.calls.add(entry, at.line ?? 0)) {
      const of = callId === null ? "a call without an id" : `call ${clipText(callId)}`;
      yield fit === "duplicate"
        ? finding("DUPLICATE_RESULT", at, `a second result of ${of}`)
        : finding("UNKNOWN_CALL_RESULT", at, `a result of ${of}, which is not in the log`);
    }
  }
}

function badLine(at: FindingPlace, reason: string): Finding {
  if (reason === "blank") return finding("BLANK_LINE", at, "an empty line");
  return finding(reason === "holds NUL" ? "NUL_LINE" : "BAD_LINE", at, reason);
}

/** The fault of a line's spill file; null if it matches its record. */
async function checkSpill(
  directory: Directory,
  reference: SpillReference,
  line: FindingPlace,
): Promise<Finding | null> {
  const { name } = reference;
  if (!isPlainName(name)) {
    const detail = `it refers to ${clipText(name)}, which is not a file next to the log`;
    return finding("SPILL_MISSING", line, detail);
  }
  const at = { ...line, path: `${directory.path}/${name}` };
  try {
    const file = openIfThere(directory, name);
    if (file === null) return finding("SPILL_MISSING", at, `${clipText(name)} is missing`);
    try {
      const size = file.size();
      if (size !== reference.bytes) {
        const detail = `${clipText(name)} has ${size} bytes, not the ${reference.bytes} recorded`;
        return finding("SPILL_CHANGED", at, detail);
      }
      const hash = createHash("sha256");
      for await (const chunk of readChunks(file, 0, size)) hash.update(chunk);
      if (hash.digest("hex") === reference.sha256) return null;
      return finding("SPILL_CHANGED", at, `${clipText(name)} does not have the hash recorded`);
    } finally {
      file.close();
    }
  } catch (cause) {
    return troubleOf(at, cause);
  }
}

/** One path segment, so that no line can lead out of the log's directory. */
function isPlainName(name: string): boolean {
  return !/^\.{0,2}$/.test(name) && !name.includes("/") && !name.includes("\0");
}

export interface ExaminedLogEnd extends Tail {
  /** The bytes after the end belong to an unfinished write. */
  readonly isAtWork: boolean;
}

export async function findLogEnd(
  directory: Directory,
  name: string,
  file: OpenFile,
): Promise<ExaminedLogEnd> {
  let seen = await findTail(file);
  for (let looks = 1; seen.tornBytes > 0 && looks < LOOKS_MAX; looks++) {
    if (isHeld(directory, name)) return { ...seen, isAtWork: true };
    const again = await findTail(file);
    const isSame = again.end === seen.end && again.tornBytes === seen.tornBytes;
    if (isSame) return { ...again, isAtWork: false };
    seen = again;
  }
  return { ...seen, isAtWork: seen.tornBytes > 0 };
}

/** What happened to our last writer, as far as can be known. */
export type LastWriter =
  /** There was none. */
  | "none"
  /** It had the log to itself and did not record that it closed. */
  | "died"
  /** Its recorded durable end is the log's end: it closed, or nothing was appended since. */
  | "closed"
  /** It shares the log, has written, and has not closed: it may be running, or dead. */
  | "shares";

/** From the hint in the lock file (core/log/lock.ts), once the lock is free. */
export async function lastWriter(
  directory: Directory,
  name: string,
  end: number,
): Promise<LastWriter> {
  try {
    const text = await readSmallFile(directory, `${name}.lock`);
    if (text === null || text === "") return "none"; // Repair locks too, and leaves no hint.
    const hint = (JSON.parse(text) ?? {}) as { pid?: unknown; synced?: unknown };
    if (typeof hint.pid === "number") return "died";
    return hint.synced === end ? "closed" : "shares";
  } catch {
    return "shares"; // Cut short or unreadable: unknown.
  }
}

/** Whether a writer holds the log; false if the lock file cannot be read. */
export function isHeld(directory: Directory, name: string): boolean {
  try {
    return isBeingWritten(directory, name);
  } catch (cause) {
    // Wrong permissions, or a link in its place: reported as a finding of its own.
    if (["EACCES", "EPERM", "UNSAFE_PATH"].includes(errnoOf(cause))) return false;
    throw cause;
  }
}
