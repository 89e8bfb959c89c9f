/**
 * Expected lines: the parsed values of lines about to be appended, so they are not parsed again.
 *
 * Lines land in the order in which they were announced. A refused line never lands; it is detected
 * because the next landed line differs from it.
 */

import { parseExactly } from "../../core/base/exact-numbers.ts";
import type { Native } from "../../core/model/entry.ts";

const LF = 0x0a;

export class ExpectedLines {
  #expected: { readonly line: Uint8Array; readonly native: Native }[] = [];

  add(line: Uint8Array, native: Native): void {
    this.#expected.push({ line, native });
  }

  /** The parsed values of the first `length` bytes of `lines`, line by line. */
  take(lines: Uint8Array, length: number): Native[] {
    const bytes = Buffer.from(lines.buffer, lines.byteOffset, length);
    const [only] = this.#expected;
    if (this.#expected.length === 1 && only && isLine(bytes, 0, length - 1, only.line)) {
      this.#expected = [];
      return [only.native];
    }
    const natives: Native[] = [];
    let used = 0;
    for (let from = 0; from < length; ) {
      const to = bytes.indexOf(LF, from);
      let at = used;
      for (; at < this.#expected.length; at++) {
        const line = this.#expected[at]?.line;
        if (line && isLine(bytes, from, to, line)) break;
      }
      const expected = this.#expected[at];
      natives.push(expected ? expected.native : parse(bytes.subarray(from, to)));
      if (expected) used = at + 1; // Otherwise not announced: a checkpoint.
      from = to + 1;
    }
    this.#expected = used >= this.#expected.length ? [] : this.#expected.slice(used);
    return natives;
  }
}

function isLine(bytes: Buffer, from: number, to: number, line: Uint8Array): boolean {
  return line.length === to - from && bytes.compare(line, 0, line.length, from, to) === 0;
}

function parse(line: Buffer): Native {
  try {
    return parseExactly(line.toString("utf8")) as Native;
  } catch {
    return {}; // Not an event, but still in the log.
  }
}
