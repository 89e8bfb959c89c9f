/** Stream files: a stream's own file and its sidecar, while the stream is being signed. */

import { VerbatimError } from "../../core/base/errors.ts";
import { openIfThere } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { LF, readStretch } from "../../core/log/bytes.ts";
import { recover } from "../../core/log/repair.ts";
import { asciiJson } from "../../trust/proof/checkpoint.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import { type SignableLog, sidecarOf } from "../../trust/session-log.ts";
import type { SignedFiles } from "../../trust/signer/signed-log.ts";
import type { StreamState } from "../commit/stream-state.ts";
import { openOrEmpty } from "../journal/empty-file.ts";

export interface StreamFilesParts {
  readonly logs: Directory;
  /** The stream's file in `logs`. */
  readonly file: string;
  /** Whether the journal still has records about a file. */
  isInJournal(file: string): boolean;
  /** Makes checkpoints durable through the journal; false when the stream was deleted. */
  commit(file: string, pos: number, lines: Uint8Array): Promise<boolean>;
}

export class StreamFiles implements SignedFiles {
  readonly #parts: StreamFilesParts;
  #sidecarEnd = 0;

  constructor(parts: StreamFilesParts) {
    this.#parts = parts;
  }

  async openLog(): Promise<OpenFile> {
    return openOrEmpty(this.#parts.logs, this.#parts.file);
  }

  /** A torn line, which no crash of ours leaves, is moved aside. */
  async openSidecar(): Promise<OpenFile | null> {
    const { logs, file, isInJournal } = this.#parts;
    const name = sidecarOf(file);
    const place = { directory: logs, name, path: `${logs.path}/${name}` };
    let sidecar = openIfThere(logs, name);
    const size = sidecar?.size() ?? 0;
    if (sidecar && size > 0 && (await readStretch(sidecar, size - 1, size))[0] !== LF) {
      sidecar.close();
      // What the journal says about positions in it must hold when it is replayed.
      if (isInJournal(name)) throw mismatch(place.path, size, "its last checkpoint is cut short");
      const torn = logs.open(name, "append");
      try {
        await recover(place, torn, null);
      } finally {
        torn.close();
      }
      sidecar = logs.open(name, "read");
    }
    this.#sidecarEnd = sidecar?.size() ?? 0;
    return sidecar;
  }

  async appendSidecar(lines: Uint8Array): Promise<boolean> {
    const { file, commit } = this.#parts;
    if (!(await commit(sidecarOf(file), this.#sidecarEnd, lines))) return false;
    this.#sidecarEnd += lines.length;
    return true;
  }
}

/** The stream is not signed any further, and why. */
export function mismatch(path: string, offset: number, reason: string): VerbatimError {
  return new VerbatimError(
    "CHECKPOINT_MISMATCH",
    `${path} is not signed: ${reason}; run \`verbatim verify\` for details`,
    { path, offset, verdict: "tampered" },
  );
}

export interface SignedStreamLog extends SignableLog {
  readonly dialect: typeof STREAMS;
  /** The stream's path. */
  readonly id: string;
}

/**
 * A stream's file, as signing and verifying name it.
 *
 * `root`: the path of the data directory.
 */
export function signedLogOf(
  root: string,
  { path, file, isJson }: Pick<StreamState, "path" | "file" | "isJson">,
): SignedStreamLog {
  const content = isJson ? "messages" : "bytes";
  return { dialect: STREAMS, content, root, logId: `logs/${file}`, id: path };
}

/** The first fields of a checkpoint line in a stream's sidecar. */
export function checkpointOpening(nowMs: number, path: string): string {
  const fields = { timestamp: new Date(nowMs).toISOString(), thread_id: `streams:${path}` };
  return `${asciiJson(fields).slice(0, -1)},`;
}
