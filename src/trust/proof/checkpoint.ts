/**
 * Checkpoint: the line that signs everything before it: its fields, its spelling, and recognising
 * one. Format: docs/formats/checkpoint.md.
 *
 * - One spelling: ASCII, compact, these keys in this order. A line is a checkpoint if and only if
 *   it matches the pattern of its envelope (rye has two); no JSON is parsed before that.
 * - `sig2` covers the line's own bytes, envelope included, except the last 97, which are `sig2`.
 * - Numbers are plain integers up to 2^53 - 1, without sign or leading zeros.
 *
 * Genesis facts: what a genesis states, except its secrets, in one spelling. A disclosed copy and a
 * proof state them for a genesis in a sidecar file, which no tree covers; checkpoint 1 of that file
 * has their hash. Format: docs/formats/disclosure.md, "Genesis".
 */

import { assert } from "../../core/base/errors.ts";
import { asAscii, concat, fromBase64url, toBase64url, toHex, utf8 } from "./bytes.ts";
import type { ProofCrypto } from "./crypto.ts";

/** Domain tag: the prefix of what is signed, so that it cannot be taken for anything else. */
const DOMAIN_TEXT = "verbatim/checkpoint/v2\n";
const DOMAIN = utf8(DOMAIN_TEXT);
/** `"sig2":"`, 86 characters, `"}}`: how every checkpoint line ends. */
export const SIG2_BYTES = 97;
/** A longer line is not a checkpoint. */
export const CHECKPOINT_BYTES_MAX = 64 * 1024;
/** Limit of a text that an envelope repeats; longer texts are left out. */
const ENVELOPE_CHARS_MAX = 2048;
/** The shortest string of a line that can be withheld by itself, unless genesis sets another. */
export const PARTS_DEFAULT = 64;

/** A byte range that a signer found unsigned: from, to. */
export type FoundRange = readonly [number, number];

/** A signed head of another log, and an offset in what it signs. */
export interface SignedHead {
  readonly log: string;
  readonly seq: number;
  /** SHA-256 of the checkpoint's line. */
  readonly line: string;
  /** Where the referenced part ends, in bytes. */
  readonly at: number;
}

export type CheckpointKind =
  | {
      readonly kind: "genesis";
      readonly salt: string;
      readonly parts: number;
      readonly from: SignedHead | null;
      readonly found: FoundRange | null;
      readonly vouched: boolean;
    }
  | {
      readonly kind: "recovery";
      readonly cut: number;
      readonly found: FoundRange | null;
      readonly vouched: boolean;
      readonly lost: { readonly seq: number; readonly line: string } | null;
    }
  | {
      readonly kind: "rotate";
      /** The `kid` of the key that signs from here on. */
      readonly next: string;
      /** That key, raw, in base64url: a verifier may have only the old one. */
      readonly key?: string;
    }
  | { readonly kind: "link"; readonly to: { readonly id: string; readonly log: string } }
  | { readonly kind: "turn" | "batch" | "final" };

/** The fields of a checkpoint, without its signatures. */
export type CheckpointFacts = {
  readonly turn: number;
  /** Where the covered bytes end. In the log itself: where this line starts. */
  readonly byteOffset: number;
  readonly hash: string;
  readonly fp: string;
  readonly ts: string;
  readonly log: string;
  readonly seq: number;
  readonly prev: string;
  readonly seg: string;
  readonly tree: { readonly size: number; readonly root: string };
  readonly rev: number;
  readonly kid: string;
  /** In checkpoint 1 of a sidecar file: the hash of what genesis states (`genesisFields`). */
  readonly genesis?: string;
} & CheckpointKind;

export type Checkpoint = CheckpointFacts & {
  /** The session, as its envelope names it. */
  readonly session: string;
  readonly sig: Uint8Array;
  readonly sig2: Uint8Array;
  /** The message that `sig2` signs. */
  readonly statement: Uint8Array;
};

/** A genesis, of which a disclosed copy shows no salt, hash and signatures. */
export type DisclosedGenesis = CheckpointFacts & { readonly kind: "genesis" };

/**
 * The turn of the lines before a checkpoint, counted from 1: the one that it ends, or the one still
 * open.
 */
export function turnBefore(checkpoint: CheckpointKind & Pick<CheckpointFacts, "turn">): number {
  const { kind, turn } = checkpoint;
  const isVouched = (kind === "genesis" || kind === "recovery") && checkpoint.vouched;
  return kind === "turn" || kind === "final" || isVouched ? turn : turn + 1;
}

/** Which envelope a checkpoint's line has. */
export type EnvelopeName = "rye" | "entire" | "sidecar";

// Parts of the patterns.
const TEXT = String.raw`"(?:[ !#-\[\]-~]|\\["\\bfnrt]|\\u[0-9a-f]{4})*"`;

