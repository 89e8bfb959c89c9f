/** Given lines: what a caller appends, as lines of the dialect, and which of them share a write. */

import type { Dialect, Native, WriterFacts } from "../dialects/dialect.ts";
import type { NewEntry } from "../model/entry.ts";
import { checkedEntry, isEntry } from "../model/entry-check.ts";
import { invalidEntry } from "../model/plain-json.ts";
import { WRITE_BYTES_MAX } from "./session-write.ts";

export const LF = Buffer.of(0x0a);

/** What is neither a line nor an entry is refused as an entry. */
export function isLine(given: unknown): given is Native {
  return typeof given === "object" && given !== null && !isEntry(given);
}

interface Writing {
  readonly dialect: Dialect;
  readonly facts: WriterFacts;
  readonly hasFiles: boolean;
}

/** The lines of an entry; none if it only says that the session's files are due. */
export function expressed(given: unknown, writing: Writing): readonly Native[] {
  const entry = checkedEntry(given);
  const natives = writing.dialect.express(entry, writing.facts);
  if (natives.length === 0) refuseUnwritten(entry, writing);
  return natives;
}

function refuseUnwritten({ kind, ...rest }: NewEntry, { dialect, hasFiles }: Writing): void {
  if (kind !== "end" || !hasFiles)
    throw invalidEntry("kind", `the dialect ${dialect.name} has no ${kind}`);
  const isSaid = (value: unknown) => value !== null && !(Array.isArray(value) && !value.length);
  const said = Object.entries(rest).find(([, value]) => isSaid(value));
  if (said) throw invalidEntry(said[0], `the dialect ${dialect.name} has no line for it`);
}

export interface Encoded {
  readonly native: Native;
  readonly line: Uint8Array;
}

/** Groups lines into writes: as many as fit, at least one. */
export function* inWrites(lines: readonly Encoded[]): Generator<readonly Encoded[]> {
  let group: Encoded[] = [];
  let bytes = 0;
  for (const encoded of lines) {
    const length = encoded.line.length + 1;
    if (group.length > 0 && bytes + length > WRITE_BYTES_MAX) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(encoded);
    bytes += length;
  }
  if (group.length > 0) yield group;
}
