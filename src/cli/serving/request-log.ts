/**
 * Request log: one line of JSON for each request, on stderr or at the end of a file.
 *
 * RL1  Nobody waits for it. What it cannot take in time is dropped and counted, and the count told
 *      as a line of its own as soon as there is room: a slow disk must not hold up appends.
 */

import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import type { RequestRecord } from "../../server/http/request-track.ts";
import { refuseLogPlace } from "../output-file.ts";

/** How much waits to be written. */
export const LOG_BUFFER_BYTES_MAX = 1024 * 1024;

export class RequestLog {
  readonly #to: Writable;
  readonly #isFile: boolean;
  #dropped = 0;

  /** `-` is stderr; a file is made 0600, only ever appended to, and no log of another kind. */
  static open(path: string, onFailure: (cause: unknown) => void): RequestLog {
    if (path === "-") return new RequestLog(process.stderr, false);
    refuseLogPlace(path);
    const file = createWriteStream(path, { flags: "a", mode: 0o600 });
    file.on("error", onFailure);
    return new RequestLog(file, true);
  }

  constructor(to: Writable, isFile: boolean) {
    this.#to = to;
    this.#isFile = isFile;
  }

  write(record: RequestRecord): void {
    if (this.#to.destroyed) return;
    if (this.#to.writableLength > LOG_BUFFER_BYTES_MAX) {
      this.#dropped++;
      return;
    }
    const lines = this.#dropped === 0 ? "" : `${JSON.stringify({ dropped: this.#dropped })}\n`;
    this.#dropped = 0;
    this.#to.write(`${lines}${JSON.stringify(record)}\n`);
  }

  /** Resolves when what was taken is written. */
  async close(): Promise<void> {
    if (!this.#isFile || this.#to.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#to.once("close", resolve);
      this.#to.end();
    });
  }
}
