/** Rows file: rows of a table as a file that can only be read, for code that verifies files. */

import type { OpenFile } from "../../base/files.ts";

export class RowsFile implements OpenFile {
  readonly #size: number;
  readonly #fetch: (at: number) => Promise<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);
  #pieceAt = 0;

  /** `fetch`: some bytes from `at` on, at least one. */
  constructor(size: number, fetch: (at: number) => Promise<Uint8Array>) {
    this.#size = size;
    this.#fetch = fetch;
  }

  async read(into: Uint8Array, at: number): Promise<number> {
    let done = 0;
    const wanted = Math.min(into.length, this.#size - at);
    while (done < wanted) {
      const skipped = at + done - this.#pieceAt;
      if (skipped < 0 || skipped >= this.#piece.length) {
        this.#piece = await this.#fetch(at + done);
        this.#pieceAt = at + done;
        if (this.#piece.length === 0) break;
        continue;
      }
      const some = this.#piece.subarray(skipped, skipped + wanted - done);
      into.set(some, done);
      done += some.length;
    }
    return done;
  }

  size(): number {
    return this.#size;
  }

  endsAt(size: number): boolean {
    return size === this.#size;
  }

  isLinked(): boolean {
    return true;
  }

  close(): void {}

  identity = onlyRead;
  write = onlyRead;
  landing = onlyRead;
  writeAt = onlyRead;
  sync = onlyRead;
  truncate = onlyRead;
  narrow = onlyRead;
  tryLock = onlyRead;
  unlock = onlyRead;
}

function onlyRead(): never {
  throw new TypeError("rows of a database can only be read here");
}
