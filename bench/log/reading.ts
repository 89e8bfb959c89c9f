/** Ways to read: a whole log, its last lines, and the memory needed. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Way } from "../measure/compare.ts";
import { BUILT_LOG, readLog } from "./built.ts";
import { turnLines } from "./lines.ts";

export const LINE_BYTES = 2048;
export const LAST_LINES = 50;

const LF = 0x0a;
const BLOCK_LINES = 2048;

/** Makes a log of about `bytes` bytes, whole lines, by writing one block of them repeatedly. */
export function makeLog(path: string, bytes: number): string {
  const lines = turnLines(Math.min(BLOCK_LINES, Math.ceil(bytes / LINE_BYTES)), LINE_BYTES);
  const block = Buffer.concat(lines.flatMap((line) => [line, Buffer.of(LF)]));
  const descriptor = openSync(path, "wx");
  try {
    for (let size = 0; size < bytes; ) size += writeSync(descriptor, block);
  } finally {
    closeSync(descriptor);
  }
  return path;
}

/** Reads and parses a log from disk; an operation is the whole log. */
export function oursWhole(path: string): Way {
  return way("ours", async () => {
    let sum = 0;
    for await (const line of readLog(path)) sum += use(line.value);
    mustHaveRead(sum);
  });
}

/** The same without files, errors or offsets: the cost of splitting and parsing alone. */
export function bareWhole(path: string): Way {
  const bytes = readFileSync(path);
  return way("bare", () => {
    let sum = 0;
    let from = 0;
    for (let lf = bytes.indexOf(LF); lf !== -1; lf = bytes.indexOf(LF, from)) {
      sum += use(JSON.parse(bytes.toString("utf8", from, lf)));
      from = lf + 1;
    }
    mustHaveRead(sum);
  });
}

export function last(path: string): Way {
  return way("ours", async () => {
    const lines = await readLog(path).last(LAST_LINES);
    let sum = 0;
    for (const line of lines) sum += use(line.value);
    mustHaveRead(sum);
  });
}

/** The peak memory, in MB, of a process that reads a log as a stream. */
export async function peakMegabytes(path: string): Promise<number> {
  const program = fileURLToPath(new URL("read-all.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, BUILT_LOG, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = () => child.kill();
  process.once("exit", stop);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  process.off("exit", stop);
  if (code !== 0) throw new Error(`reading ${path} in another process failed (${code})`);
  return Number(output);
}

function way(name: string, operation: () => Promise<void> | void): Way {
  return {
    name,
    open: () => ({
      async run(operations) {
        for (let n = 0; n < operations; n++) await operation();
      },
      close() {},
    }),
  };
}

/** Uses a value, so that the compiler cannot optimise it away. */
function use(value: unknown): number {
  return (value as { sequence: number }).sequence + 1;
}

function mustHaveRead(sum: number): void {
  if (!(sum > 0)) throw new Error("no line was read");
}
