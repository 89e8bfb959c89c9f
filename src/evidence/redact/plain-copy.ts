/**
 * Plain copy: the lines of a log with what is found masked in the text, and without any proof. For logs that
 * are unsigned, or signed in the older format only. Checkpoints are left out: their hashes are of
 * the original lines, and their salt would tell more.
 */

import type { Host } from "../../core/base/host.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { openLogPath, openToRead } from "../../core/log/log-path.ts";
import { lineTooLong, readExactly } from "../../trust/judge/inspect.ts";
import { LF } from "../../trust/proof/bytes.ts";
import { asciiJson } from "../../trust/proof/checkpoint.ts";
import { claimOf } from "../../trust/proof/claims.ts";
import { envelopeOf, hasSidecar } from "../../trust/proof/envelopes.ts";
import { WholeLines } from "../../trust/proof/whole-lines.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import type { WithheldPlace } from "./copy-writer.ts";
import { type Finder, maskedLine, rulesOf, WITHHELD, withheldBy } from "./hits.ts";

export interface PlainOptions extends MaskOptions {
  readonly reason: string;
  readonly out: (bytes: Uint8Array) => void;
}

export interface MaskOptions {
  readonly finder: Finder;
  readonly onPlace: (place: WithheldPlace) => void;
  /** Where to end. Default: the end of the log. */
  readonly end?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A line that is not a checkpoint, as a plain copy has it. */
export interface PlainLine {
  /** Counts all lines of the log, from 1. */
  readonly number: number;
  /** Without LF, what was found masked; null: the whole line is withheld, by `rule`. */
  readonly bytes: Uint8Array | null;
  readonly rule: string;
  readonly isFull: boolean;
}

/** Writes the copy; returns how many lines it has, and how many are unchanged. */
export async function copyPlainly(
  host: Host,
  target: SignableLog,
  { reason, out, ...options }: PlainOptions,
): Promise<{ readonly lines: number; readonly full: number }> {
  const counts = { lines: 0, full: 0 };
  for await (const { bytes, rule, isFull } of plainLines(host, target, options)) {
    counts.lines++;
    if (isFull) counts.full++;
    const line = bytes ?? Buffer.from(asciiJson({ withheld: { rule, reason } }));
    out(Buffer.concat([line, Buffer.from("\n")]));
  }
  return counts;
}

/** The bytes of a line count only until the next one is taken. */
export async function* plainLines(
  host: Host,
  { root, logId, dialect }: SignableLog,
  { finder, onPlace, end, signal }: MaskOptions,
): AsyncGenerator<PlainLine> {
  const place = await openLogPath(host, logId, { create: false, root });
  let number = 0;
  let blocks: Uint8Array[] = [];
  const whole = new WholeLines((bytes) => void blocks.push(bytes));
  try {
    const log = openToRead(place);
    try {
      for await (const chunk of readExactly(log, 0, end ?? log.size(), place.path)) {
        signal?.throwIfAborted();
        blocks = [];
        whole.feed(chunk);
        if (whole.restBytes > LOG_LIMITS.lineBytesMax) throw lineTooLong(0);
        for (const line of blocks.flatMap(linesIn)) {
          number++;
          if (!hasSidecar(dialect) && claimOf(line, envelopeOf(dialect)) !== null) continue;
          yield { number, ...plainLine(line, number, finder, onPlace) };
        }
      }
    } finally {
      log.close();
    }
  } finally {
    place.directory.close();
  }
}

function linesIn(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start);
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function plainLine(
  line: Uint8Array,
  number: number,
  finder: Finder,
  onPlace: MaskOptions["onPlace"],
): Omit<PlainLine, "number"> {
  const hits = finder(line, number);
  if (hits.length === 0) return { bytes: line, rule: "", isFull: true };
  const replacement = maskedLine(line, hits, finder);
  if (replacement) {
    for (const { from, to, hits } of replacement.values) {
      onPlace({ line: number, what: "value", rule: rulesOf(hits), bytes: to - from });
    }
    return { bytes: replacement.bytes, rule: "", isFull: false };
  }
  const withheld = withheldBy(line, 1, hits);
  if (withheld.is === "line") {
    onPlace({ line: number, what: "line", rule: withheld.rule, bytes: line.length });
    return { bytes: null, rule: withheld.rule, isFull: false };
  }
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { at, length, rule } of withheld.parts) {
    onPlace({ line: number, what: "string", rule, bytes: length });
    pieces.push(line.subarray(from, at), Buffer.from(WITHHELD));
    from = at + length;
  }
  return { bytes: Buffer.concat([...pieces, line.subarray(from)]), rule: "", isFull: false };
}
