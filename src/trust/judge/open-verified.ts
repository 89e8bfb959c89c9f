/**
 * Open verified: returns lines from exactly the bytes that were judged.
 *
 * Verifying a file and then opening it again would allow a change between the two. So both passes
 * read one descriptor, which follows no link: the first judges and keeps a digest of every piece,
 * the second uses a piece only if it has the same digest.
 *
 * N1  No byte is used that differs from the judged ones, whatever happens to the file.
 *
 * In strict mode no unsigned line is returned, whatever led to the verdict.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import type { ByteOffset } from "../../core/base/offset.ts";
import { type Readable, readStretch } from "../../core/log/bytes.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { repairedEnd } from "../../core/log/repair.ts";
import { findTail } from "../../core/log/tail.ts";
import { LF, toHex } from "../proof/bytes.ts";
import type { ProofCrypto, RunningHash } from "../proof/crypto.ts";
import { WholeLines } from "../proof/whole-lines.ts";
import type { SessionLog } from "../session-log.ts";
import { changedWhileRead, lineTooLong, readExactly } from "./inspect.ts";
import type { VerifyReport } from "./report.ts";
import { judgeOpen } from "./verify.ts";
import type { VerifyOptions } from "./verify-options.ts";

const EMPTY = new Uint8Array(0);

/** Bytes compared at once, and so held in memory. */
const PIECE_BYTES = 1024 * 1024;

export interface VerifiedLine {
  /** Without its LF. */
  readonly line: Uint8Array;
  readonly start: number;
  /**
   * Whether a trusted signature covers it. False only in lenient mode: for an unsigned tail, and
   * for lines that a signer only stated as found.
   */
  readonly isVerified: boolean;
  /** The line was too long to be held; `bytes` of it, LF included, are left out. */
  readonly tooLong?: { readonly bytes: number };
}

export interface VerifiedLog {
  readonly report: VerifyReport;
  /** Offset of the next append, after torn-tail repair. */
  readonly end: ByteOffset;
  /** The lines, including checkpoints. Can be iterated once; closes the file at the end. */
  readonly lines: AsyncGenerator<VerifiedLine>;
  /** SHA-256, in hex, of the bytes up to `end`, once all lines were read; null before. */
  hash(): string | null;
  close(): void;
}

export interface OpenVerifiedOptions extends VerifyOptions {
  /** Accepts an unsigned tail too, marked as such; nothing else that strict refuses. */
  readonly isLenient?: boolean;
  /** Accepts a log without any signature, all lines marked as unsigned. */
  readonly allowUnsigned?: boolean;
  /** Also returns a last line without its LF, as unsigned. */
  readonly takesUnterminated?: boolean;
  /** Of an unsigned log, lines over the limit are returned empty, as `isTooLong`. */
  readonly skipsLongLines?: boolean;
}

/** Opens a log whose verdict is good; refuses others with NOT_VERIFIED. */
export async function openVerifiedLog(
  host: Host,
  target: SessionLog,
  options: OpenVerifiedOptions,
): Promise<VerifiedLog> {
  const place = await openLogPath(host, target.logId, { create: false, root: target.root });
  let log: OpenFile | null = null;
  try {
    log = openToRead(place);
    const pieces = new Pieces(options.crypto);
    const onBytes = (bytes: Uint8Array) => pieces.add(bytes);
    let longAt: number | null = null;
    const onLongLine = (at: number) => {
      longAt ??= at;
    };
    const skips = options.skipsLongLines ? { onLongLine } : {};
    const report = await judgeOpen(place, log, target, { ...options, onBytes, ...skips });
    pieces.end();
    // The judge did not see them: a log with a signature is refused.
    if (longAt !== null && report.verdict !== "unsigned") throw lineTooLong(longAt);
    if (pieces.bytes !== report.file.bytes) throw changedWhileRead(report.path, pieces.bytes);
    return await openJudged(log, pieces, report, options);
  } catch (cause) {
    log?.close();
    throw cause;
  } finally {
    place.directory.close();
  }
}

