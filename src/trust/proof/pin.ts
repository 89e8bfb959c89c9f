/**
 * Pin: a signed head that is stored outside its log, to detect a log that was cut back or replaced.
 * Reads and writes a line of `heads.jsonl`. Format: docs/formats/heads.md.
 */

import { concat, utf8 } from "./bytes.ts";
import { asciiJson, type CheckpointKind } from "./checkpoint.ts";
import { isObject } from "./claims.ts";

/** A checkpoint, and the session it was made for. */
export interface PinnedHead {
  /** `<dialect>:<real path of the store's root>`. */
  readonly place: string;
  /** The session's id. */
  readonly id: string;
  /** The log's own id, which stays when its file is moved. */
  readonly log: string;
  readonly seq: number;
  readonly byteOffset: number;
  /** SHA-256 of the checkpoint's line, LF included. */
  readonly line: string;
  readonly kind: CheckpointKind["kind"];
  readonly kid: string;
  /** When the checkpoint was made, as it states. */
  readonly ts: string;
}

/**
 * Why a head is pinned: our signer made it, `verify --pin` verified it, or a person accepted it
 * instead of a later one. `forgotten`: nothing is pinned any more. `deleted`: the session was
 * deleted with this head, which its tombstone signs.
 */
export type PinReason = "signed" | "verified" | "accepted" | "forgotten" | "deleted";

export interface Pin extends PinnedHead {
  readonly why: PinReason;
  /** Of a `deleted` one, and of no other. */
  readonly tombstone?: Tombstone;
}

/** Who deleted a session, when and why. */
export interface Tombstone {
  readonly at: string;
  readonly by: string;
  readonly reason: string;
  /** The key that signed it. */
  readonly signer: string;
  /** Ed25519 over `tombstoneMessage`, in hex. */
  readonly sig: string;
}

/** The message that a tombstone's signature signs: every other field of its line. */
export function tombstoneMessage(head: PinnedHead, stated: Omit<Tombstone, "sig">): Uint8Array {
  const { at, by, reason, signer } = stated;
  const line = pinFields({ ...head, why: "deleted" });
  return concat(
    TOMBSTONE_DOMAIN,
    utf8(asciiJson({ ...line, tombstone: { at, by, reason, signer } })),
  );
}

const TOMBSTONE_DOMAIN = utf8("verbatim/tombstone/v1\n");
export const TOMBSTONE_TEXT_CHARS_MAX = 2000;

const VERSION = 1;
/** Longer than any path that a kernel accepts. */
const TEXT_CHARS_MAX = 8192;

const KINDS: Readonly<Record<CheckpointKind["kind"], true>> = {
  genesis: true,
  turn: true,
  batch: true,
  final: true,
  rotate: true,
  link: true,
  recovery: true,
};
const REASONS: Readonly<Record<PinReason, true>> = {
  signed: true,
  verified: true,
  accepted: true,
  forgotten: true,
  deleted: true,
};

const PLACE = /^[a-z][a-z0-9-]{0,31}:\/[^\0]*$/;
const TEXT = /^[^\0]+$/;
const LOG = /^[0-9a-f]{32}$/;
const HASH = /^[0-9a-f]{64}$/;
const SIGNATURE = /^[0-9a-f]{128}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** A check for each field, in the order of the line. */
const FIELDS: readonly (readonly [string, (value: unknown) => boolean])[] = [
  ["v", (value) => value === VERSION],
  ["place", (value) => isText(value, PLACE)],
  ["id", (value) => isText(value, TEXT)],
  ["log", (value) => isText(value, LOG)],
  ["seq", isCount],
  ["byte_offset", isCount],
  ["line", (value) => isText(value, HASH)],
  ["kind", (value) => typeof value === "string" && Object.hasOwn(KINDS, value)],
  ["kid", (value) => isText(value, HASH)],
  ["ts", (value) => isText(value, TIME)],
  ["why", (value) => typeof value === "string" && Object.hasOwn(REASONS, value)],
];

/** A line's JSON, after every field was checked. */
interface PinLine extends Omit<Pin, "byteOffset"> {
  readonly byte_offset: number;
}

export type ReadPin =
  | { readonly pin: Pin; readonly fault: null }
  | { readonly pin: null; readonly fault: string };

/** The pin in a line's JSON, or why it is not one. Names fields, never values. */
export function readPin(value: unknown): ReadPin {
  if (!isObject(value)) return bad("not an object");
  if (typeof value.v === "number" && value.v > VERSION) return bad("of a newer version");
  for (const [name, isGood] of FIELDS) {
    if (!Object.hasOwn(value, name)) return bad(`without ${name}`);
    if (!isGood(value[name])) return bad(`bad ${name}`);
  }
  const isDeleted = value.why === "deleted";
  if (isDeleted && !isTombstone(value.tombstone)) return bad("bad tombstone");
  const count = FIELDS.length + (isDeleted ? 1 : 0);
  if (Object.keys(value).length !== count) return bad("with an unknown field");
  // Field by field: copying the rest of an object takes several times as long.
  const pinLine = value as unknown as PinLine;
  const { place, id, log, seq, byte_offset: byteOffset, line, kind, kid, ts, why } = pinLine;
  const pin = { place, id, log, seq, byteOffset, line, kind, kid, ts, why };
  const { tombstone } = pinLine;
  return { pin: tombstone ? { ...pin, tombstone } : pin, fault: null };
}

/** The fields of a pin's line, in this order. */
export function pinFields(pin: Pin): Readonly<Record<string, unknown>> {
  const { place, id, log, seq, byteOffset, line, kind, kid, ts, why, tombstone } = pin;
  const fields = { v: VERSION, place, id, log, seq, byte_offset: byteOffset, line, kind, kid };
  return Object.assign(fields, { ts, why }, tombstone && { tombstone });
}

function isTombstone(value: unknown): value is Tombstone {
  if (!isObject(value) || Object.keys(value).length !== 5) return false;
  const { at, by, reason, signer, sig } = value;
  return (
    isText(at, TIME) &&
    [by, reason].every((text) => {
      return typeof text === "string" && text.length <= TOMBSTONE_TEXT_CHARS_MAX;
    }) &&
    isText(signer, HASH) &&
    isText(sig, SIGNATURE)
  );
}

function bad(fault: string): ReadPin {
  return { pin: null, fault };
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && value.length <= TEXT_CHARS_MAX && pattern.test(value);
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
