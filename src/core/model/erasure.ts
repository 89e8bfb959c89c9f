/**
 * Erasure: the entry in which a session states that text was erased from it
 * (docs/formats/erase.md). Pure. Whether a signature covers the entry is judged elsewhere.
 */

import { oneLine } from "../base/one-line.ts";
import type { Entry } from "./entry.ts";

/** The type of the block that reports an erasure inside a session. */
export const ERASE_REPORT = "erase_report";

/** The longest reason that is shown, in characters. */
const REASON_CHARS_MAX = 200;

export interface Erasure {
  /** When, by the clock of the person who erased; null if the layout records no time. */
  readonly at: string | null;
  /** The reason as one printable line. */
  readonly reason: string;
  /** How many lines lost text. */
  readonly lines: number;
  /** The log that this one replaced; null if the report does not name it. */
  readonly log: string | null;
}

/** The erasure that an entry reports; null if it is another entry. */
export function erasureIn({
  role,
  parts,
  at,
}: Pick<Entry, "role" | "parts" | "at">): Erasure | null {
  const [part, ...others] = parts;
  if (role !== "system" || part?.type !== "other" || others.length > 0) return null;
  return erasureOf(part.native, at);
}

/** The same for a block by itself, such as a renderer has. */
export function erasureOf(native: unknown, at: string | null): Erasure | null {
  const { type, reason, from, erased } = fieldsOf(native);
  if (type !== ERASE_REPORT || typeof reason !== "string") return null;
  const { log } = fieldsOf(from);
  const counts = Object.values(fieldsOf(erased)).filter((each) => typeof each === "number");
  return {
    at,
    reason: oneLine(reason, REASON_CHARS_MAX),
    lines: counts.reduce((sum, each) => sum + each, 0),
    log: typeof log === "string" ? log : null,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
