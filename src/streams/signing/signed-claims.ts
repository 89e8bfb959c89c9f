/**
 * Signed claims: what the checkpoints of a stream say, held against what `meta.jsonl` says of it.
 *
 * `meta.jsonl` is not signed, and decides what a server serves: how far a stream's file counts, what
 * a fork begins with, whether a stream is closed. Pure; whose signatures count is for the caller.
 */

import type { ForeignHead } from "../../proof/checkpoint.ts";
import type { FindingCode, Verdict } from "../../proof/verdict.ts";
import type { StreamState } from "../commit/stream-state.ts";

/** What is held against the checkpoints. */
export type Stated = Pick<StreamState, "base" | "end" | "isClosed" | "fork">;

/** What the checkpoints of a stream say, as far as they hold. */
export interface SignedClaims {
  readonly from: ForeignHead | null;
  /** One of them is `final`. */
  readonly isFinal: boolean;
  /** How much of the stream's own file they cover. */
  readonly bytes: number;
}

export interface Contradiction {
  readonly code: FindingCode;
  readonly verdict: Verdict;
  readonly message: string;
}

/** Why a fork is not what its genesis says; null when it is. The source itself is not looked at. */
export function forkFault(
  { base, fork }: Pick<Stated, "base" | "fork">,
  from: ForeignHead | null,
): string | null {
  if (from === null) {
    if (base === 0) return null;
    return `meta.jsonl says that it has ${base} bytes from another stream, and its genesis names none`;
  }
  if (fork === null) return "its genesis says that it is a fork, and meta.jsonl that it is none";
  if (base === from.at) return null;
  return `meta.jsonl says that it has ${base} bytes from its source, and its genesis ${from.at}`;
}

/** What `meta.jsonl` says of a stream otherwise than its checkpoints and its file do. */
export function contradictions(
  stated: Stated,
  signed: SignedClaims | null,
  fileBytes: number,
): Contradiction[] {
  const found: Contradiction[] = [];
  const own = stated.end - stated.base;
  if (fileBytes < own) {
    const message = `its file has ${fileBytes} bytes, and meta.jsonl says ${own}`;
    found.push({ code: "END_MISMATCH", verdict: "rollback", message });
  }
  if (signed === null) return found;
  if (own < signed.bytes) {
    const message = `meta.jsonl ends it at byte ${own} of its file, and ${signed.bytes} are signed`;
    found.push({ code: "END_MISMATCH", verdict: "rollback", message });
  }
  const fault = forkFault(stated, signed.from);
  if (fault !== null) found.push({ code: "FORK_MISMATCH", verdict: "tampered", message: fault });
  if (signed.isFinal && !stated.isClosed) {
    const message = "it was closed, as its final checkpoint says, and meta.jsonl says it is open";
    found.push({ code: "CLOSURE_MISMATCH", verdict: "tampered", message });
  } else if (stated.isClosed && !signed.isFinal) {
    const message = "meta.jsonl says that it is closed, and no checkpoint does";
    found.push({ code: "CLOSURE_UNSIGNED", verdict: "incomplete", message });
  }
  return found;
}
