/**
 * Note: signed notes and their keys, as other transparency logs write them (C2SP signed-note,
 * tlog-cosignature). Pure.
 *
 * - A note is a body of lines, an empty line, and signature lines. Reading never throws: anything
 *   malformed is null.
 * - The short id in a signature line is a hint. Only a key that the caller knows can verify one.
 */

import { concat, fromBase64url, toBase64url, toHex, utf8 } from "../bytes.ts";
import type { ProofCrypto } from "../crypto.ts";
import { PUBLIC_KEY_BYTES, publicKeyFault } from "../ed25519-keys.ts";

/** What a key signs: `log`, the note itself; `witness`, the note and a time (`cosignature/v1`). */
export type NoteRole = "log" | "witness";
const TYPES: Readonly<Record<NoteRole, number>> = { log: 0x01, witness: 0x04 };

const ID_BYTES = 4;
const TIME_BYTES = 8;
const SIGNATURE_BYTES = 64;
/** More signature lines are malformed. */
export const SIGNATURES_MAX = 64;
/** A note of ours has about 400 bytes. */
export const NOTE_CHARS_MAX = 64 * 1024;
const NAME_CHARS_MAX = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a note has no control characters.
const CONTROL = /[\x00-\x09\x0b-\x1f]/;
const NOT_IN_NAMES = /[\s\u0085+]/;
const SIGNATURE_LINE = /^\u2014 ([^ ]+) ([A-Za-z0-9+/]+={0,2})$/;

type Sha256 = Pick<ProofCrypto, "sha256">;

/** A key as a note names it. */
export interface NoteKey {
  readonly name: string;
  readonly role: NoteRole;
  /** Raw, 32 bytes. */
  readonly publicKey: Uint8Array;
}

export interface Note {
  /** The signed text, with its last LF. */
  readonly body: string;
  readonly signatures: readonly NoteSignature[];
}

export interface NoteSignature {
  readonly name: string;
  readonly id: string;
  readonly bytes: Uint8Array;
  /** The whole line, with its LF. */
  readonly line: string;
}

export function isKeyName(name: string): boolean {
  return name.length > 0 && name.length <= NAME_CHARS_MAX && !NOT_IN_NAMES.test(name);
}

/** The short id of a key under its name, 8 hex digits. */
export function keyIdOf(crypto: Sha256, { name, role, publicKey }: NoteKey): string {
  const bytes = concat(utf8(`${name}\n`), Uint8Array.of(TYPES[role]), publicKey);
  return toHex(crypto.sha256(bytes).subarray(0, ID_BYTES));
}

/** A key as one word: name, id, and the key itself. */
export function spellVerifierKey(crypto: Sha256, key: NoteKey): string {
  const material = toBase64(concat(Uint8Array.of(TYPES[key.role]), key.publicKey));
  return `${key.name}+${keyIdOf(crypto, key)}+${material}`;
}

export type ReadKey =
  | { readonly key: NoteKey; readonly fault: null }
  | { readonly key: null; readonly fault: string };

export function readVerifierKey(crypto: Sha256, text: string, role: NoteRole): ReadKey {
  const [name = "", id = "", ...rest] = text.split("+");
  const material = fromBase64(rest.join("+")); // Base64 may contain a plus.
  if (!isKeyName(name) || !/^[0-9a-f]{8}$/.test(id) || material === null) {
    return { key: null, fault: "it is not name+id+key" };
  }
  if (material[0] !== TYPES[role] || material.length !== 1 + PUBLIC_KEY_BYTES) {
    return { key: null, fault: `it is not an Ed25519 key of a ${role}` };
  }
  const key: NoteKey = { name, role, publicKey: material.slice(1) };
  const fault = publicKeyFault(key.publicKey);
  if (fault !== null) return { key: null, fault };
  if (keyIdOf(crypto, key) !== id) {
    return { key: null, fault: "its id does not belong to its name and key" };
  }
  return { key, fault: null };
}

