/** Copy entries: the lines of a judged copy as a conversation, with what is withheld in each. */

import { parseExactly } from "../../../src/core/base/exact-numbers.ts";
import { type CopyReading, copyItem, copyReading } from "../../../src/dialects/copy-lines.ts";
import type { CopyEntry } from "./conversation.tsx";
import { piecesOf } from "./copy-text.ts";
import type { CopyRow } from "./judge-copy.ts";

/** Where a string is withheld, its text is this; the note below the row is what tells of it. */
const WITHHELD = "[withheld]";

/**
 * Null if the copy is not of a conversation, such as a raw stream: then its lines are shown.
 * Checkpoints are left out: they are with the lines, behind the verdict.
 */
export async function copyEntries(
  header: { readonly dialect: string; readonly content: "lines" | "bytes" } | null,
  rows: readonly CopyRow[],
): Promise<CopyEntry[] | null> {
  const reading = header?.content === "lines" ? await copyReading(header.dialect) : null;
  if (reading === null) return null;
  return rows
    .filter(({ is }) => is === "line" || is === "withheld")
    .map((row, n) => entryOf(reading, row, n));
}

function entryOf(reading: CopyReading, row: CopyRow, start: number): CopyEntry {
  if (row.bytes === null) {
    const { because } = row;
    return { item: null, withheld: [{ what: "line", length: null, because }] };
  }
  const withheld = row.gaps.map(({ length, because }) => {
    return { what: "string" as const, length, because };
  });
  const place = { start, end: start + 1, bytes: 0 };
  const item = decoded(reading, row) ?? { ...NO_ENTRY, fault: "not an entry of a conversation" };
  return { item: { ...place, ...item }, withheld, note: row.note };
}

const NO_ENTRY = {
  kind: "other",
  role: null,
  at: null,
  aside: null,
  entry: null,
  tools: [],
  results: [],
} as const;

/** A stranger's line: one that the decoder cannot take is none. */
function decoded(reading: CopyReading, { bytes, gaps }: CopyRow) {
  const pieces = piecesOf(bytes ?? new Uint8Array(0), gaps);
  try {
    const text = pieces.map((piece) => ("text" in piece ? piece.text : WITHHELD)).join("");
    return copyItem(reading, parseExactly(text));
  } catch {
    return null;
  }
}