/** Where the log's own judged bytes begin; those before are its parent's, and judged too. */
export interface InheritedBytes {
  readonly bytes: number;
  readonly isVerified: boolean;
}

/** Lines of a log that was judged piece by piece; refuses like `openVerifiedLog`. */
export async function openJudged(
  log: OpenFile,
  pieces: Pieces,
  report: VerifyReport,
  options: OpenVerifiedOptions,
  inherited: InheritedBytes = { bytes: 0, isVerified: true },
): Promise<VerifiedLog> {
  const isFit =
    report.verdict === "verified" ||
    (options.isLenient === true && report.verdict === "incomplete") ||
    (options.allowUnsigned === true && report.verdict === "unsigned");
  if (!isFit) throw notVerified(report);
  const judged = new JudgedBytes(log, pieces, report.path);
  const end = repairedEnd(await findTail(judged));
  const mended = new MendedHash(options.crypto, end);
  const lines = readAgain(judged, report, options, mended, inherited);
  return { report, end, lines, hash: () => mended.hex, close: () => log.close() };
}

interface Piece {
  readonly start: number;
  readonly bytes: number;
  readonly digest: Uint8Array;
}

/** Digests of the judged bytes, piece by piece. */
export class Pieces {
  readonly #crypto: ProofCrypto;
  readonly list: Piece[] = [];
  #hash: RunningHash;
  #start = 0;
  bytes = 0;

