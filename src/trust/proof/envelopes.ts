/**
 * Envelopes: how the signing format treats the logs of each dialect. Part of the format
 * (docs/formats/checkpoint.md), which names these dialects and cannot change.
 *
 * The same for checkpoints of the Python original: what is wrong with one.
 */

import { fromBase64url, utf8 } from "./bytes.ts";
import type { CheckpointFault } from "./chain.ts";
import type { EnvelopeName } from "./checkpoint.ts";
import type { LegacyCheckpoint } from "./claims.ts";
import type { ProofCrypto } from "./crypto.ts";
import type { KeyAnswer } from "./ed25519-keys.ts";
import { FALSE_SIGNATURE, OTHER_BYTES, otherSession } from "./findings.ts";

/** The file of a stream in a data directory, as checkpoints and pinned heads name it. */
export const STREAMS = "streams";
/** The checkpoints of the Python original, which keys can be allowed one by one. */
export const LEGACY_PROFILE = "rye";
/** Checkpoints that are accepted in addition to ours: those of the Python original. */
export type CheckpointProfile = typeof LEGACY_PROFILE;

/** The envelopes of checkpoints that are lines of the log itself. */
export const INSIDE: readonly EnvelopeName[] = ["rye", "entire"];

/**
 * Whether checkpoints of this dialect can name such a session. Those of a sidecar file are spelled like
 * some of rye's, so only the name tells whose they are: `<dialect>:<id>`, and no id of rye has a colon.
 */
export function isSessionOf(dialect: string, session: string): boolean {
  const envelope = envelopeOf(dialect);
  if (envelope === "sidecar") return session.startsWith(`${dialect}:`);
  return envelope === "entire" || !session.includes(":");
}

/** How the checkpoints of a dialect's logs begin: inside the log in its own words, or in a sidecar. */
export function envelopeOf(dialect: string): EnvelopeName {
  return INSIDE.find((name) => name === dialect) ?? "sidecar";
}

/** Checkpoints are in a sidecar file where the log's readers would take them for data. */
export function hasSidecar(dialect: string): boolean {
  return envelopeOf(dialect) === "sidecar";
}

/** The key of an ordinary line that names its session; null where lines name none. */
export function sessionKey(envelope: EnvelopeName): string | null {
  if (envelope === "sidecar") return null;
  return envelope === "entire" ? "sessionId" : "thread_id";
}

/**
 * Whether each line of a log that is signed for the first time must name its session. Entire's logs are
 * begun by other programs, whose lines have a name of their own.
 */
export function namesSession(dialect: string): boolean {
  return dialect !== "entire";
}

/** Lines of these logs are other programs' data, and a line that looks like a checkpoint is data too. */
export function holdsMessages(dialect: string): boolean {
  return dialect === "claude" || dialect === STREAMS;
}

/** Streams have no turns: their checkpoints are counted instead. */
export function hasTurns(dialect: string): boolean {
  return dialect !== STREAMS;
}

/** Where the checkpoint is, and what it must state. */
interface LegacyPlace {
  readonly start: number;
  /** Of the bytes before it. */
  readonly hash: string;
  readonly key: KeyAnswer;
  /** Null: not known. */
  readonly session: string | null;
  readonly seq: number;
}

export function legacyFaultOf(
  checkpoint: LegacyCheckpoint,
  { start, hash, key: { publicKey }, session, seq }: LegacyPlace,
  crypto: ProofCrypto,
): CheckpointFault | null {
  const at = `the checkpoint of turn ${checkpoint.turn}`;
  if (checkpoint.byteOffset !== start) {
    return {
      code: "CHECKPOINT_MISPLACED",
      message: `${at} is not at the byte it was signed at`,
    };
  }
  if (checkpoint.hash !== hash) return { code: "HASH_MISMATCH", message: OTHER_BYTES(at) };
  if (session !== null && checkpoint.session !== session) {
    return { code: "OTHER_SESSION", message: otherSession(seq, checkpoint.session ?? "", session) };
  }
  const sig = fromBase64url(checkpoint.sig.slice(0, 86));
  if (publicKey && !(sig && crypto.verifyEd25519(publicKey, utf8(hash), sig))) {
    return { code: "SIGNATURE_FALSE", message: FALSE_SIGNATURE(at) };
  }
  return null;
}
