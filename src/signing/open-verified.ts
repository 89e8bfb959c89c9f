/**
 * Open verified: lines from the very bytes that were judged.
 *
 * Verifying a file and then opening it again would trust whoever writes between the two. So both
 * passes read one descriptor, which follows no link: the first judges and keeps a digest of every
 * piece, the second hands out a piece only after it has the same digest.
 *
 * N1  No byte is handed out that differs from the judged ones, whatever happens to the file.
 */

import { VerbatimError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import type { Host } from "../base/host.ts";
import type { ByteOffset } from "../base/offset.ts";
import { readStretch } from "../log/bytes.ts";
import { openPlace, openToRead } from "../log/place.ts";
import { repairedEnd } from "../log/repair.ts";
import { findTail } from "../log/tail.ts";
import { LF } from "../proof/bytes.ts";
import type { ProofCrypto, RunningHash } from "../proof/crypto.ts";
import { WholeLines } from "../proof/whole-lines.ts";
import type { VerifyReport } from "./report.ts";
import type { SessionLog } from "./session-log.ts";
import { judgeOpen } from "./verify.ts";
import type { VerifyOptions } from "./verify-options.ts";

/** How much is compared at once, and so held in memory. */
const PIECE_BYTES = 1024 * 1024;

export interface VerifiedLine {
  /** Without its LF. */
  readonly line: Uint8Array;
  readonly start: number;
  /**
   * Whether somebody answers for it by a trusted signature: true but for an unsigned tail, and lines
   * that a signer only found, read leniently.
   */
  readonly isVerified: boolean;
}

export interface VerifiedLog {
  readonly report: VerifyReport;
  /** Where the judged bytes end for whoever appends, what a crash left of a line mended. */
  readonly end: ByteOffset;
  /** The lines, checkpoints included. Ends the reading of the file; to be taken once. */
  readonly lines: AsyncGenerator<VerifiedLine>;
  close(): void;
}

export interface OpenVerifiedOptions extends VerifyOptions {
  /** Takes an unsigned tail too, marked as such; nothing else that strict refuses. */
  readonly isLenient?: boolean;
  /** Takes a log in which nothing is signed, all of it marked as such. */
  readonly admitsUnsigned?: boolean;
  /** Gives a last line without its LF too, as unsigned as it is. */
  readonly takesUnterminated?: boolean;
}

/** Opens a log whose verdict is good; refuses all others with NOT_VERIFIED. */
export async function openVerifiedLog(
  host: Host,
  target: SessionLog,
  options: OpenVerifiedOptions,
): Promise<VerifiedLog> {
  const place = await openPlace(host, target.logId, { create: false, root: target.root });
  let log: OpenFile | null = null;
  try {
    log = openToRead(place);
    const pieces = new Pieces(options.crypto);
    const onBytes = (bytes: Uint8Array) => pieces.add(bytes);
    const report = await judgeOpen(place, log, target, { ...options, onBytes });
    pieces.end();
    const isFit =
      report.verdict === "verified" ||
      (options.isLenient === true && report.verdict === "incomplete") ||
      (options.admitsUnsigned === true && report.verdict === "unsigned");
    if (!isFit) throw notVerified(report);
    const opened = log;
    const { identity, bytes } = { identity: opened.identity(), bytes: report.file.bytes };
    const end = repairedEnd(await findTail(opened, bytes));
    const signedEnd = report.signed_through?.end ?? 0;
    const { path, found } = report;
    const takesRest = options.takesUnterminated === true;
    const lines = readAgain(opened, pieces, { signedEnd, found, identity, bytes, path, takesRest });
    return { report, end, lines, close: () => opened.close() };
  } catch (cause) {
    log?.close();
    throw cause;
  } finally {
    place.directory.close();
  }
}

/** The digests of what was judged, piece by piece. */
class Pieces {
  readonly #crypto: ProofCrypto;
  readonly list: { readonly bytes: number; readonly digest: Uint8Array }[] = [];
  #hash: RunningHash;
  #bytes = 0;

  constructor(crypto: ProofCrypto) {
    this.#crypto = crypto;
    this.#hash = crypto.runningSha256();
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= PIECE_BYTES) this.end();
  }

  end(): void {
    if (this.#bytes === 0) return;
    this.list.push({ bytes: this.#bytes, digest: this.#hash.digest() });
    this.#hash = this.#crypto.runningSha256();
    this.#bytes = 0;
  }

  isSame(piece: { readonly digest: Uint8Array }, bytes: Uint8Array): boolean {
    return Buffer.compare(this.#crypto.sha256(bytes), piece.digest) === 0;
  }
}

interface Judged {
  readonly path: string;
  readonly signedEnd: number;
  readonly found: VerifyReport["found"];
  readonly identity: string;
  readonly bytes: number;
  readonly takesRest: boolean;
}

async function* readAgain(
  log: OpenFile,
  pieces: Pieces,
  { path, signedEnd, found, identity, bytes: judgedBytes, takesRest }: Judged,
): AsyncGenerator<VerifiedLine> {
  let ready: Uint8Array[] = [];
  const whole = new WholeLines((bytes) => ready.push(bytes));
  let [at, start] = [0, 0];
  for (const piece of pieces.list) {
    const bytes = await readStretch(log, at, at + piece.bytes);
    if (bytes.length !== piece.bytes || !pieces.isSame(piece, bytes)) throw changed(path, at);
    at += bytes.length;
    whole.feed(bytes);
    for (const lines of ready) {
      for (let from = 0; from < lines.length; ) {
        const lf = lines.indexOf(LF, from);
        const line = lines.subarray(from, lf);
        const at = start;
        const isFound = found.some(([first, past]) => at >= first && at < past);
        yield { line, start, isVerified: start < signedEnd && !isFound };
        start += line.length + 1;
        from = lf + 1;
      }
    }
    ready = [];
  }
  if (takesRest && whole.restBytes > 0) yield { line: whole.rest, start, isVerified: false };
  if (log.identity() !== identity || log.size() < judgedBytes) throw changed(path, judgedBytes);
}

function changed(path: string, at: number): VerbatimError {
  return new VerbatimError(
    "CHANGED_WHILE_READ",
    `${path} changed at or after byte ${at} since it was verified; nothing from there on was used`,
    { path, offset: at },
  );
}

function notVerified({ path, verdict, findings }: VerifyReport): VerbatimError {
  const why = findings.find((finding) => finding.verdict === verdict);
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} is ${verdict}${why ? `: ${why.message}` : ""}; nothing of it was used`,
    { path, verdict },
  );
}
