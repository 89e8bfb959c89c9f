/**
 * New lines: what a caller appends, as lines of the dialect, and which of them share a write.
 *
 * Session facts: what the writer of a session knows when it builds a line.
 */

import { basename } from "node:path";
import { type ByteOffset, toByteOffset } from "../../core/base/offset.ts";
import { encodeLine } from "../../core/log/json.ts";
import type { Native, NewEntry } from "../../core/model/entry.ts";
import { checkedEntry, refuseNamedFiles } from "../../core/model/entry-check.ts";
import { invalidEntry } from "../../core/model/plain-json.ts";
import { type Dialect, writingOf } from "../../dialects/dialect.ts";
import type { SpillFile, WriterFacts } from "../../dialects/facets/writing.ts";
import { SPILL_TOOLS } from "../../dialects/files/spill-files.ts";
import { WRITE_BYTES_MAX } from "./session-write.ts";

const LF = Buffer.of(0x0a);

interface WritingContext {
  readonly dialect: Dialect;
  readonly facts: WriterFacts;
  readonly hasFiles: boolean;
}

/** The lines of an entry; none if it only says that the session's files are due. */
export function expressEntry(given: unknown, writing: WritingContext): readonly Native[] {
  const entry = checkedEntry(given);
  const { express, hasMetadata } = writingOf(writing.dialect);
  if (entry.metadata && !hasMetadata) {
    const reason = `lines of the dialect ${writing.dialect.name} have no room for it; leave it out`;
    throw invalidEntry("metadata", reason);
  }
  refuseNamedFiles(entry);
  const natives = express(entry, writing.facts);
  if (natives.length === 0) refuseUnwritten(entry, writing);
  return natives;
}

function refuseUnwritten({ kind, ...rest }: NewEntry, { dialect, hasFiles }: WritingContext): void {
  if (kind !== "end" || !hasFiles)
    throw invalidEntry("kind", `the dialect ${dialect.name} has no ${kind}`);
  const isSaid = (value: unknown) => value !== null && !(Array.isArray(value) && !value.length);
  const detail = Object.entries(rest).find(([, value]) => isSaid(value));
  if (detail) throw invalidEntry(detail[0], `the dialect ${dialect.name} has no line for it`);
}

export interface NewLine {
  readonly native: Native;
  readonly line: Uint8Array;
  /** Written before the line. */
  readonly spills: readonly SpillFile[];
}

/** As long as those of our own lines. */
const SOME_ID = "0".repeat(36);

/**
 * A completed line; its longest strings are in files if it would be too long. Lines that name the
 * one before them get their link later; until then they have one of the same length.
 */
export function newLine(native: Native, { writing }: Dialect, path: string): NewLine {
  const { chain, spilling } = writing ?? {};
  const encoded = (each: Native) => encodeLine(chain ? chain.link(each, SOME_ID) : each);
  const line = encoded(native);
  if (!spilling || line.length <= spilling.lineBytesMax) return { native, line, spills: [] };
  const { native: shorter, files: spills } = spilling.split(native, basename(path), SPILL_TOOLS);
  return { native, line: encoded(shorter), spills };
}

/** Groups lines into writes: as many as fit, at least one. */
export function* inWrites(lines: readonly NewLine[]): Generator<readonly NewLine[]> {
  let group: NewLine[] = [];
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

export function bytesOf(group: readonly NewLine[]): Uint8Array {
  return Buffer.concat(group.flatMap(({ line }) => [line, LF]));
}

/** The offset after each line of a group that ends at `end`. */
export function endsOf(group: readonly NewLine[], end: ByteOffset): ByteOffset[] {
  const ends: ByteOffset[] = [];
  let at = end;
  for (const { line } of group.toReversed()) {
    ends.push(at);
    at = toByteOffset(at - line.length - 1);
  }
  return ends.reverse();
}

export interface SessionWriterFacts extends Omit<WriterFacts, "nowMs"> {
  readonly nowMs: () => number;
}

/** A class, so that all sessions share one getter; a getter per session would be slow. */
export class SessionFacts implements WriterFacts {
  readonly id: string;
  readonly agent: string | null;
  readonly newId: () => string;
  readonly cwd: string;
  readonly version: string;
  readonly model: string | null;
  readonly #nowMs: () => number;

  constructor({ id, agent, newId, nowMs, cwd, version, model }: SessionWriterFacts) {
    this.id = id;
    this.agent = agent;
    this.newId = newId;
    this.cwd = cwd;
    this.version = version;
    this.model = model;
    this.#nowMs = nowMs;
  }

  get nowMs(): number {
    return this.#nowMs();
  }
}
