/**
 * Inspect: reads a log once or twice through the judges of `proof`, from one open file.
 *
 * - Everything is read from one descriptor and up to its size at the start, so a concurrent writer
 *   changes nothing.
 * - Memory does not grow with the log: chunks, one line, and the judges' state.
 *
 * V5  One pass judges: checkpoints, leaves and tail see the same bytes. If a second pass is needed,
 *     it must read the same bytes, or the log is CHANGED_WHILE_READ.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { OpenFile } from "../../core/base/files.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { readChunks } from "../../core/log/bytes.ts";
import { fromHex, toHex } from "../proof/bytes.ts";
import type { EnvelopeName } from "../proof/checkpoint.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import { DeepJudge } from "../proof/deep.ts";
import { Judge, type JudgeOptions } from "../proof/judge.ts";
import { LogLedger } from "../proof/ledger.ts";
import type { TailJudge } from "../proof/tail.ts";
import { VoidHashes } from "../proof/void-checkpoints.ts";
import { Walk, type WalkHandler } from "../proof/walk.ts";
import type { LogContent } from "../session-log.ts";
import { newTail, TailKeeper } from "./tail-keeper.ts";
import type { OnBytesJudged } from "./verify-options.ts";

/** A genesis usually follows the first lines; it is searched for in this many bytes first. */
const GENESIS_BYTES = 8 * 1024;
const FIRST_LINES_BYTES = 1024 * 1024;

export interface Inspection {
  readonly judge: Judge;
  /** The result for the leaves; null if it was not requested, or there is no genesis. */
  readonly deep: DeepJudge | null;
  readonly envelope: EnvelopeName;
  /** The size of the log at the start: the bytes that were judged. */
  readonly bytes: number;
  /**
   * The lines after the last checkpoint; null if there is no checkpoint, or the log has no lines.
   */
  readonly tail: TailJudge | null;
  readonly tailBytes: number;
}

export interface InspectOptions extends JudgeOptions {
  /** Also check every line against the segments and trees. */
  readonly isDeep: boolean;
  readonly content: LogContent;
  /** The log's path, for errors. */
  readonly path: string;
  readonly onProgress?: OnBytesJudged | undefined;
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
  /** Lines over the limit are left out and reported here; the log is not verified then. */
  readonly onLongLine?: ((at: number) => void) | undefined;
}

/** Checks the checkpoints in a log against its first `bytes` bytes. */
export async function inspectLog(
  log: OpenFile,
  envelope: EnvelopeName,
  options: InspectOptions,
  bytes = log.size(),
): Promise<Inspection> {
  const inspection = await inspectOnce(log, envelope, options, bytes);
  const { voids, bytesHash } = inspection.judge;
  if (voids.length === 0) return inspection;
  const { crypto, path, onProgress = () => {} } = options;
  const running = crypto.runningSha256();
  const hashes = new VoidHashes(voids, running);
  const reading = { log, bytes, envelope, crypto, path };
  await walk(reading, hashes, (chunk) => onProgress(chunk.length));
  if (running.hex() !== bytesHash) throw changedWhileRead(path, 0); // V5
  if (!hashes.wrong) return inspection;
  return inspectOnce(log, envelope, { ...options, onBytes: undefined, admitsVoid: false }, bytes);
}

async function inspectOnce(
  log: OpenFile,
  envelope: EnvelopeName,
  options: InspectOptions,
  bytes: number,
): Promise<Inspection> {
  const { crypto, isDeep, path, onProgress = () => {}, onBytes, onLongLine } = options;
  const judge = new Judge(options);
  const isVoid = (at: number) => judge.isVoid(at);
  const tail = new TailKeeper(
    (start) => newTail(envelope, judge.session, start, { isVoid }),
    isVoid,
  );
  const reading = { log, bytes, envelope, crypto, path, onLongLine };
  const genesis = isDeep ? await peekGenesis(reading) : null;
  let deep = genesis && deepJudge(crypto, genesis, isVoid);
  const rest = await walk(reading, all(judge, tail, ...(deep ? [deep] : [])), (chunk) => {
    onBytes?.(chunk);
    onProgress(chunk.length);
  });
  judge.finish();
  // The one that was found first is not the one that counts.
  if (genesis && !isSame(genesis, judge.genesis)) deep = null;
  if (isDeep && !deep && judge.genesis) {
    // Signed late: the genesis, with the salt of the first line, came far behind it.
    deep = deepJudge(crypto, judge.genesis, isVoid);
    await walk(reading, deep, (chunk) => onProgress(chunk.length));
    if (deep.ledger.hash() !== judge.bytesHash) throw changedWhileRead(path, 0); // V5
  }
  const tailBytes = bytes - judge.claimsEnd;
  const isSigned = judge.total > 0;
  return { judge, deep, envelope, bytes, tail: isSigned ? tail.finish(rest) : null, tailBytes };
}

