/** Check finding: what examining a data directory can say, in words that stay. */

/** What is not as it must be. */
export type DamageCode =
  /** A line of `meta.jsonl`, or the journal, is not what was written. */
  | "META_DAMAGED"
  | "JOURNAL_DAMAGED"
  /** Bytes of a stream are not what was appended. */
  | "BYTES_DAMAGED"
  | "FILE_MISSING"
  | "FILE_TOO_SHORT"
  | "FILE_TOO_LONG"
  /** A stream's file has not the name that its path calls for. */
  | "NAME_WRONG"
  /** A fork whose source is not there, or ends before it. */
  | "SOURCE_MISSING"
  /** `meta.jsonl` says otherwise than a stream's own checkpoints: fork, end, closing. */
  | "SIGNED_OTHERWISE"
  /** A file in `logs/` that is no stream's. */
  | "ORPHAN"
  /** `streams.db` says otherwise than what it is made from, or knows of more. */
  | "INDEX_DIFFERS"
  | "INDEX_AHEAD";

/** What the next opening puts right by itself. */
export type NoteCode = "JOURNAL_PENDING" | "META_UNFINISHED" | "INDEX_REBUILT";

export interface CheckFinding {
  readonly code: DamageCode | NoteCode;
  readonly isDamage: boolean;
  /** The file, below the data directory. */
  readonly file: string;
  readonly stream: string | null;
  /** Where in the file; null for all of it. */
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
