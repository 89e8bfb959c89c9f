/**
 * Sums file: the stored sums on disk (docs/formats/usage.md). A cache: with another ledger, another
 * version, other prices or a wrong checksum it counts as missing.
 */

import { closeSync, constants, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { LedgerPlace } from "../ledger/ledger-file.ts";
import { CELL_LENGTH } from "../report/sum-rows.ts";
import { type SessionSums, StoredSums } from "./stored-sums.ts";

const NAME = "sums.bin";
const MAGIC = 0x43554256;
const VERSION = 4;
const HEAD_BYTES = 24;
const SESSION_FIELDS = ["responses", "cost", "unpriced", "total", "last"] as const;
const { O_RDWR, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;

export interface SumsHead {
  /** The ledger that the sums are of. */
  readonly first: string;
  readonly end: number;
  /** Of the prices (`priceMark`). */
  readonly prices: string;
  /** When also all folders at rest were looked at; milliseconds since 1970. */
  readonly searchedAt: number;
  /** Dialects of programs whose plans have blocks. */
  readonly limited: readonly string[];
}

interface Json extends SumsHead {
  readonly models: string[];
  readonly dialects: string[];
  readonly sessions: readonly string[];
}

export interface SumsFile {
  readonly head: SumsHead;
  readonly sums: StoredSums;
}

/** Null: there are none, or they are damaged. */
export function readSums(directory: string): SumsFile | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(directory, NAME));
  } catch {
    return null; // Missing, or not ours to read.
  }
  try {
    return keptIn(bytes);
  } catch {
    return null; // Not what we write.
  }
}

function keptIn(bytes: Buffer): SumsFile | null {
  if (bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== VERSION) return null;
  if (checksum(bytes.subarray(HEAD_BYTES)) !== bytes.readUInt32LE(8)) return null;
  const count = bytes.readUInt32LE(12);
  const sessionCount = bytes.readUInt32LE(16);
  const numberCount = count * (CELL_LENGTH + 3) + sessionCount * SESSION_FIELDS.length;
  const numbersEnd = HEAD_BYTES + numberCount * 8;
  const json = JSON.parse(bytes.toString("utf8", numbersEnd)) as Json;
  const at = bytes.byteOffset + HEAD_BYTES;
  const { buffer } = bytes;
  const numbers =
    at % 8 === 0
      ? new Float64Array(buffer, at, numberCount)
      : new Float64Array(buffer.slice(at, at + numberCount * 8));
  const part = (from: number) => [...numbers.subarray(count * from, count * (from + 1))];
  const sessionsAt = count * (CELL_LENGTH + 3);
  const sums = new StoredSums({
    models: json.models,
    dialects: json.dialects,
    sessions: sessionsIn(json.sessions, numbers.subarray(sessionsAt)),
    quarters: part(0),
    ofDialect: part(1),
    ofModel: part(2),
    cells: numbers.subarray(count * 3, sessionsAt),
  });
  return { head: json, sums };
}

function sessionsIn(names: readonly string[], numbers: Float64Array): Map<string, SessionSums> {
  const sessions = new Map<string, SessionSums>();
  for (const [n, name] of names.entries()) {
    const at = n * SESSION_FIELDS.length;
    const [responses = 0, cost = 0, unpriced = 0] = [numbers[at], numbers[at + 1], numbers[at + 2]];
    sessions.set(name, {
      responses,
      cost,
      unpriced,
      total: numbers[at + 3] ?? 0,
      last: numbers[at + 4] ?? 0,
    });
  }
  return sessions;
}

/** Not worth an error: sums are made again. */
export function writeSums(directory: string, head: SumsHead, sums: StoredSums): void {
  const { models, dialects, length } = sums;
  const json: Json = { ...head, models, dialects, sessions: [...sums.sessions.keys()] };
  const sessions = Float64Array.from(
    [...sums.sessions.values()].flatMap((each) => SESSION_FIELDS.map((field) => each[field])),
  );
  const numbers = Float64Array.from([...sums.quarters, ...sums.ofDialect, ...sums.ofModel]);
  const cells = sums.cells.subarray(0, length * CELL_LENGTH);
  const body = Buffer.concat([
    Buffer.from(numbers.buffer),
    Buffer.from(cells.buffer, cells.byteOffset, cells.byteLength),
    Buffer.from(sessions.buffer),
    Buffer.from(JSON.stringify(json)),
  ]);
  const start = Buffer.alloc(HEAD_BYTES);
  start.writeUInt32LE(MAGIC, 0);
  start.writeUInt32LE(VERSION, 4);
  start.writeUInt32LE(checksum(body), 8);
  start.writeUInt32LE(length, 12);
  start.writeUInt32LE(sums.sessions.size, 16);
  const path = join(directory, NAME);
  const own = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(own, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      for (const part of [start, body]) writeSync(file, part);
    } finally {
      closeSync(file);
    }
    renameSync(own, path);
  } catch {
    // A full disk, or a home that is read-only.
  }
}

/** Changes when prices do: of the journal and of the user's own prices. */
export function priceMark(directory: string, ownPath: string): string {
  const mark = (path: string) => {
    try {
      const bytes = readFileSync(path);
      return `${bytes.length}-${checksum(bytes)}`;
    } catch {
      return "none";
    }
  };
  return `${mark(join(directory, "prices.jsonl"))} ${mark(ownPath)}`;
}

/**
 * Against a file that is not whole after a power cut. Node has CRC-32 only with all of zlib. Four
 * sums at once: a process that ends so soon runs this before it is compiled.
 */
function checksum(bytes: Buffer): number {
  const isAligned = bytes.byteOffset % 4 === 0;
  const { buffer, byteOffset, length } = isAligned ? bytes : Buffer.from(bytes);
  const words = new Int32Array(buffer, byteOffset, length >> 2);
  let [a, b, c, d] = [length, 1, 2, 3];
  const whole = words.length & ~3;
  for (let n = 0; n < whole; n += 4) {
    a = Math.imul(a ^ (words[n] as number), 0x01000193);
    b = Math.imul(b ^ (words[n + 1] as number), 0x01000193);
    c = Math.imul(c ^ (words[n + 2] as number), 0x01000193);
    d = Math.imul(d ^ (words[n + 3] as number), 0x01000193);
  }
  for (let n = whole * 4; n < length; n++) a = Math.imul(a ^ (bytes[n] ?? 0), 0x01000193);
  return (a ^ Math.imul(b, 3) ^ Math.imul(c, 5) ^ Math.imul(d, 7)) >>> 0;
}

export function isOf(head: SumsHead, { first, end }: LedgerPlace): boolean {
  return head.first === first && head.end === end;
}