function deepJudge(
  crypto: ProofCrypto,
  genesis: Genesis,
  isVoid: (at: number) => boolean,
): DeepJudge {
  return new DeepJudge(LogLedger.begin({ crypto, ...genesis, isSidecar: false }), isVoid);
}

type Genesis = NonNullable<Judge["genesis"]>;

/** A log and how many of its bytes are read. */
interface InspectedLog {
  readonly log: OpenFile;
  readonly bytes: number;
  readonly envelope: EnvelopeName;
  readonly crypto: ProofCrypto;
  readonly path: string;
  readonly onLongLine?: ((at: number) => void) | undefined;
}

/** The genesis of a log that was signed from its beginning, as nearly all are. */
async function peekGenesis(reading: InspectedLog): Promise<Genesis | null> {
  let genesis: Genesis | null = null;
  const handler: WalkHandler = {
    lines: () => {},
    claim: (_line, start, claim) => {
      if (genesis || claim.is !== "checkpoint" || claim.checkpoint.kind !== "genesis") return;
      const { salt, parts, byteOffset } = claim.checkpoint;
      if (byteOffset !== start) return; // It may be void.
      genesis = { salt: fromHex(salt), parts };
    },
  };
  for (const first of [GENESIS_BYTES, FIRST_LINES_BYTES]) {
    await walk({ ...reading, bytes: Math.min(reading.bytes, first) }, handler, () => {});
    if (genesis || reading.bytes <= first) break;
  }
  return genesis;
}

function isSame(one: Genesis, other: Genesis | null): boolean {
  return other !== null && one.parts === other.parts && toHex(one.salt) === toHex(other.salt);
}

function all(...handlers: readonly WalkHandler[]): WalkHandler {
  return {
    lines: (bytes) => {
      for (const handler of handlers) handler.lines(bytes);
    },
    claim: (line, start, claim) => {
      for (const handler of handlers) handler.claim(line, start, claim);
    },
  };
}

/** Returns the bytes after the last whole line. */
async function walk(
  { log, bytes, envelope, crypto, path, onLongLine }: InspectedLog,
  handler: WalkHandler,
  onChunk: (chunk: Uint8Array) => void,
): Promise<Uint8Array> {
  const bytesMax = LOG_LIMITS.lineBytesMax;
  const skipped = (lineBytes: number) => onLongLine?.(steps.end - lineBytes);
  const long = onLongLine ? { bytesMax, skipped } : null;
  const steps = new Walk(crypto, envelope, handler, long);
  for await (const chunk of readExactly(log, 0, bytes, path)) {
    steps.feed(chunk);
    if (steps.restBytes > bytesMax) throw lineTooLong(steps.end);
    onChunk(chunk);
  }
  if (steps.skippedBytes > 0) onLongLine?.(steps.end);
  return steps.rest;
}

export function lineTooLong(at: number): VerbatimError {
  const bytesMax = LOG_LIMITS.lineBytesMax;
  return new VerbatimError(
    "LINE_TOO_LONG",
    `the line at byte ${at} is longer than ${bytesMax} bytes, so the session cannot be verified; ` +
      "`verbatim export` and `verbatim show` skip the line and report it",
    { path: "", bytes: bytesMax + 1, bytesMax },
  );
}

/**
 * Reads a byte range whose length was determined before, each byte once.
 *
 * If the file is shorter by now, that is CHANGED_WHILE_READ: it was cut meanwhile. Treating the
 * missing bytes as an empty range would report `verified` for a log whose end was never read.
 *
 * The range `[from, to)` in chunks, in order, complete or CHANGED_WHILE_READ.
 */
export async function* readExactly(
  file: OpenFile,
  from: number,
  to: number,
  path: string,
): AsyncGenerator<Uint8Array> {
  let at = from;
  for await (const chunk of readChunks(file, from, to)) {
    at += chunk.length;
    yield chunk;
  }
  if (at < to) throw changedWhileRead(path, at);
}

export function changedWhileRead(path: string, at: number): VerbatimError<"CHANGED_WHILE_READ"> {
  return new VerbatimError(
    "CHANGED_WHILE_READ",
    `${path} changed at or after byte ${at} while it was read; nothing from there on was used, ` +
      "try again",
    { path, offset: at },
  );
}
