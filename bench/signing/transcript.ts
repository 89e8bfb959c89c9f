/** Transcript: `TranscriptSigner` against the document's own Python, both in processor time. */

import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TranscriptSigner } from "./built.ts";
import { ID, turnLines } from "./thread.ts";

const SEED = fileURLToPath(new URL("./seed.py", import.meta.url));

export interface SignedTranscript {
  readonly oursMs: number;
  /** Null without Python and its package `cryptography`. */
  readonly pythonMs: number | null;
  /** The second `verify` of the thread. */
  readonly verifyMs: number;
}

/** Signs a thread of short turns with a checkpoint for each. */
export async function signedTranscript(at: string, turns: number): Promise<SignedTranscript> {
  const lines = turnLines(1200, 300);
  const directory = join(at, "ours/.ai/threads", ID);
  mkdirSync(directory, { recursive: true });
  const log = join(directory, "transcript.jsonl");
  writeFileSync(log, "", { mode: 0o600 });
  const signer = new TranscriptSigner(ID, directory);
  let oursMs = 0;
  for (let turn = 1; turn <= turns; turn++) {
    appendFileSync(log, lines);
    oursMs += await processorMs(() => signer.checkpoint(turn));
  }
  const { valid, error } = await signer.verify();
  if (!valid) throw new Error(error);
  const verifyMs = await processorMs(() => signer.verify());
  return { oursMs, pythonMs: pythonMs(at, turns, lines), verifyMs };
}

async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function pythonMs(at: string, turns: number, lines: Uint8Array): number | null {
  const file = join(at, "lines");
  writeFileSync(file, lines);
  const args = [SEED, String(turns), join(at, "python"), file];
  const { status, stdout } = spawnSync("python3", args, { encoding: "utf8" });
  return status === 0 ? Number(stdout) : null;
}