const NULLABLE_TEXT = `(?:null|${TEXT})`;
const NUMBER = "(?:0|[1-9][0-9]{0,15})";
const HASH = '"[0-9a-f]{64}"';
const LOG = '"[0-9a-f]{32}"';
const TIME = String.raw`"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z"`;
const KEY = '"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]"';
const FOUND = String.raw`(?:null|\[${NUMBER},${NUMBER}\])`;
const FROM = `(?:null|\\{"log":${LOG},"seq":${NUMBER},"line":${HASH},"at":${NUMBER}\\})`;
const LOST = `(?:null|\\{"seq":${NUMBER},"line":${HASH}\\})`;

const KINDS = [
  `"genesis"MID"salt":${HASH},"parts":${NUMBER},"from":${FROM},"found":${FOUND},"vouched":(?:true|false),`,
  `"recovery"MID"cut":${NUMBER},"found":${FOUND},"vouched":(?:true|false),"lost":${LOST},`,
  `"rotate"MID"next":${HASH},(?:"key":${KEY},)?`,
  `"link"MID"to":\\{"id":${TEXT},"log":${LOG}\\},`,
  `"(?:turn|batch|final)"MID`,
];

const MID =
  `,"log":${LOG},"seq":${NUMBER},"prev":${HASH},"seg":${HASH},` +
  `"tree":\\{"size":${NUMBER},"root":${HASH}\\},"rev":${NUMBER},"kid":${HASH},`;

const BODY =
  `"event_type":"checkpoint","payload":\\{"turn":${NUMBER},"byte_offset":${NUMBER},` +
  `"hash":${HASH},"sig":"[A-Za-z0-9_-]{85}[AQgw]==","fp":"[0-9a-f]{16}","ts":${TIME},"v":2,` +
  `"kind":(?:${KINDS.map((kind) => kind.replace("MID", MID)).join("|")})`;

const SIG2 = `"sig2":"[A-Za-z0-9_-]{85}[AQgw]"\\}\\}`;

const FLAT = envelope(
  `"ts":${TEXT},"type":"checkpoint","thread_id":(?<session>${TEXT}),"directive":${TEXT},`,
);

const NAMED = `"timestamp":${TEXT},"thread_id":(?<session>${TEXT}),`;
const PAYLOAD = envelope(NAMED);
const SIDECAR = envelope(NAMED, `(?:"genesis":${HASH},)?`);

const ENTIRE = envelope(
  `"type":"checkpoint","sessionId":(?<session>${TEXT}),"uuid":${TEXT},` +
    `"parentUuid":${NULLABLE_TEXT},"timestamp":${TEXT},"cwd":${TEXT},"version":${TEXT},`,
);

// Which of rye's two envelopes a line has is in the line itself, and signed. If another line
// decided it, a reader that misread that line would take honest checkpoints for forged.
const ENVELOPES: Readonly<Record<EnvelopeName, readonly RegExp[]>> = {
  rye: [FLAT, PAYLOAD],
  entire: [ENTIRE],
  sidecar: [SIDECAR],
};

function envelope(before: string, after = ""): RegExp {
  return new RegExp(`^\\{${before}${BODY}${after}${SIG2}$`);
}

/** Reads a line, passed without its LF; null when it is not a checkpoint of this envelope. */
export function readCheckpoint(line: Uint8Array, name: EnvelopeName): Checkpoint | null {
  if (line.length > CHECKPOINT_BYTES_MAX || line.length < SIG2_BYTES) return null;
  const text = asAscii(line);
  const session = sessionIn(text, ENVELOPES[name]);
  if (session === null) return null;
  // The pattern matched, so the JSON is valid: every key is there, once.
  const { payload } = JSON.parse(text) as { payload: Payload };
  const sig = fromBase64url(payload.sig.slice(0, 86));
  const sig2 = fromBase64url(payload.sig2);
  if (!sig || !sig2 || !areSafe(payload)) return null;
  const { genesis } = payload;
  if (genesis !== undefined && !bindsGenesis(payload)) return null;
  const statement = concat(DOMAIN, line.subarray(0, line.length - SIG2_BYTES));
  // One literal with each field by its name: joining objects would take most of the time here.
  return {
    turn: payload.turn,
    byteOffset: payload.byte_offset,
    hash: payload.hash,
    fp: payload.fp,
    ts: payload.ts,
    kind: payload.kind,
    log: payload.log,
    seq: payload.seq,
    prev: payload.prev,
    seg: payload.seg,
    tree: payload.tree,
    rev: payload.rev,
    kid: payload.kid,
    session: JSON.parse(session),
    sig,
    sig2,
    statement,
    ...kindFields(payload),
    ...(genesis === undefined ? null : { genesis }),
  } as Checkpoint;
}

