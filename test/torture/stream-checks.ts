/** Stream checks: reads a store and compares it with the oracle. */

import { createHash } from "node:crypto";
import type { LogReader } from "../../src/core/log/reader.ts";
import type { LocalStore } from "../../src/streams/files/local-store.ts";
import type { OffsetToken } from "../../src/streams/files/offset-token.ts";
import type { Machine } from "./fault-files.ts";
import type { Random } from "./scheduler.ts";
import { bytesOf, type OracleStream, type StreamOracle, tokenAt } from "./stream-oracle.ts";
import { LOGS } from "./streams-machine.ts";

/** The lines that a follower has delivered and not rewound. */
export class FollowerWatch {
  readonly #stop = new AbortController();
  #lines: { readonly end: number; readonly text: string }[] = [];
  #failure: unknown = null;

  constructor(reader: LogReader, onRewound: () => void) {
    this.#run(reader, onRewound).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failure = error;
    });
  }

  get texts(): string[] {
    return this.#lines.map(({ text }) => text);
  }

  get failure(): unknown {
    return this.#failure;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(reader: LogReader, onRewound: () => void): Promise<void> {
    const lines = reader.follow({
      onRewound: ({ to }) => {
        onRewound();
        this.#lines = this.#lines.filter(({ end }) => end <= to);
      },
    });
    for await (const { bytes, end } of lines) {
      if (this.#stop.signal.aborted) return;
      this.#lines.push({ end, text: Buffer.from(bytes).toString("utf8") });
    }
  }
}

export interface Mismatch {
  readonly what: string;
  /** The read failed with an error; no wrong bytes were returned. */
  readonly isError: boolean;
  readonly code: string;
}

const CHUNK_BYTES = 5000;

/** Every listed stream: its end, whether it is closed, length and hash. */
export async function wholeStore(store: LocalStore): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { path, end, isClosed } of await store.list({ limit: 1000 })) {
    const bytes = await readAll(store, path).catch((error: unknown) => Buffer.from(String(error)));
    found.set(path, described(end, isClosed, bytes));
  }
  return found;
}

/** The first stream that differs from the oracle; null when none does. */
export function differenceOf(
  found: ReadonlyMap<string, string>,
  oracle: StreamOracle,
  nowMs: number,
): string | null {
  const paths = oracle.paths(nowMs);
  for (const path of new Set([...paths, ...found.keys()])) {
    const stream = oracle.living(path, nowMs);
    const expected =
      stream === null ? "absent" : described(tokenAt(stream), stream.isClosed, bytesOf(stream));
    const actual = found.get(path) ?? "absent";
    if (actual !== expected) return `${path} is ${actual}, not ${expected}`;
  }
  return null;
}

/** Reads a stream as bytes and as messages, with the offset and time of each message. */
export async function mismatchIn(
  store: LocalStore,
  oracle: StreamOracle,
  path: string,
  nowMs: number,
): Promise<Mismatch | null> {
  const stream = oracle.living(path, nowMs);
  if (stream === null) return null;
  try {
    const all = await readAll(store, path);
    if (!all.equals(bytesOf(stream)))
      return wrongBytes(`${path} returns other bytes than were appended`);
    let count = 0;
    for await (const { data, offset, timestamp } of store.messages(path, "start")) {
      const message = stream.messages[count++];
      const line = stream.isJson ? Buffer.concat([data, LF]) : data;
      const isRight = message?.bytes.equals(line) === true && message.at === timestamp;
      if (!isRight || offset !== tokenAt(stream, count)) {
        return wrongBytes(`message ${count} of ${path} is not what was appended`);
      }
    }
    if (count === stream.messages.length) return null;
    return wrongBytes(`${path} has ${count} messages, not ${stream.messages.length}`);
  } catch (error) {
    return readError(`reading ${path}`, error);
  }
}

/** One read of a random stream from a random offset. */
export async function readSome(
  store: LocalStore,
  oracle: StreamOracle,
  nowMs: number,
  random: Random,
): Promise<Mismatch | null> {
  const paths = oracle.paths(nowMs);
  if (paths.length === 0) return null;
  const path = random.pick(paths);
  const stream = oracle.living(path, nowMs) as OracleStream;
  const count = random.below(stream.messages.length + 1);
  const expected = bytesOf(stream, count);
  const bytesMax = random.pick([1, 50, 1000, 70_000, 1_000_000]);
  const what = `${path}, read from ${tokenAt(stream, count)}`;
  try {
    const from = tokenAt(stream, count) as OffsetToken;
    const { bytes, isAtEnd } = await store.read(path, from, bytesMax);
    const isPrefix = expected.subarray(0, bytes.length).equals(bytes);
    if (!isPrefix) return wrongBytes(`${what}: returns other bytes`);
    if (bytes.length === 0 && expected.length > 0) return wrongBytes(`${what}: returns nothing`);
    if (isAtEnd === (bytes.length === expected.length)) return null;
    return wrongBytes(`${what}: is wrong about the end`);
  } catch (error) {
    return readError(what, error);
  }
}

/**
 * Lets reads of a random log see a flipped bit. Returns what ends that, or null when there is no
 * log.
 */
export function flipBit(machine: Machine, random: Random): null | (() => void) {
  const names = machine.names(LOGS);
  if (names.length === 0) return null;
  const name = random.pick(names);
  const size = machine.contents(LOGS, name)?.length ?? 0;
  if (size === 0) return null;
  machine.flip(LOGS, name, random.below(size));
  return () => machine.flip(LOGS, name, null);
}

async function readAll(store: LocalStore, path: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let from: OffsetToken | "start" = "start"; ; ) {
    const { bytes, next, isAtEnd } = await store.read(path, from, CHUNK_BYTES);
    parts.push(bytes);
    if (isAtEnd) return Buffer.concat(parts);
    from = next;
  }
}

function described(end: string, isClosed: boolean, bytes: Uint8Array): string {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  return `${end}${isClosed ? " closed" : ""} (${bytes.length} bytes, ${hash})`;
}

function wrongBytes(what: string): Mismatch {
  return { what, isError: false, code: "" };
}

function readError(what: string, error: unknown): Mismatch {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return { what: `${what}: ${String(error)}`, isError: true, code };
}

const LF = Buffer.from("\n");
