/**
 * Checked files: whether a stream's file ends where its stream does, asked once before anything is
 * appended to it.
 *
 * A file that somebody cut or wrote to is this one stream's trouble: found here, the append is
 * refused (STREAM_DAMAGED). Found after the journal took it, it would end the whole store's
 * writing.
 */

import { VerbatimError } from "../../base/errors.ts";
import type { StreamState } from "../commit/stream-state.ts";
import type { HandlePool } from "./handle-pool.ts";

/** Past this many, all are asked about again. */
const FILES_MAX = 64 * 1024;

export class CheckedFiles {
  readonly #pool: HandlePool;
  readonly #sound = new Set<string>();

  constructor(pool: HandlePool) {
    this.#pool = pool;
  }

  /** Refuses unless the file holds as many bytes as the stream, as published, has of its own. */
  check({ path, file, base, end }: StreamState): void {
    if (this.#sound.has(file)) return;
    this.#pool.useNow(file, (log) => {
      if (log.size === end - base) return;
      throw new VerbatimError(
        "STREAM_DAMAGED",
        `${log.path} has ${log.size} bytes, and ${end - base} were appended to ${path}; nothing ` +
          "is appended to it until it is put back from a copy",
        { stream: path, offset: Math.min(log.size, end - base), path: log.path },
      );
    });
    if (this.#sound.size >= FILES_MAX) this.#sound.clear();
    this.#sound.add(file);
  }
}