/** The JSON of a line that matches. */
type Payload = CheckpointFacts & {
  readonly byte_offset: number;
  readonly sig: string;
  readonly sig2: string;
};

/** The session that a matching line names, as it is spelled; null when no pattern matches. */
function sessionIn(text: string, patterns: readonly RegExp[]): string | null {
  for (const pattern of patterns) {
    const session = pattern.exec(text)?.groups?.session;
    if (session !== undefined) return session;
  }
  return null;
}

/** Whether a checkpoint of a sidecar file is the one that binds what genesis states. */
export function bindsGenesis({ seq, kind }: Pick<CheckpointFacts, "seq" | "kind">): boolean {
  return seq === 1 && kind !== "genesis";
}

/** Sixteen digits may exceed a safe integer. */
function areSafe(value: unknown): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(areSafe);
}

/** Makes the two signatures of a checkpoint. */
export type Sign = (message: Uint8Array) => Promise<Uint8Array>;

/**
 * The line of a checkpoint, LF included. `opening` is the envelope from its brace to the comma
 * before the body, in ASCII.
 */
export async function writeCheckpoint(
  opening: string,
  facts: CheckpointFacts,
  sign: Sign,
): Promise<Uint8Array> {
  const sig = await sign(utf8(facts.hash));
  const statement = utf8(`${DOMAIN_TEXT}${opening}${bodyBefore(facts, toBase64url(sig))}`);
  const length = statement.length - DOMAIN.length + SIG2_BYTES;
  assert(length <= CHECKPOINT_BYTES_MAX, "a checkpoint's line is at most 64 KiB");
  const sig2 = await sign(statement);
  return concat(statement.subarray(DOMAIN.length), utf8(`"sig2":"${toBase64url(sig2)}"}}\n`));
}

/** The body up to `sig2`. Except for the kind's own fields it is digits, hex and times. */
function bodyBefore(facts: CheckpointFacts, sig: string): string {
  const { turn, byteOffset, hash, fp, ts, kind, log, seq, prev, seg, tree, rev, kid } = facts;
  const { genesis } = facts;
  const fields = kindFields(facts);
  const more = fields && `${asciiJson(fields).slice(1, -1)},`;
  return (
    `"event_type":"checkpoint","payload":{"turn":${turn},"byte_offset":${byteOffset},` +
    `"hash":"${hash}","sig":"${sig}==","fp":"${fp}","ts":"${ts}","v":2,"kind":"${kind}",` +
    `"log":"${log}","seq":${seq},"prev":"${prev}","seg":"${seg}",` +
    `"tree":{"size":${tree.size},"root":"${tree.root}"},"rev":${rev},"kid":"${kid}",` +
    (more ?? "") +
    (genesis === undefined ? "" : `"genesis":"${genesis}",`)
  );
}

/** The kind's own fields, in their one order, whatever the order in the object. */
function kindFields(facts: CheckpointKind): object | null {
  switch (facts.kind) {
    case "genesis": {
      const { salt, parts, found, vouched } = facts;
      const { from } = facts;
      const head = from && { log: from.log, seq: from.seq, line: from.line, at: from.at };
      return { salt, parts, from: head, found, vouched };
    }
    case "recovery": {
      const { cut, found, vouched, lost } = facts;
      return { cut, found, vouched, lost: lost && { seq: lost.seq, line: lost.line } };
    }
    case "rotate":
      return { next: facts.next, ...(facts.key === undefined ? {} : { key: facts.key }) };
    case "link":
      return { to: { id: facts.to.id, log: facts.to.log } };
    default:
      return null;
  }
}

/** A text for an envelope: whole, or empty when too long. */
export function envelopeText(text: string): string {
  return text.length <= ENVELOPE_CHARS_MAX ? text : "";
}

/** Compact JSON in ASCII; DEL is escaped too, so that the line is printable. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The facts, in their one order. */
export function genesisFields(facts: DisclosedGenesis): object {
  const { turn, byteOffset, fp, ts, log, tree, rev, kid, parts, from, found, vouched } = facts;
  const head = from && { log: from.log, seq: from.seq, line: from.line, at: from.at };
  return {
    turn,
    byte_offset: byteOffset,
    fp,
    ts,
    log,
    size: tree.size,
    rev,
    kid,
    parts,
    from: head,
    found,
    vouched,
  };
}

/** What checkpoint 1 of a sidecar file says of its genesis, in hex. */
export function genesisHash(crypto: Pick<ProofCrypto, "sha256">, facts: DisclosedGenesis): string {
  return toHex(crypto.sha256(utf8(asciiJson(genesisFields(facts)))));
}
