/**
 * Statement: the last line of a disclosed copy: where it ends, what is withheld and why, signed by
 * the redactor. Format: docs/formats/disclosure.md, "The statement".
 *
 * The signature covers the statement's own bytes, and through `bytes` and `sha256` all before it:
 * Ed25519 needs its whole message at once, and a copy may be larger than memory.
 */

import { concat, fromBase64url, toBase64url, utf8 } from "../bytes.ts";
import { asciiJson } from "../checkpoint.ts";
import { isCount, isHash, isObject, isText, TIME } from "../claims.ts";
import { readStated, type StatedGenesis, statedFields } from "./stated-genesis.ts";

const DOMAIN = utf8("verbatim/disclosure/v1\n");
/** `,"sig":"`, 86 characters, `"}`: how every statement ends. */
const SIG_BYTES = 96;
/** Reasons of one copy. */
export const REASONS_MAX = 1000;
export const RULE_CHARS_MAX = 200;
export const REASON_CHARS_MAX = 2000;

/** A rule that led to withholding, why, and how much of it there was. */
export interface Reason {
  readonly rule: string;
  readonly reason: string;
  /** Lines withheld whole, or stretches of a raw stream. */
  readonly lines: number;
  readonly strings: number;
}

export interface StatementFacts {
  /** The last checkpoint: `line` is its line's hash. */
  readonly head: {
    readonly log: string;
    readonly seq: number;
    readonly line: string;
    readonly ts: string;
  };
  /** Genesis, if it is left out. */
  readonly genesis: StatedGenesis | null;
  readonly withheld: readonly Reason[];
  /** What follows the last checkpoint, and is not in the copy. */
  readonly leftOut: { readonly lines: number; readonly bytes: number };
  /** The redactor's clock. */
  readonly ts: string;
  /** The redactor's key. */
  readonly kid: string;
  /** All bytes of the copy before the statement. */
  readonly bytes: number;
  readonly sha256: string;
}

export interface Statement {
  readonly facts: StatementFacts;
  readonly sig: Uint8Array;
}

/** The message that the redactor signs. */
export function statementMessage(facts: StatementFacts): Uint8Array {
  return concat(DOMAIN, utf8(opening(facts)));
}

export function spellStatement({ facts, sig }: Statement): string {
  return `${opening(facts)},"sig":"${toBase64url(sig)}"}`;
}

/** The message that the signature of this line must sign. */
export function messageIn(line: Uint8Array): Uint8Array {
  return concat(DOMAIN, line.subarray(0, line.length - SIG_BYTES));
}

function opening(facts: StatementFacts): string {
  const { log, seq, line, ts } = facts.head;
  const withheld = facts.withheld.map(({ rule, reason, lines, strings }) => {
    return { rule, reason, lines, strings };
  });
  const { lines, bytes } = facts.leftOut;
  const statement = {
    head: { log, seq, line, ts },
    genesis: facts.genesis && statedFields(facts.genesis),
    withheld,
    left_out: { lines, bytes },
    ts: facts.ts,
    kid: facts.kid,
    bytes: facts.bytes,
    sha256: facts.sha256,
  };
  return `{"statement":${asciiJson(statement)}`;
}

/** Reads the JSON of a statement; its spelling is compared by the caller. */
export function readStatement(value: Readonly<Record<string, unknown>>): Statement | null {
  const { statement: said, sig: text } = value;
  const sig = typeof text === "string" && text.length === 86 ? fromBase64url(text) : null;
  if (!isObject(said) || !sig) return null;
  const { head, withheld, left_out: leftOut, ts, kid, bytes, sha256 } = said;
  const genesis = isObject(said.genesis) ? readStated(said.genesis) : null;
  const isGood =
    isObject(head) &&
    isText(head.log, 32) &&
    isCount(head.seq) &&
    isHash(head.line) &&
    isText(head.ts, 40) &&
    (said.genesis === null || genesis) &&
    Array.isArray(withheld) &&
    withheld.length <= REASONS_MAX &&
    withheld.every(isReason) &&
    isObject(leftOut) &&
    isCount(leftOut.lines) &&
    isCount(leftOut.bytes) &&
    isText(ts, 40) &&
    TIME.test(ts) &&
    isHash(kid) &&
    isCount(bytes) &&
    isHash(sha256);
  if (!isGood) return null;
  const facts = { head, genesis, withheld, leftOut, ts, kid, bytes, sha256 };
  return { facts: facts as unknown as StatementFacts, sig };
}

function isReason(value: unknown): value is Reason {
  return (
    isObject(value) &&
    isText(value.rule, RULE_CHARS_MAX) &&
    isText(value.reason, REASON_CHARS_MAX) &&
    isCount(value.lines) &&
    isCount(value.strings)
  );
}
