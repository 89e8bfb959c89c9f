/**
 * Inspect sidecar: checks the checkpoints of a sidecar against the log's bytes.
 *
 * The sidecar is read first: its writer syncs the log before it adds a checkpoint, so a log that is
 * opened later has every byte that a checkpoint covers. Otherwise as inspect.ts.
 */

import type { OpenFile } from "../../core/base/files.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { NUL } from "../../core/log/bytes.ts";
import { fromHex, LF } from "../proof/bytes.ts";
import type { Checkpoint } from "../proof/checkpoint.ts";
import { type Claim, claimOf } from "../proof/claims.ts";
import { DeepJudge } from "../proof/deep.ts";
import { Judge } from "../proof/judge.ts";
import { LogLedger } from "../proof/ledger.ts";
import { WholeLines } from "../proof/whole-lines.ts";
import { sidecarOf } from "../session-log.ts";
import { type Inspection, type InspectOptions, lineTooLong, readExactly } from "./inspect.ts";
import { newTail } from "./tail-keeper.ts";

/** `torn`: left by a power cut. `foreign`: does not belong in a sidecar. */
type SidecarLineKind = "checkpoint" | "newer" | "torn" | "foreign";

/** The kind of each line of a sidecar, which depends on the lines before it. */
export class SidecarOrder {
  #hasTorn = false;
  #hasForeign = false;

