/** Transcript: `TranscriptSigner` against the document's own Python, both in processor time. */

import { spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { appendFileSync, fstatSync, mkdirSync, readSync, writeFileSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { TranscriptSigner } from "./built.ts";
import { ID, turnLines } from "./thread.ts";

/** About as long as ours. */
const CHECKPOINT_BYTES = 950;

/** The class is imported as a value. */
type Signer = InstanceType<typeof TranscriptSigner>;

const SEED = fileURLToPath(new URL("./seed.py", import.meta.url));

export interface SignedTranscript {
  readonly oursMs: number;
  /** Null without Python and its package `cryptography`. */
  readonly pythonMs: number | null;
  /** A bare loop in Node that reads, hashes, signs, writes and syncs twice. */
  readonly bareMs: number;
  /** `verify` of the unchanged thread. */
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
  const verifyMs = await verifyAgainMs(signer);
  const bareMs = await bareLoopMs(join(at, "bare"), turns, lines);
  return { oursMs, pythonMs: pythonMs(at, turns, lines), bareMs, verifyMs };
}

/** Once its verdict is kept, which takes a second after the last change of a key or a pin. */
async function verifyAgainMs(signer: Signer): Promise<number> {
  for (let last: unknown = null; ; ) {
    const { valid, error, report } = await signer.verify();
    if (!valid) throw new Error(error);
    if (report === last) return processorMs(() => signer.verify());
    last = report;
    await sleep(100);
  }
}

async function bareLoopMs(path: string, turns: number, lines: Uint8Array): Promise<number> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const file = await open(path, "a+");
  const hash = createHash("sha256");
  let [end, spentMs] = [0, 0];
  for (let turn = 1; turn <= turns; turn++) {
    appendFileSync(path, lines);
    spentMs += await processorMs(async () => {
      const added = Buffer.alloc(fstatSync(file.fd).size - end);
      readSync(file.fd, added, 0, added.length, end);
      hash.update(added);
      await file.datasync();
      const signature = sign(null, hash.copy().digest(), privateKey).toString("base64url");
      const checkpoint = Buffer.from(`${signature.padEnd(CHECKPOINT_BYTES - 1)}\n`);
      writeSync(file.fd, checkpoint);
      hash.update(checkpoint);
      end += added.length + checkpoint.length;
      await file.datasync();
    });
  }
  await file.close();
  return spentMs;
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
