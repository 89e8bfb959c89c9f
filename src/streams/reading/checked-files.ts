/**
 * Checked files: checks once, before the first append, that a stream's file ends where its stream
 * does.
 *
 * A file that was cut or written to affects only its stream: found here, the append is refused
 * (STREAM_DAMAGED). Found after the journal took it, it would stop all writes of the store.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { StreamState } from "../commit/stream-state.ts";
import type { HandlePool } from "./handle-pool.ts";

/** Above this many, all are checked again. */
const FILES_MAX = 64 * 1024;

export class CheckedFiles {
  readonly #pool: HandlePool;
  readonly #sound = new Set<string>();

  constructor(pool: HandlePool) {
    this.#pool = pool;
  }

  /** Throws unless the file has as many bytes as the published stream has of its own. */
  check({ path, file, base, end }: StreamState): void {
    if (this.#sound.has(file)) return;
    this.#pool.useNow(file, (log) => {
      if (log.size === end - base) return;
      throw new VerbatimError(
        "STREAM_DAMAGED",
        `${log.path} has ${log.size} bytes, but ${end - base} were appended to ${path}; nothing ` +
          "is appended to it until it is restored from a backup",
        { stream: path, offset: Math.min(log.size, end - base), path: log.path },
      );
    });
    if (this.#sound.size >= FILES_MAX) this.#sound.clear();
    this.#sound.add(file);
  }
}
