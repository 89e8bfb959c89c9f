/** Check finding: the findings about a data directory; their codes are stable. */

/** Damage. */
export type DamageCode =
  /** A line of `meta.jsonl`, or of the journal, is not what was written. */
  | "META_DAMAGED"
  | "JOURNAL_DAMAGED"
  /** Bytes of a stream are not what was appended. */
  | "BYTES_DAMAGED"
  | "FILE_MISSING"
  | "FILE_TOO_SHORT"
  | "FILE_TOO_LONG"
  /** A stream's file does not have the name that belongs to its path. */
  | "NAME_WRONG"
  /** A fork whose source is missing, or ends before the fork point. */
  | "SOURCE_MISSING"
  /** `meta.jsonl` contradicts a stream's own checkpoints: fork, end, closing. */
  | "SIGNED_OTHERWISE"
  /** A file in `logs/` that belongs to no stream. */
  | "ORPHAN"
  /** `streams.db` differs from what it is derived from, or has more. */
  | "INDEX_DIFFERS"
  | "INDEX_AHEAD";

/** Repaired automatically when the directory is next opened. */
export type NoteCode = "JOURNAL_PENDING" | "META_UNFINISHED" | "INDEX_REBUILT";

export interface CheckFinding {
  readonly code: DamageCode | NoteCode;
  readonly isDamage: boolean;
  /** The file, below the data directory. */
  readonly file: string;
  readonly stream: string | null;
  /** Offset in the file; null for the whole file. */
  readonly offset: number | null;
  readonly message: string;
}

type Where = Partial<Pick<CheckFinding, "stream" | "offset">>;

export function damage(
  code: DamageCode,
  file: string,
  message: string,
  { stream = null, offset = null }: Where = {},
): CheckFinding {
  return { code, isDamage: true, file, stream, offset, message };
}

export function note(code: NoteCode, file: string, message: string): CheckFinding {
  return { code, isDamage: false, file, stream: null, offset: null, message };
}