  /** The kind of the next line, from its claim (proof/claims.ts) and whether it contains NULs. */
  kindOf(claim: Claim["is"] | null, hasNul: boolean): SidecarLineKind {
    if (claim === "checkpoint" && !this.#hasTorn) return claim;
    // A power cut leaves NULs for bytes that were never written, but only at the very end.
    if (hasNul && !this.#hasForeign) {
      this.#hasTorn = true;
      return "torn";
    }
    if (claim === "newer") return claim;
    this.#hasForeign = true;
    return "foreign";
  }
}

/** A sidecar's checkpoints in order, and its other content. */
export interface SidecarLines {
  readonly checkpoints: AsyncGenerator<{ checkpoint: Checkpoint; line: Uint8Array }>;
  /** Offset of the first terminated line that is not a checkpoint. */
  foreignAt: number | null;
  /** Offset of the first checkpoint in a version that this program does not know. */
  newerAt: number | null;
  /** Bytes of a line that a crash cut short or left as NULs. */
  tornBytes: number;
}

/** Reads a sidecar from the start of a line, up to its current size. */
export function readSidecar(sidecar: OpenFile, path: string, from = 0): SidecarLines {
  const end = sidecar.size();
  const lines: SidecarLines = {
    checkpoints: read(),
    foreignAt: null,
    newerAt: null,
    tornBytes: 0,
  };
  async function* read(): SidecarLines["checkpoints"] {
    const order = new SidecarOrder();
    let ready: Uint8Array[] = [];
    let at = from;
    const whole = new WholeLines((bytes) => {
      for (let start = 0; start < bytes.length; ) {
        const next = bytes.indexOf(LF, start) + 1;
        ready.push(bytes.slice(start, next));
        start = next;
      }
    });
    for await (const chunk of readExactly(sidecar, from, end, path)) {
      whole.feed(chunk);
      for (const line of ready) {
        const claim = claimOf(line.subarray(0, -1), "sidecar");
        const checkpoint = claim?.is === "checkpoint" ? claim.checkpoint : null;
        const kind = order.kindOf(claim?.is ?? null, !checkpoint && line.includes(NUL));
        if (kind === "checkpoint" && checkpoint) yield { checkpoint, line };
        else if (kind === "torn") lines.tornBytes += line.length;
        else if (kind === "newer") lines.newerAt ??= at;
        else lines.foreignAt ??= at;
        at += line.length;
      }
      ready = [];
      if (whole.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(at);
    }
    lines.tornBytes += whole.restBytes;
  }
  return lines;
}

export interface SidecarInspection extends Inspection {
  readonly sidecar: SidecarLines;
  /** A checkpoint of this log covers more than the log holds: it is lost from this byte on. */
  readonly lostAt: number | null;
}

/** Reads each byte once: the hash, the leaves and `onBytes` see the same bytes (V5). */
class LogStretches {
  readonly #log: OpenFile;
  readonly #options: InspectOptions;
  #lastByte: number = LF;
  /** Read up to here. */
  at = 0;

  constructor(log: OpenFile, options: InspectOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** Whether a checkpoint may cover the bytes up to here: they end with a line, or are raw. */
  get isBoundary(): boolean {
    return this.#options.content === "bytes" || this.#lastByte === LF;
  }

  async readTo(
    to: number,
    leaves: DeepJudge | null,
    take: (chunk: Uint8Array) => void,
  ): Promise<void> {
    const { content, path, onProgress, onBytes } = this.#options;
    const whole = new WholeLines((lines) => leaves?.lines(lines));
    for await (const chunk of readExactly(this.#log, this.at, to, path)) {
      take(chunk);
      if (content === "bytes") leaves?.lines(chunk);
      else if (leaves) whole.feed(chunk);
      if (whole.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(to);
      this.#lastByte = chunk.at(-1) ?? this.#lastByte;
      onBytes?.(chunk);
      onProgress?.(chunk.length);
    }
    this.at = Math.max(this.at, to);
  }
}

/** Checks sidecar checkpoints against the log's bytes. The sidecar was opened before the log. */
export async function inspectSidecar(
  log: OpenFile,
  sidecar: OpenFile,
  options: InspectOptions,
  upTo?: number,
): Promise<SidecarInspection> {
  const { crypto, content, onBytes } = options;
  const lines = readSidecar(sidecar, sidecarOf(options.path));
  // Only now: the log had these bytes before the checkpoint was written.
  const bytes = upTo ?? log.size();
  const isRaw = content === "bytes";
  const hash = crypto.runningSha256();
  const judge = new Judge(options, hash);
  const stretches = new LogStretches(log, options);
  let deep: DeepJudge | null = null;
  let lostAt: number | null = null;
  for await (const { checkpoint, line } of lines.checkpoints) {
    const { byteOffset: place } = checkpoint;
    if (judge.total === 0 && checkpoint.kind === "genesis") {
      const salt = fromHex(checkpoint.salt);
      hash.update(salt);
      const { parts } = checkpoint;
      const ledger = LogLedger.begin({ crypto, salt, parts, isSidecar: true, isRaw });
      if (options.isDeep) deep = new DeepJudge(ledger);
    }
    if (place > bytes && judge.isOwn(checkpoint)) lostAt ??= bytes;
    await stretches.readTo(Math.min(place, bytes), place <= bytes ? deep : null, (chunk) => {
      hash.update(chunk);
    });
    const actual = stretches.isBoundary && place === stretches.at ? hash.hex() : "";
    const logHash = place > bytes ? null : actual;
    judge.checkpoint(checkpoint, line, { place, end: place }, logHash);
    deep?.fromSidecar(checkpoint);
  }
  judge.finish();
  const { at } = stretches;
  const tailBytes = bytes - at;
  const tail = isRaw ? null : newTail("sidecar", null, at, { isData: content === "messages" });
  if (tail || deep || onBytes) {
    await stretches.readTo(bytes, deep, (chunk) => {
      tail?.feed(chunk);
      if (tail && tail.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(tail.end);
    });
  }
  tail?.finish();
  return { judge, deep, envelope: "sidecar", bytes, tail, tailBytes, sidecar: lines, lostAt };
}

/** A log without a sidecar. Its lines, if any, are data and claim nothing. */
export async function inspectBare(
  log: OpenFile,
  options: InspectOptions,
  upTo?: number,
): Promise<Inspection> {
  const judge = new Judge(options);
  judge.finish();
  const bytes = upTo ?? log.size();
  const { onBytes, onProgress, path } = options;
  // Only for a caller that uses these bytes: there is nothing in them to judge.
  for await (const chunk of onBytes ? readExactly(log, 0, bytes, path) : []) {
    onBytes?.(chunk);
    onProgress?.(chunk.length);
  }
  return { judge, deep: null, envelope: "sidecar", bytes, tail: null, tailBytes: 0 };
}
