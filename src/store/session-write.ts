/** Session write: lines that are about to be written to a session's log together. */

import { LOG_LIMITS } from "../base/limits.ts";
import type { SpillFile } from "../dialects/dialect.ts";
import type { LogSigner } from "../signing/writing/log-signer.ts";
import type { KnownDraft } from "./known-lines.ts";
import type { PreparedLine } from "./prepared-line.ts";

/** Room in a write for lines that grow when they are linked, and for checkpoints. */
const RESERVED_BYTES = 64 * 1024;
/** What lines of one write may have together. One alone may have more. */
export const WRITE_BYTES_MAX = LOG_LIMITS.batchBytesMax - RESERVED_BYTES;

const LF = Buffer.of(0x0a);

/** What one call appends. */
export interface Entries {
  readonly lines: readonly PreparedLine[];
  readonly lineBytes: number;
  readonly spills: readonly SpillFile[];
}

/** Lines that are about to be written; they count once they are in the log. */
export interface Write {
  readonly known: KnownDraft;
  readonly chunks: Uint8Array[];
  length: number;
  readonly added: PreparedLine[];
  readonly draft: LogSigner | null;
  readonly sidecar: Uint8Array[];
}

/** Adds an entry's line, given without its LF. */
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
