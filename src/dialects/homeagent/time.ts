/** Time: what a record's `ts` means. Page: docs/formats/homeagent.md, "Reading". */

/**
 * A smaller `ts` counts seconds. The document says `number` without a unit; its own code writes
 * `Date.now()`. As milliseconds 1e11 is March 1973, as seconds it is the year 5138.
 */
const MILLISECONDS_MIN = 1e11;

/** The years that ISO 8601 writes with four digits. A `ts` outside them is not a time. */
const YEAR_0_MS = -62_167_219_200_000;
const YEAR_10000_MS = 253_402_300_800_000;

export function timeOf(ts: number): string | null {
  const ms = ts < MILLISECONDS_MIN ? ts * 1000 : ts;
  return ms >= YEAR_0_MS && ms < YEAR_10000_MS ? new Date(ms).toISOString() : null;
}
