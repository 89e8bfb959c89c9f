/** Stream look: reads a store, and compares what it gives with what the oracle says was appended. */

import { createHash } from "node:crypto";
import type { LocalStore } from "../streams/local-store.ts";
import type { OffsetToken } from "../streams/offset-token.ts";
import type { Machine } from "./fault-files.ts";
import type { Random } from "./random.ts";
import { bytesOf, type OracleStream, type StreamOracle, tokenAt } from "./stream-oracle.ts";
import { LOGS } from "./streams-machine.ts";

export interface Wrong {
  readonly what: string;
  /** It was said that it could not be read; nothing false was given. */
  readonly isError: boolean;
  readonly code: string;
}

const CHUNK_BYTES = 5000;

/** Every stream that is listed, as a text that says all of its content. */
export async function wholeStore(store: LocalStore): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { path, end, isClosed } of await store.list({ limit: 1000 })) {
    const bytes = await readAll(store, path).catch((error: unknown) => Buffer.from(String(error)));
    found.set(path, described(end, isClosed, bytes));
  }
  return found;
}

/** What is there and should not be, or the other way round; null when all is well. */
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

/** A stream by each of its faces: from the start, message by message, and from every offset. */
export async function wrongIn(
  store: LocalStore,
  oracle: StreamOracle,
  path: string,
  nowMs: number,
): Promise<Wrong | null> {
  const stream = oracle.living(path, nowMs);
  if (stream === null) return null;
  try {
    const all = await readAll(store, path);
    if (!all.equals(bytesOf(stream))) return falsehood(`${path} reads otherwise than appended`);
    let count = 0;
    for await (const { data, offset, timestamp } of store.messages(path, "start")) {
      const message = stream.messages[count++];
      const line = stream.isJson ? Buffer.concat([data, LF]) : data;
      const isRight = message?.bytes.equals(line) === true && message.at === timestamp;
      if (!isRight || offset !== tokenAt(stream, count)) {
        return falsehood(`message ${count} of ${path} is not what was appended`);
      }
    }
    if (count === stream.messages.length) return null;
    return falsehood(`${path} has ${count} messages, not ${stream.messages.length}`);
  } catch (error) {
    return refusal(`reading ${path}`, error);
  }
}

/** One read from some offset on. */
export async function readSome(
  store: LocalStore,
  oracle: StreamOracle,
  nowMs: number,
  random: Random,
): Promise<Wrong | null> {
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
    if (!isPrefix) return falsehood(`${what}: gives other bytes`);
    if (bytes.length === 0 && expected.length > 0) return falsehood(`${what}: gives nothing`);
    if (isAtEnd === (bytes.length === expected.length)) return null;
    return falsehood(`${what}: is wrong about the end`);
  } catch (error) {
    return refusal(what, error);
  }
}

/** Flips a bit of some log; what flips it back, or null when there is none. */
export async function flipBit(machine: Machine, random: Random): Promise<null | (() => void)> {
  const names = machine.names(LOGS);
  if (names.length === 0) return null;
  const name = random.pick(names);
  const process = machine.startProcess(true);
  const directory = await process.openDirectory(LOGS, { create: false });
  const file = directory.open(name, "update");
  if (file.size() === 0) return null;
  const at = random.below(file.size());
  const byte = Buffer.alloc(1);
  await file.read(byte, at);
  const flip = () => {
    byte[0] = (byte[0] ?? 0) ^ 4;
    file.writeAt(byte, at);
  };
  flip();
  return flip;
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

function falsehood(what: string): Wrong {
  return { what, isError: false, code: "" };
}

function refusal(what: string, error: unknown): Wrong {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return { what: `${what}: ${String(error)}`, isError: true, code };
}

const LF = Buffer.from("\n");
