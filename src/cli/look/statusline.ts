/**
 * Status line: one line for Claude Code's status line: the cost of the session and of today, the
 * time that is left of the block, and how fast money is spent.
 *
 * Claude Code asks every few seconds and waits. So this reads the sums of the last look at all
 * sessions, and nothing else. A process in the background looks again, at most once a minute; the
 * line says if the last look was long ago. main.ts loads this without the rest of the command line.
 */

import { fstatSync, mkdirSync, readSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import {
  lastLook,
  ledgerPlaceOf,
  ownPricesPath,
  usageDirectory,
} from "../../usage/ledger/ledger-file.ts";
import { readOwnPrices } from "../../usage/prices/own-prices.ts";
import { activeBlock, todayIn } from "../../usage/sums/status-figures.ts";
import { isOf, priceMark, readSums, type SumsFile } from "../../usage/sums/sums-file.ts";
import { costText, dollars } from "./usage-numbers.ts";

const LOOK_MS = 60_000;
/** The line says when all sessions were looked at, if that is longer ago. */
const OLD_MS = 5 * 60_000;
const INPUT_BYTES_MAX = 1024 * 1024;
const INPUT_PIECE_BYTES = 16 * 1024;
/** For input that is not there at once. */
const INPUT_MS_MAX = 2_000;
const STAMP = "background";

export interface StatusLine {
  readonly line: string;
  /** Why it says less than it should; null: it does not. */
  readonly error: string | null;
  /** All sessions should be looked at. */
  readonly isOld: boolean;
}

/** Never throws: whatever is printed appears in the status bar, again and again. */
export function printStatusLine(nowMs: number): number {
  const { line, error, isOld } = statusLine(readInput(), nowMs);
  print(1, line);
  if (error !== null) print(2, `error: ${error}`);
  if (isOld) lookInBackground(usageDirectory(), nowMs);
  return error === null ? 0 : 1;
}

/** `input` is what Claude Code writes. */
export function statusLine(input: string, nowMs: number): StatusLine {
  try {
    const directory = usageDirectory();
    const kept = readSums(directory);
    const lookedAt = lastLook(directory);
    if (kept === null || lookedAt === 0) {
      return { line: "usage is being counted", error: null, isOld: true };
    }
    const { prices } = kept.head;
    const isRepriced = prices !== priceMark(directory, ownPricesPath());
    if (isRepriced) readOwnPrices(ownPricesPath()); // Refused ones are never counted with.
    const since = nowMs - lookedAt;
    const isOld =
      since < 0 || since >= LOOK_MS || isRepriced || !isOf(kept.head, ledgerPlaceOf(directory));
    return { line: statusText(kept, sessionIn(input), lookedAt, nowMs), error: null, isOld };
  } catch (cause) {
    const isOurs = cause instanceof VerbatimError;
    const error = isOurs ? `${cause.message} (${cause.code})` : "run `verbatim usage` for why";
    return { line: "usage unknown", error, isOld: false };
  }
}

function statusText(
  { head, sums }: SumsFile,
  session: string | null,
  lookedAt: number,
  nowMs: number,
): string {
  const parts: string[] = [];
  if (session !== null) {
    const ofSession = sums.sessions.get(session);
    parts.push(ofSession ? `${costText(ofSession)} session` : "session not counted yet");
  }
  parts.push(`${costText(todayIn(sums, nowMs))} today`);
  const active = activeBlock(sums, head.limited, nowMs);
  if (active) {
    const minutes = Math.ceil((active.end - nowMs) / 60_000);
    parts.push(`${Math.floor(minutes / 60)}h ${minutes % 60}m left`);
    if (active.costPerHour !== null) parts.push(`${dollars(active.costPerHour)}/h`);
  }
  if (nowMs - lookedAt > OLD_MS) parts.push(`as of ${ago(nowMs - lookedAt)} ago`);
  return parts.join(" · ");
}

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes}m`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 1440)}d`;
}

/** Starts a look at all sessions, unless one was started within a minute. */
function lookInBackground(directory: string, nowMs: number): void {
  try {
    startLook(directory, nowMs);
  } catch {
    // A home that is read-only: the line says how old it is.
  }
}

function startLook(directory: string, nowMs: number): void {
  const stamp = join(directory, STAMP);
  const started = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const since = nowMs - started;
  if (since >= 0 && since < LOOK_MS) return;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(stamp, "", { mode: 0o600 });
  const { spawn } = process.getBuiltinModule("node:child_process");
  const args = [process.argv[1] ?? "", "usage", "agent", "--json"];
  const child = spawn(process.execPath, args, { detached: true, stdio: "ignore" });
  child.on("error", () => {}); // Tried again in a minute.
  child.unref();
}

/** Without waiting for the end of what is a whole JSON document. */
function readInput(): string {
  if (isTerminal()) return "";
  const piece = Buffer.allocUnsafe(INPUT_PIECE_BYTES);
  const started = performance.now();
  let all = Buffer.alloc(0);
  while (all.length < INPUT_BYTES_MAX) {
    let got = 0;
    try {
      got = readSync(0, piece, 0, piece.length, null);
    } catch (cause) {
      const { code } = cause as { code?: unknown };
      if (code !== "EAGAIN") break; // EOF, or nothing to read from.
      if (performance.now() - started > INPUT_MS_MAX) break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      continue;
    }
    if (got === 0) break;
    all = Buffer.concat([all, piece.subarray(0, got)]);
    if (got < piece.length && isJson(all.toString())) break;
  }
  return all.toString();
}

/** Without `node:tty`, which takes several milliseconds to load. */
function isTerminal(): boolean {
  try {
    return fstatSync(0).isCharacterDevice();
  } catch {
    return true; // There is no input.
  }
}

/** Without `process.stdout`, which is a stream and takes as long. */
function print(to: 1 | 2, text: string): void {
  try {
    writeSync(to, `${text}\n`);
  } catch {
    // Closed: nothing can be shown.
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The session that Claude Code names; null: none. */
function sessionIn(text: string): string | null {
  try {
    const { session_id: id } = JSON.parse(text) ?? {};
    return typeof id === "string" && id !== "" ? id : null;
  } catch {
    return null; // Not JSON: the line has no session.
  }
}
