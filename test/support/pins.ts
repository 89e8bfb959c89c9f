/** Pins for tests: heads of made-up sessions, and lines as `heads.jsonl` holds them. */

import type { Pin, PinnedHead } from "../../src/trust/proof/pin.ts";

const KID = "c".repeat(64);

/** Checkpoint `seq` of a session; `log` and `line` are numbers that distinguish logs and lines. */
export function headOf(
  id: string,
  seq: number,
  { log = 1, line = seq, place = "rye:/project" } = {},
): PinnedHead {
  return {
    place,
    id,
    log: hex(log, 32),
    seq,
    byteOffset: 1000 * seq,
    line: hex(line, 64),
    kind: seq === 0 ? "genesis" : "turn",
    kid: KID,
    ts: "2026-02-09T04:03:50.365Z",
  };
}

export function pinOf(id: string, seq: number, options = {}, why: Pin["why"] = "signed"): Pin {
  return { ...headOf(id, seq, options), why };
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, "0");
}
