/**
 * Inspect: reads a log once or twice through the judges of `proof`, from one open file.
 *
 * V1  Everything is read from one descriptor and up to the size it had at first, so that a writer
 *     who goes on meanwhile changes nothing.
 * V2  Memory does not grow with the log: chunks, one line, and what the judges keep.
 */

import { VerbatimError } from "../base/errors.ts";
import type { OpenFile } from "../base/files.ts";
import { LOG_LIMITS } from "../base/limits.ts";
import { readChunks } from "../log/bytes.ts";
import { fromHex } from "../proof/bytes.ts";
import type { EnvelopeName } from "../proof/checkpoint.ts";
import type { ProofCrypto } from "../proof/crypto.ts";
import { DeepJudge } from "../proof/deep.ts";
import { Judge, type JudgeOptions } from "../proof/judge.ts";
import { Ledger } from "../proof/ledger.ts";
import { TailJudge } from "../proof/tail.ts";
import { Walk, type WalkHandler } from "../proof/walk.ts";
import { type Content, sessionKey } from "./session-log.ts";
import type { OnProgress } from "./verify-options.ts";

/** Where a genesis mostly is, after the first lines, and how far else it is looked for at first. */
const GENESIS_BYTES = 8 * 1024;
const FIRST_LINES_BYTES = 1024 * 1024;

export interface Inspection {
  readonly judge: Judge;
  /** What the leaves say; null when they were not asked for, or there is no genesis. */
  readonly deep: DeepJudge | null;
  readonly envelope: EnvelopeName;
  /** What was looked at: the size of the log when it began. */
  readonly bytes: number;
  /** What stands after the last checkpoint; null when there is none, or it is no lines. */
  readonly tail: TailJudge | null;
  readonly tailBytes: number;
}

export interface InspectOptions extends JudgeOptions {
  /** Hold every line against the segments and trees, too. */
  readonly isDeep: boolean;
  readonly content: Content;
  readonly onProgress?: OnProgress | undefined;
  readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
}

/** Holds the checkpoints in a log against its bytes, up to `bytes` of them. */
export async function inspectLog(
  log: OpenFile,
  envelope: EnvelopeName,
  options: InspectOptions,
  bytes = log.size(),
): Promise<Inspection> {
  const { crypto, isDeep, onProgress = () => {}, onBytes } = options;
  const judge = new Judge(options);
  const genesis = isDeep ? await peekGenesis(log, envelope, crypto) : null;
  let deep = genesis && deepJudge(crypto, genesis);
  const onChunk = (chunk: Uint8Array) => {
    onBytes?.(chunk);
    onProgress(chunk.length);
  };
  await walk(log, bytes, envelope, deep ? both(judge, deep) : judge, crypto, onChunk);
  judge.finish();
  if (isDeep && !deep && judge.genesis) {
    // Signed late: the salt of the first line was found far behind it.
    deep = deepJudge(crypto, judge.genesis);
    await walk(log, bytes, envelope, deep, crypto, (chunk) => onProgress(chunk.length));
  }
  const { claimsEnd } = judge;
  const isSigned = judge.total > 0;
  const tail = isSigned ? await inspectTail(log, claimsEnd, bytes, envelope, judge.session) : null;
  return { judge, deep, envelope, bytes, tail, tailBytes: bytes - claimsEnd };
}

function deepJudge(crypto: ProofCrypto, genesis: Genesis): DeepJudge {
  return new DeepJudge(Ledger.begin({ crypto, ...genesis, isSidecar: false }));
}

type Genesis = NonNullable<Judge["genesis"]>;

/** The genesis of a log that was signed from its beginning, as nearly all are. */
async function peekGenesis(
  log: OpenFile,
  envelope: EnvelopeName,
  crypto: ProofCrypto,
): Promise<Genesis | null> {
  let genesis: Genesis | null = null;
  const handler: WalkHandler = {
    lines: () => {},
    claim: (_line, _start, claim) => {
      if (genesis || claim.is !== "checkpoint" || claim.checkpoint.kind !== "genesis") return;
      const { salt, parts } = claim.checkpoint;
      genesis = { salt: fromHex(salt), parts };
    },
  };
  for (const bytes of [GENESIS_BYTES, FIRST_LINES_BYTES]) {
    if (genesis) break;
    await walk(log, Math.min(log.size(), bytes), envelope, handler, crypto, () => {});
  }
  return genesis;
}

function both(one: WalkHandler, other: WalkHandler): WalkHandler {
  return {
    lines: (bytes) => {
      one.lines(bytes);
      other.lines(bytes);
    },
    claim: (line, start, claim) => {
      one.claim(line, start, claim);
      other.claim(line, start, claim);
    },
  };
}

async function walk(
  log: OpenFile,
  bytes: number,
  envelope: EnvelopeName,
  handler: WalkHandler,
  crypto: ProofCrypto,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  const steps = new Walk(crypto, envelope, handler);
  for await (const chunk of readChunks(log, 0, bytes)) {
    steps.feed(chunk);
    if (steps.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(steps.end);
    onChunk(chunk);
  }
}

export async function inspectTail(
  log: OpenFile,
  start: number,
  end: number,
  envelope: EnvelopeName,
  id: string | null,
  onBytes: (bytes: Uint8Array) => void = () => {},
  { isData = false, admitsLegacy = false } = {},
): Promise<TailJudge> {
  const tail = newTail(envelope, id, start, isData, admitsLegacy);
  for await (const chunk of readChunks(log, start, end)) {
    tail.feed(chunk);
    if (tail.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(tail.end);
    onBytes(chunk);
  }
  tail.finish();
  return tail;
}

/** A judge of lines that nobody has signed, from `start` on. */
export function newTail(
  envelope: EnvelopeName,
  id: string | null,
  start: number,
  isData = false,
  admitsLegacy = false,
): TailJudge {
  const key = sessionKey(envelope);
  const session = key !== null && id !== null ? { key, id } : null;
  return new TailJudge({ envelope, session, start, isData, admitsLegacy });
}

export function lineTooLong(at: number): VerbatimError {
  const bytesMax = LOG_LIMITS.lineBytesMax;
  return new VerbatimError(
    "LINE_TOO_LONG",
    `the line at byte ${at} is longer than ${bytesMax} bytes; no log of ours holds such a line`,
    { path: "", bytes: bytesMax + 1, bytesMax },
  );
}
