/**
 * Counted turns: the turns of a log that is opened to sign, or that others appended to. Continues
 * from the newest checkpoint, so that little of a long log is read.
 */

import type { Host } from "../../base/host.ts";
import { toByteOffset } from "../../base/offset.ts";
import type { Native } from "../../dialects/dialect.ts";
import { LogReader } from "../../log/reader.ts";
import { PhaseBefore, type TurnMark, type TurnState, type Turns } from "../../model/turns.ts";
import type { SessionLog } from "../session-log.ts";
import type { SignedSoFar } from "./signer-state.ts";

export interface CountedLog {
  readonly host: Host;
  readonly log: SessionLog;
  readonly markOf: (native: Native) => TurnMark;
}

/** Counts the turns of a log that was opened, up to its end. */
export async function countOpened(
  counted: CountedLog,
  turns: Turns,
  { turn, isInTurn, newest }: SignedSoFar,
  end: number,
): Promise<void> {
  const signed = newest?.byteOffset ?? 0;
  const phase = isInTurn ? await phaseAt(counted, signed) : "over";
  turns.continueFrom({ ended: turn, phase });
  await countLines(counted, turns, signed, end);
}

/** Counts the turns of lines between two places. */
export async function countLines(
  { host, log, markOf }: CountedLog,
  turns: Turns,
  from: number,
  to: number,
): Promise<void> {
  if (from >= to) return;
  const stretch = { from: toByteOffset(from), to: toByteOffset(to) };
  for await (const { value } of readerOf(host, log).forward(stretch)) {
    if (isNative(value)) turns.note(markOf(value));
  }
}

async function phaseAt({ host, log, markOf }: CountedLog, to: number): Promise<TurnState["phase"]> {
  if (to === 0) return "idle";
  const before = new PhaseBefore();
  for await (const { value } of readerOf(host, log).backward({ to: toByteOffset(to) })) {
    const phase = isNative(value) ? before.take(markOf(value)) : null;
    if (phase !== null) return phase;
  }
  return "idle";
}

function readerOf(host: Host, { logId, root }: SessionLog): LogReader {
  return new LogReader(host, logId, { root, onBadLine: "skip" });
}

function isNative(value: unknown): value is Native {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
