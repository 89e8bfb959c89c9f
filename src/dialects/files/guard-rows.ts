/** Guard rows: the lines of a generation of kind `rows` (docs/formats/guard.md). */

import type { Dialect } from "../dialect.ts";

const LF = 0x0a;

/** What identifies a line when its message is written again: the dialect's key, else its text. */
export function rowKey(line: string, { program }: Pick<Dialect, "program">): string {
  try {
    const native: unknown = JSON.parse(line);
    if (typeof native !== "object" || native === null) return line;
    const key = program?.lineKey?.(native as Readonly<Record<string, unknown>>) ?? null;
    return key === null ? line : `${KEYED}${key}`;
  } catch {
    return line;
  }
}

/** Begins no line of JSON. */
const KEYED = "key:";

/** A line without a key, where others have one, is no message. */
export function isMessageKey(key: string, { program }: Pick<Dialect, "program">): boolean {
  return program?.lineKey === undefined || key.startsWith(KEYED);
}

/** Of lines with the same key, the last at the place of the first. */
export function latestRows(bytes: Buffer, dialect: Pick<Dialect, "program">): Buffer {
  const lines = new Map<string, string>();
  for (const line of wholeLines(bytes)) lines.set(rowKey(line, dialect), line);
  return Buffer.from([...lines.values()].map((line) => `${line}\n`).join(""));
}

/** The lines that end in LF. */
export function wholeLines(bytes: Buffer): string[] {
  const end = bytes.lastIndexOf(LF);
  return end === -1 ? [] : bytes.subarray(0, end).toString("utf8").split("\n");
}
