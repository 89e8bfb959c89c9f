/** Session write: lines that will be written to a session's log together. */

import { LOG_LIMITS } from "../base/limits.ts";
import type { ByteOffset } from "../base/offset.ts";
import type { SpillFile } from "../dialects/dialect.ts";
import type { LogSigner } from "../signing/writing/log-signer.ts";
import type { KnownDraft } from "./known-lines.ts";
import type { PreparedLine } from "./prepared-line.ts";

/** Reserved in a write for links that make lines longer, and for checkpoints. */
const RESERVED_BYTES = 64 * 1024;
/** Limit for the lines of one write. A single line may be longer. */
export const WRITE_BYTES_MAX = LOG_LIMITS.batchBytesMax - RESERVED_BYTES;

const LF = Buffer.of(0x0a);

/** The entries of one append call. */
export interface Entries {
  readonly lines: readonly PreparedLine[];
  readonly lineBytes: number;
  readonly spills: readonly SpillFile[];
  /** Receives the offset after each line. */
  readonly ends: ByteOffset[];
}

/** Lines to write; state changes only once they are in the log. */
export interface Write {
  readonly known: KnownDraft;
  readonly chunks: Uint8Array[];
  length: number;
  readonly added: PreparedLine[];
  readonly draft: LogSigner | null;
  readonly sidecar: Uint8Array[];
}

/** Adds an entry's line, without its LF. */
export function addLine(write: Write, line: Uint8Array, prepared: PreparedLine): void {
  const chunk = Buffer.concat([line, LF]);
  addChunk(write, chunk);
  write.draft?.addLines(chunk);
  write.added.push(prepared);
}

export function addChunk(write: Write, chunk: Uint8Array): void {
  write.chunks.push(chunk);
  write.length += chunk.length;
}

export function linesOf({ chunks, length }: Write): Uint8Array {
  const [only] = chunks;
  return only?.length === length ? only : Buffer.concat(chunks, length);
}