export function readNote(text: string): Note | null {
  if (text.length > NOTE_CHARS_MAX || !text.endsWith("\n") || CONTROL.test(text)) return null;
  const end = text.lastIndexOf("\n\n");
  if (end === -1) return null;
  const signatures = readSignatureLines(text.slice(end + 2));
  return signatures && { body: text.slice(0, end + 1), signatures };
}

/** One or more signature lines, each with its LF. */
export function readSignatureLines(text: string): readonly NoteSignature[] | null {
  if (text.length > NOTE_CHARS_MAX || !text.endsWith("\n")) return null;
  const lines = text.slice(0, -1).split("\n");
  if (lines.length > SIGNATURES_MAX) return null;
  const signatures: NoteSignature[] = [];
  for (const line of lines) {
    const [, name = "", encoded = ""] = SIGNATURE_LINE.exec(line) ?? [];
    const bytes = fromBase64(encoded);
    if (!isKeyName(name) || !bytes || bytes.length <= ID_BYTES) return null;
    const id = toHex(bytes.subarray(0, ID_BYTES));
    signatures.push({ name, id, bytes: bytes.subarray(ID_BYTES), line: `${line}\n` });
  }
  return signatures;
}

/** The note with these signature lines. */
export function spellNote(body: string, signatureLines: readonly string[]): string {
  return `${body}\n${signatureLines.join("")}`;
}

/** The bytes that a key signs; `time` in seconds, for a witness only. */
export function noteMessage(role: NoteRole, body: string, time = 0): Uint8Array {
  return utf8(role === "log" ? body : `cosignature/v1\ntime ${time}\n${body}`);
}

/** The line of a signature over `noteMessage`, with its LF. */
export function signatureLine(
  crypto: Sha256,
  key: NoteKey,
  signature: Uint8Array,
  time = 0,
): string {
  const stamp = new Uint8Array(key.role === "log" ? 0 : TIME_BYTES);
  if (stamp.length > 0) new DataView(stamp.buffer).setBigUint64(0, BigInt(time));
  const id = Uint8Array.from(keyIdOf(crypto, key).match(/../g) ?? [], (hex) => Number(`0x${hex}`));
  return `\u2014 ${key.name} ${toBase64(concat(id, stamp, signature))}\n`;
}

/** How a note is signed by one key: `time` in seconds for a witness, null for a log. */
export type NoteJudgement =
  | { readonly is: "valid"; readonly time: number | null; readonly line: string }
  | { readonly is: "absent" | "false" };

/** A line that names the key and does not hold is "false", whatever the other lines say. */
export function signedBy(crypto: ProofCrypto, note: Note, key: NoteKey): NoteJudgement {
  const id = keyIdOf(crypto, key);
  let judgement: NoteJudgement = { is: "absent" };
  for (const { name, id: own, bytes, line } of note.signatures) {
    if (name !== key.name || own !== id) continue;
    const time = key.role === "log" ? null : timeOf(bytes);
    const signature = key.role === "log" ? bytes : bytes.subarray(TIME_BYTES);
    const message = noteMessage(key.role, note.body, time ?? 0);
    const isRight = key.role === "log" || time !== null;
    const isHeld = isRight && signature.length === SIGNATURE_BYTES;
    if (!isHeld || !crypto.verifyEd25519(key.publicKey, message, signature)) {
      return { is: "false" };
    }
    judgement = { is: "valid", time, line };
  }
  return judgement;
}

function timeOf(bytes: Uint8Array): number | null {
  if (bytes.length < TIME_BYTES) return null;
  const time = new DataView(bytes.buffer, bytes.byteOffset, TIME_BYTES).getBigUint64(0);
  return time > 0n && time <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(time) : null;
}

/** Base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const text = toBase64url(bytes).replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(4 * Math.ceil(text.length / 4), "=");
}

/** Decodes base64 with padding; null unless it is the one canonical spelling. */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  return fromBase64url(text.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_"));
}