  constructor(crypto: ProofCrypto) {
    this.#crypto = crypto;
    this.#hash = crypto.runningSha256();
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.bytes += bytes.length;
    if (this.bytes - this.#start >= PIECE_BYTES) this.end();
  }

  end(): void {
    const start = this.#start;
    if (this.bytes === start) return;
    this.list.push({ start, bytes: this.bytes - start, digest: this.#hash.digest() });
    this.#hash = this.#crypto.runningSha256();
    this.#start = this.bytes;
  }

  /** Appends the pieces of the bytes that follow these. */
  append(other: Pieces): void {
    this.end();
    for (const piece of other.list) this.list.push({ ...piece, start: this.bytes + piece.start });
    this.bytes += other.bytes;
    this.#start = this.bytes;
  }

  isSame({ digest }: Piece, bytes: Uint8Array): boolean {
    return Buffer.compare(this.#crypto.sha256(bytes), digest) === 0;
  }
}

/** The hash of a log up to its end after repair: cut there, or with one LF more. */
class MendedHash {
  readonly #hash: RunningHash;
  #left: number;
  /** Null until all bytes were added. */
  hex: string | null = null;

  constructor(crypto: ProofCrypto, end: number) {
    this.#hash = crypto.runningSha256();
    this.#left = end;
  }

  add(bytes: Uint8Array): void {
    const taken = bytes.subarray(0, this.#left);
    this.#hash.update(taken);
    this.#left -= taken.length;
  }

  end(): void {
    if (this.#left > 0) this.#hash.update(Uint8Array.of(LF));
    this.hex = toHex(this.#hash.digest());
  }
}

/** Where a log ends after repair, and the hash of its bytes up to there. Writes nothing. */
export async function mendedLog(
  host: Host,
  { root, logId }: Pick<SessionLog, "root" | "logId">,
  crypto: ProofCrypto,
): Promise<{ readonly end: number; readonly hash: string | null }> {
  const place = await openLogPath(host, logId, { create: false, root });
  try {
    const log = openToRead(place);
    try {
      const end = repairedEnd(await findTail(log));
      const mended = new MendedHash(crypto, end);
      const size = Math.min(end, log.size());
      for await (const chunk of readExactly(log, 0, size, place.path)) mended.add(chunk);
      mended.end();
      return { end, hash: mended.hex };
    } finally {
      log.close();
    }
  } finally {
    place.directory.close();
  }
}

/** Reads the judged bytes again: a piece with another digest is CHANGED_WHILE_READ (N1). */
class JudgedBytes implements Readable {
  readonly log: OpenFile;
  readonly pieces: Pieces;
  readonly path: string;
  /** The piece that `read` used last: the tail is searched backward, in steps of a part of a piece. */
  #last: { readonly piece: Piece; readonly bytes: Uint8Array } | null = null;

  constructor(log: OpenFile, pieces: Pieces, path: string) {
    this.log = log;
    this.pieces = pieces;
    this.path = path;
  }

  size(): number {
    return this.pieces.bytes;
  }

  async piece(piece: Piece): Promise<Uint8Array> {
    const bytes = await readStretch(this.log, piece.start, piece.start + piece.bytes);
    const isSame = bytes.length === piece.bytes && this.pieces.isSame(piece, bytes);
    if (!isSame) throw changedWhileRead(this.path, piece.start);
    return bytes;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    const to = Math.min(at + into.length, this.pieces.bytes);
    for (const piece of this.pieces.list.toReversed()) {
      const { start, bytes } = piece;
      if (start >= to || start + bytes <= at) continue;
      if (this.#last?.piece !== piece) this.#last = { piece, bytes: await this.piece(piece) };
      const from = Math.max(at, start);
      into.set(this.#last.bytes.subarray(from - start, to - start), from - at);
    }
    return Math.max(0, to - at);
  }
}

async function* readAgain(
  judged: JudgedBytes,
  { path, found, signed_through: through, verdict }: VerifyReport,
  { takesUnterminated, skipsLongLines }: OpenVerifiedOptions,
  mended: MendedHash,
  inherited: InheritedBytes,
): AsyncGenerator<VerifiedLine> {
  const { log, pieces } = judged;
  const identity = log.identity();
  /** Whole lines, or the length of a line that was too long. */
  let ready: (Uint8Array | number)[] = [];
  const skipped = (bytes: number) => ready.push(bytes);
  const long = skipsLongLines ? { bytesMax: LOG_LIMITS.lineBytesMax, skipped } : null;
  const whole = new WholeLines((bytes) => ready.push(bytes), long);
  let start = 0;
  const judgedLine = (line: Uint8Array, isWhole: boolean): VerifiedLine => {
    const at = start - inherited.bytes;
    const isFound = found.some(([first, past]) => at >= first && at < past);
    const isOwnVerified = at < (through?.end ?? 0) && !isFound;
    const isVerified = isWhole && (at < 0 ? inherited.isVerified : isOwnVerified);
    if (!isVerified && verdict === "verified") throw changedWhileRead(path, start);
    return { line, start, isVerified };
  };
  for (const piece of pieces.list) {
    const bytes = await judged.piece(piece);
    mended.add(bytes);
    whole.feed(bytes);
    for (const lines of ready) {
      if (typeof lines === "number") {
        yield { ...judgedLine(EMPTY, false), tooLong: { bytes: lines } };
        start += lines;
        continue;
      }
      for (let from = 0; from < lines.length; ) {
        const lf = lines.indexOf(LF, from);
        const line = lines.subarray(from, lf);
        yield judgedLine(line, true);
        start += line.length + 1;
        from = lf + 1;
      }
    }
    ready = [];
  }
  if (takesUnterminated && whole.restBytes > 0) yield judgedLine(whole.rest, false);
  const { skippedBytes: bytes } = whole;
  if (bytes > 0) yield { ...judgedLine(EMPTY, false), tooLong: { bytes } };
  if (log.identity() !== identity || log.size() < pieces.bytes) {
    throw changedWhileRead(path, pieces.bytes);
  }
  mended.end();
}

/** The refusal of a log, by the report on it. */
export function notVerified({ path, verdict, findings }: VerifyReport): VerbatimError {
  const why = findings.find((finding) => finding.verdict === verdict);
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} is ${verdict}${why ? `: ${why.message}` : ""}; nothing of it was used`,
    { path, verdict, ...(why ? { finding: why.code } : {}) },
  );
}
