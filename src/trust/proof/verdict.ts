/**
 * Verdict: the verdicts on a session, their exit codes, and which of several wins. Format:
 * docs/formats/checkpoint.md, "Verdicts".
 */

/**
 * In order: the first that fits is the verdict, of one session and of many. A session that was
 * deleted on purpose makes the verdict on many no worse.
 */
export const VERDICTS = [
  "tampered",
  "unreadable",
  "rollback",
  "untrusted",
  "unsigned",
  "unpinned",
  "incomplete",
  "verified",
  "deleted",
] as const;

export type Verdict = (typeof VERDICTS)[number];

export const EXIT_CODES: Readonly<Record<Verdict, number>> = {
  tampered: 1,
  unreadable: 7,
  rollback: 6,
  untrusted: 4,
  unsigned: 3,
  unpinned: 6,
  incomplete: 5,
  verified: 0,
  deleted: 8,
};

/** Flags change the exit code, never the verdict. */
export interface Allowances {
  readonly lenient?: boolean;
  readonly allowUnsigned?: boolean;
}

export function exitCode(verdict: Verdict, { lenient, allowUnsigned }: Allowances = {}): number {
  if (lenient && verdict === "incomplete") return 0;
  if (allowUnsigned && verdict === "unsigned") return 0;
  return EXIT_CODES[verdict];
}

export function worse(one: Verdict, other: Verdict): Verdict {
  return VERDICTS.indexOf(one) <= VERDICTS.indexOf(other) ? one : other;
}

/** Why a verdict is what it is. Codes are stable. */
export type FindingCode =
  // tampered
  | "CHECKPOINT_MISPLACED"
  | "VOID_CHECKPOINT"
  | "HASH_MISMATCH"
  | "SEGMENT_MISMATCH"
  | "TREE_MISMATCH"
  | "CHAIN_BROKEN"
  | "OTHER_LOG"
  | "OTHER_SESSION"
  | "SIGNATURE_FALSE"
  | "NOT_A_CHECKPOINT"
  | "OLDER_FORMAT_AFTER_NEWER"
  | "TAIL_CONTROL_BYTE"
  | "TAIL_NOT_UTF8"
  | "TAIL_TWO_TYPES"
  | "SIDECAR_FOREIGN_BYTES"
  | "SPILL_CHANGED"
  | "FORK_MISMATCH"
  | "CLOSURE_MISMATCH"
  | "META_ALTERED"
  | "META_STRIPPED"
  | "META_OTHER_LOG"
  | "LINE_ENDINGS_CONVERTED"
  /** Of disclosed copies and proofs. */
  | "DISCLOSURE_MALFORMED"
  | "STATEMENT_MISMATCH"
  | "PROOF_MALFORMED"
  /** The disclosed copy of what a log was before an erasure is not of this log. */
  | "ERASED_COPY_MISMATCH"
  | "ERASED_COPY_MISSING"
  // unreadable
  | "UNREADABLE"
  | "CHANGED_WHILE_READ"
  | "NOT_FOUND"
  | "TOO_LONG"
  | "NEWER_FORMAT"
  | "NEEDS_RECOVERY"
  // rollback
  | "BEHIND"
  | "FORK"
  | "REPLACED"
  | "LOG_SHORTER_THAN_SIDECAR"
  | "CHECKPOINTS_STRIPPED"
  | "END_MISMATCH"
  | "DELETION_MISMATCH"
  | "META_BEHIND"
  | "META_AHEAD"
  // untrusted
  | "KEY_UNKNOWN"
  | "KEY_REVOKED"
  | "KEY_EXPIRED"
  | "KEY_NOT_YET_VALID"
  | "KEY_OF_OTHER_PURPOSE"
  | "KEY_NOT_FOR_OLDER_FORMAT"
  | "OLDER_FORMAT"
  | "META_UNTRUSTED"
  // the rest
  | "UNSIGNED"
  | "UNPINNED"
  | "UNSIGNED_TAIL"
  | "TORN_TAIL"
  | "NUL_TAIL"
  | "FOUND_UNSIGNED"
  /** Of a disclosed copy that neither shows nor states how the log began. */
  | "GENESIS_ABSENT"
  /** Of a copy or proof: its beginning is the word of a key that did not sign it. */
  | "GENESIS_UNCONFIRMED"
  /** Recorded hooks that are not in the log yet (store/hook-spool.ts). */
  | "HOOKS_WAITING"
  | "CLOSURE_UNSIGNED"
  /** Of a fork whose source is not verified. */
  | "SOURCE_NOT_VERIFIED"
  | "META_MISSING"
  | "META_UNSIGNED"
  | "META_RECONSTRUCTED"
  /** The session was deleted, as its signed tombstone says. */
  | "DELETED"
  // reported, without effect on the verdict
  | "REOPENED"
  | "IDENTITY_UNKNOWN"
  | "LEGACY_TERMINAL_UNSIGNED"
  | "PIN_MAY_BE_MISSING"
  /** By a third party: cosigned, not cosigned, stamped. */
  | "WITNESSED"
  | "NOT_WITNESSED"
  | "TIMESTAMPED"
  | "ROOT_IS_LINK";

export interface Finding {
  readonly code: FindingCode;
  /** The verdict that this finding alone leads to; null when it is only reported. */
  readonly verdict: Verdict | null;
  readonly byteOffset: number | null;
  readonly turn: number | null;
  readonly message: string;
}

/** A finding about a log as a whole. */
export function findingOf(code: FindingCode, verdict: Verdict | null, message: string): Finding {
  return { code, verdict, byteOffset: null, turn: null, message };
}

/** The last checkpoint up to which everything is valid. */
export interface SignedThrough {
  readonly seq: number;
  readonly turn: number;
  /** Turns up to it, including an unfinished one. */
  readonly turns: number;
  readonly byteOffset: number;
  /** Where its line ends: it covers everything before. */
  readonly end: number;
  /** SHA-256 of its line, LF included. */
  readonly line: string;
  /** The revision of thread.json it knew; 0 where there is none. */
  readonly rev: number;
  readonly kid: string;
  readonly kind: string;
  readonly ts: string;
}
