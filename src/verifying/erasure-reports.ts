/**
 * Erasure reports: finds the lines of a log in which its signer states that text was erased, while
 * the log is judged. Only reports inside the signed part count.
 */

import { dialectNamed } from "../dialects/all.ts";
import { decodeLine } from "../log/json.ts";
import { ERASE_REPORT, type Erasure, erasureIn } from "../model/erasure.ts";
import { LF } from "../proof/bytes.ts";
import type { Found } from "../proof/checkpoint.ts";
import { WholeLines } from "../proof/whole-lines.ts";
import type { StatedErasures } from "../signing/judging/verify-options.ts";

/** Not escaped: a report that is quoted in a text is not one. */
const NEEDLE = Buffer.from(`"${ERASE_REPORT}"`);
/** Much longer than any report. */
const REPORT_BYTES_MAX = 1024 * 1024;

export class ErasureReports implements StatedErasures {
  readonly #dialect: string;
  readonly #reports: { readonly start: number; readonly erasure: Erasure }[] = [];
  readonly #whole: WholeLines;
  #at = 0;

  constructor(dialect: string) {
    this.#dialect = dialect;
    const skipped = (bytes: number) => {
      this.#at += bytes;
    };
    const long = { bytesMax: REPORT_BYTES_MAX, skipped };
    this.#whole = new WholeLines((lines) => this.#look(lines), long);
  }

  onBytes(bytes: Uint8Array): void {
    this.#whole.feed(bytes);
  }

  within(signedEnd: number, found: readonly Found[]): readonly Erasure[] {
    const isSigned = (at: number) =>
      at < signedEnd && !found.some(([from, to]) => from <= at && at < to);
    return this.#reports.filter(({ start }) => isSigned(start)).map(({ erasure }) => erasure);
  }

  #look(lines: Uint8Array): void {
    const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
    for (let at = bytes.indexOf(NEEDLE); at !== -1; at = bytes.indexOf(NEEDLE, at + 1)) {
      const start = bytes.lastIndexOf(LF, at) + 1;
      const end = bytes.indexOf(LF, at);
      this.#read(bytes.subarray(start, end), this.#at + start);
      at = end;
    }
    this.#at += lines.length;
  }

  #read(line: Buffer, start: number): void {
    const { value, fault } = decodeLine(line, 0, line.length);
    if (fault !== null) return;
    const { entry } = dialectNamed(this.#dialect).decode(value);
    const erasure = entry && erasureIn(entry);
    if (erasure) this.#reports.push({ start, erasure });
  }
}
