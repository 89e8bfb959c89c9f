/** The beginning of a file, as `recognise` takes it. */

import type { Beginning } from "../../src/dialects/recognise.ts";

export function beginningOf(bytes: Buffer): Beginning {
  const values: unknown[] = [];
  for (const line of bytes.toString("utf8").split("\n").slice(0, 20)) {
    try {
      values.push(JSON.parse(line));
    } catch {
      // Not a JSON line.
    }
  }
  return { values, head: bytes.subarray(0, 4096).toString("latin1") };
}
