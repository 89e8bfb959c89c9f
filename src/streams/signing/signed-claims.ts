/**
 * Signed claims: compares the checkpoints of a stream with `meta.jsonl`.
 *
 * `meta.jsonl` is not signed, and decides what a server serves: how much of a stream's file counts,
 * what a fork begins with, whether a stream is closed. Pure; the caller decides which signatures
 * count.
 */

import type { SignedHead } from "../../trust/proof/checkpoint.ts";
import { type Finding, findingOf } from "../../trust/proof/verdict.ts";
import type { StreamState } from "../commit/stream-state.ts";

/** What is compared with the checkpoints. */
export type StreamClaims = Pick<StreamState, "base" | "end" | "isClosed" | "fork">;

/** What the valid checkpoints of a stream say. */
export interface SignedClaims {
  readonly from: SignedHead | null;
  /** One of them is `final`. */
  readonly isFinal: boolean;
  /** How much of the stream's own file they cover. */
  readonly bytes: number;
}

/** Why a fork differs from its genesis; null when it does not. The source is not checked. */
export function forkFault(
  { base, fork }: Pick<StreamClaims, "base" | "fork">,
  from: SignedHead | null,
): string | null {
  if (from === null) {
    if (base === 0) return null;
    return `meta.jsonl says that it has ${base} bytes from another stream, but its genesis names none`;
  }
  if (fork === null) return "its genesis says that it is a fork, but meta.jsonl does not";
  if (base === from.at) return null;
  return `meta.jsonl says that it has ${base} bytes from its source, but its genesis says ${from.at}`;
}

/** Where `meta.jsonl` contradicts the checkpoints and the file of a stream. */
export function contradictions(
  stated: StreamClaims,
  signed: SignedClaims | null,
  fileBytes: number,
): Finding[] {
  const findings: Finding[] = [];
  const ownLength = stated.end - stated.base;
  if (fileBytes < ownLength) {
    const message = `its file has ${fileBytes} bytes, but meta.jsonl says ${ownLength}`;
    findings.push(findingOf("END_MISMATCH", "rollback", message));
  }
  if (signed === null) return findings;
  if (ownLength < signed.bytes) {
    const message = `meta.jsonl ends it at byte ${ownLength} of its file, but ${signed.bytes} are signed`;
    findings.push(findingOf("END_MISMATCH", "rollback", message));
  }
  const fault = forkFault(stated, signed.from);
  if (fault !== null) findings.push(findingOf("FORK_MISMATCH", "tampered", fault));
  if (signed.isFinal && !stated.isClosed) {
    const message = "its final checkpoint says that it is closed, but meta.jsonl says it is open";
    findings.push(findingOf("CLOSURE_MISMATCH", "tampered", message));
  } else if (stated.isClosed && !signed.isFinal) {
    const message = "meta.jsonl says that it is closed, but no checkpoint does";
    findings.push(findingOf("CLOSURE_UNSIGNED", "incomplete", message));
  }
  return findings;
}
