/**
 * Request log: one line of JSON for each request, on stderr or appended to a file.
 *
 * Requests never wait for it. Lines that it cannot take in time are dropped and counted, and the
 * count is written as its own line as soon as there is room: a slow disk must not delay appends.
 */

import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import type { RequestRecord } from "../../server/http/request-track.ts";
import { refuseLogPlace } from "../command/output-file.ts";

/** Maximum bytes waiting to be written. */
export const LOG_BUFFER_BYTES_MAX = 1024 * 1024;

export class RequestLog {
  readonly #to: Writable;
  readonly #isFile: boolean;
  #dropped = 0;

  /**
   * `-` is stderr; a file is created with mode 0600, only appended to, and must not be a log of
   * ours.
   */
  static async open(path: string, onFailure: (cause: unknown) => void): Promise<RequestLog> {
    if (path === "-") return new RequestLog(process.stderr, false);
    await refuseLogPlace(path);
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

  /** Resolves when everything taken is written. */
  async close(): Promise<void> {
    if (!this.#isFile || this.#to.destroyed) return;
    await new Promise<void>((resolve) => {
      this.#to.once("close", resolve);
      this.#to.end();
    });
  }
}
