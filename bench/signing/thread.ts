/**
 * Thread: a rye transcript being written, signed in our way or in the seed's own, without a store:
 * lines are written unchanged, and nothing is synced.
 */

import { createHash, generateKeyPairSync, sign, verify } from "node:crypto";
import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import type { Signer } from "../../src/trust/keys/keys.ts";
import type { Keys } from "../../src/trust/proof/ed25519-keys.ts";
import type { LogSigner as Signing } from "../../src/trust/signer/log-signer.ts";
import { LogSigner, nodeCrypto, nodeHost, nothingSigned, verifyLog } from "./built.ts";

export const ID = "bench-1739012630";
const TS = "2026-02-09T04:03:50.365000+00:00";
export const OPENING = JSON.stringify({
  ts: TS,
  type: "checkpoint",
  thread_id: ID,
  directive: "bench",
}).replace(/\}$/, ",");
const PROSE = "It was the best of times, it was the worst of times, it was the age of wisdom. ";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
const pem = publicKey.export({ format: "pem", type: "spki" });
export const privatePem = privateKey.export({ format: "pem", type: "pkcs8" });
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export const signer: Signer = {
  publicKey: raw,
  kid: sha256(raw),
  fp: sha256(pem).slice(0, 16),
  sign: async (message) => sign(null, message, privateKey),
};

const answer = { ...signer, owner: null, refusal: null };
const keys: Keys = { byKid: () => answer, byFp: () => answer };

/** Lines of about `lineBytes`, about `bytes` in total. */
export function turnLines(bytes: number, lineBytes: number): Buffer {
  const lines: string[] = [];
  for (let left = bytes; left > 0; left -= lineBytes) {
    const event = { ts: TS, type: "assistant_text", thread_id: ID, directive: "bench", text: "" };
    const room = lineBytes - JSON.stringify(event).length - 1;
    event.text = PROSE.repeat(Math.ceil(room / PROSE.length)).slice(0, room);
    lines.push(`${JSON.stringify(event)}\n`);
  }
  return Buffer.from(lines.join(""));
}

export function newLogSigner(): Signing {
  const parts = { crypto: nodeCrypto, signer, isSidecar: false, nowIso: () => NOW };
  return LogSigner.from(nothingSigned(nodeCrypto, new Uint8Array(32).fill(7), false), parts);
}

const NOW = "2026-02-09T04:03:50.365Z";

/** One turn and its checkpoint; returns both, and how long the checkpoint took. */
export async function signTurn(log: Signing, lines: Uint8Array, turn: number) {
  const drafted = log.draft();
  drafted.addLines(lines);
  drafted.commit();
  const start = performance.now();
  const draft = log.draft();
  const checkpoint = await draft.checkpoint("turn", OPENING, { turn, rev: 0 });
  draft.commit();
  return { checkpoint, ms: performance.now() - start };
}

/** Writes a whole thread in our way. */
export async function writeOurs(path: string, turns: number, lines: Buffer): Promise<void> {
  const log = newLogSigner();
  const file = openSync(path, "w");
  for (let turn = 1; turn <= turns; turn++) {
    const { checkpoint } = await signTurn(log, lines, turn);
    writeSync(file, lines);
    writeSync(file, checkpoint);
  }
  closeSync(file);
}

/**
 * Writes it as the seed's TranscriptSigner does: the whole file is hashed at every checkpoint, and
 * keys are PEM texts (`sign_hash(content_hash, private_pem)`), parsed each time.
 */
export function writeSeeds(path: string, turns: number, lines: Buffer): void {
  const file = openSync(path, "w");
  for (let turn = 1; turn <= turns; turn++) {
    writeSync(file, lines);
    const byteOffset = statSync(path).size;
    const hash = sha256(readFileSync(path));
    const sig = sign(null, Buffer.from(hash), privatePem).toString("base64url");
    const fp = sha256(pem).slice(0, 16);
    const payload = { turn, byte_offset: byteOffset, hash, sig: `${sig}==`, fp };
    const event = { timestamp: 1, thread_id: ID, event_type: "checkpoint", payload };
    writeSync(file, `${JSON.stringify(event)}\n`);
  }
  closeSync(file);
}

interface SeedEvent {
  readonly event_type?: string;
  readonly payload: { readonly byte_offset: number; readonly hash: string; readonly sig: string };
}

/** Verifies it as the seed does; returns how many checkpoints there are. */
export function verifySeeds(path: string): number {
  const content = readFileSync(path);
  const events = content.toString("utf8").trimEnd().split("\n");
  const checkpoints = events
    .map((line) => JSON.parse(line) as SeedEvent)
    .filter(({ event_type: type }) => type === "checkpoint");
  for (const { payload } of checkpoints) {
    const hash = sha256(content.subarray(0, payload.byte_offset));
    const sig = Buffer.from(payload.sig, "base64url");
    if (hash !== payload.hash || !verify(null, Buffer.from(hash), pem, sig)) {
      throw new Error("the seed's own file does not verify");
    }
  }
  return checkpoints.length;
}

/** Verifies in our way; throws unless it is `verified`. */
export async function verifyOurs(path: string): Promise<VerifyReport> {
  const target = { dialect: "rye", root: dirname(path), logId: basename(path), id: ID } as const;
  const report = await verifyLog(nodeHost, target, { crypto: nodeCrypto, keys });
  if (report.verdict !== "verified") throw new Error(JSON.stringify(report.findings));
  return report;
}
