/**
 * Claims: which lines claim to be checkpoints, and what they really are.
 *
 * A line claims to be a checkpoint when any reader of its dialect would take it for one: its JSON
 * object has `checkpoint` in `type` or `event_type`. Claiming without being one is tampering; so is
 * being one of another dialect than the log's.
 *
 * Values: what the fields of a disclosed copy may hold.
 */

import { utf8 } from "./bytes.ts";
import { type Checkpoint, type EnvelopeName, readCheckpoint } from "./checkpoint.ts";

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** A checkpoint as the Python original wrote it, before this format. */
export interface LegacyCheckpoint {
  readonly turn: number;
  readonly byteOffset: number;
  readonly hash: string;
  readonly sig: string;
  readonly fp: string;
  readonly session: string | null;
}

export type Claim =
  | { readonly is: "checkpoint"; readonly checkpoint: Checkpoint }
  | { readonly is: "legacy"; readonly checkpoint: LegacyCheckpoint }
  /** A version that this program does not know. */
  | { readonly is: "newer"; readonly version: number }
  | { readonly is: "impostor" };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What a line, passed without its LF, claims to be; null when it claims nothing. */
export function claimOf(line: Uint8Array, envelope: EnvelopeName): Claim | null {
  const checkpoint = readCheckpoint(line, envelope);
  if (checkpoint) return { is: "checkpoint", checkpoint };
  const value = parseLine(line);
  if (!isObject(value) || (value.type !== "checkpoint" && value.event_type !== "checkpoint")) {
    return null;
  }
  const { payload } = value;
  if (!isObject(payload)) return { is: "impostor" };
  const { v } = payload;
  if (typeof v === "number" && Number.isSafeInteger(v) && v > 2) return { is: "newer", version: v };
  const legacy = Object.hasOwn(value, "type") ? null : legacyOf(value, payload);
  return legacy ? { is: "legacy", checkpoint: legacy } : { is: "impostor" };
}

/** A line as JSON; undefined when it is not JSON. */
export function parseLine(line: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(line));
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function legacyOf(
  value: Readonly<Record<string, unknown>>,
  payload: Readonly<Record<string, unknown>>,
): LegacyCheckpoint | null {
  const { turn, byte_offset: byteOffset, hash, sig, fp } = payload;
  const session = typeof value.thread_id === "string" ? value.thread_id : null;
  const isWhole =
    Object.keys(payload).every((key) => LEGACY_KEYS.has(key)) &&
    typeof turn === "number" &&
    typeof byteOffset === "number" &&
    typeof hash === "string" &&
    /^[0-9a-f]{64}$/.test(hash) &&
    typeof sig === "string" &&
    /^[A-Za-z0-9_-]{86}(==)?$/.test(sig) &&
    typeof fp === "string" &&
    /^[0-9a-f]{16}$/.test(fp);
  return isWhole ? { turn, byteOffset, hash, sig, fp, session } : null;
}

const LEGACY_KEYS = new Set(["turn", "byte_offset", "hash", "sig", "fp", "ts"]);
/** For a quick search: a line without these bytes claims nothing, unless it escapes them. */
export const CLAIM_NEEDLE = utf8('"checkpoint"');

export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

export function isText(value: unknown, charsMax: number): value is string {
  return typeof value === "string" && value.length <= charsMax;
}
