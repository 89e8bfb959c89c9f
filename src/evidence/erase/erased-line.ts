/**
 * Erased line: a line of a session without what was found in it.
 *
 * First only the found text is replaced, then the strings around it, then the line as a whole:
 * whichever leaves a line that the dialect reads as before, and in which nothing is found.
 */

import { isDeepStrictEqual } from "node:util";
import { VerbatimError } from "../../core/base/errors.ts";
import { encodeLine } from "../../core/log/json.ts";
import type { Entry, Native, NewEntry, Part } from "../../core/model/entry.ts";
import { type Dialect, writingOf } from "../../dialects/dialect.ts";
import type { WriterFacts } from "../../dialects/facets/writing.ts";
import { isObject, parseLine } from "../../trust/proof/claims.ts";
import { type Finder, type Hit, withheldBy } from "../redact/hits.ts";

/** Takes the place of what was erased. No JSON, at any depth, has to escape it. */
export const ERASED = "[erased]";
const ERASED_BYTES = Buffer.from(ERASED);

export interface ErasingLine {
  readonly dialect: Dialect;
  readonly finder: Finder;
  readonly facts: WriterFacts;
  readonly path: string;
}

export interface ErasedLine {
  readonly line: Uint8Array;
  readonly what: "text" | "string" | "line";
}

/** The line, passed without its LF, in which these were found; refuses with CANNOT_ERASE. */
export function eraseIn(
  line: Uint8Array,
  hits: readonly Hit[],
  number: number,
  erasing: ErasingLine,
): ErasedLine {
  const { dialect, finder } = erasing;
  const before = parseLine(line);
  // A value in a spill file takes its whole line: the line has only the file's hash.
  const isSpilled = (dialect.writing?.spilling?.referencesOf(before, "").length ?? 0) > 0;
  const isSame = (bytes: Uint8Array) => isReadAlike(dialect, before, parseLine(bytes));
  const within = isSpilled ? null : eraseWithin(line, hits, finder, isSame);
  if (within) return within;
  for (const isBare of [false, true]) {
    const placeholder = placeholderFor(before, isBare, erasing);
    const bytes = placeholder && encodeLine(placeholder);
    if (bytes && finder(bytes, 0).length === 0) return { line: bytes, what: "line" };
  }
  const reason = `line ${number} has it where every line of the session has the same`;
  throw cannotErase(erasing.path, reason, "write a disclosed copy, then delete the session");
}

export function cannotErase(path: string, reason: string, next: string): VerbatimError {
  const message = `${path}: nothing is erased in place: ${reason}; ${next}`;
  return new VerbatimError("CANNOT_ERASE", message, { path, reason });
}

/** A text of JSON with what was found replaced in its strings; null if that is not enough. */
export function eraseWithin(
  bytes: Uint8Array,
  hits: readonly Hit[],
  finder: Finder,
  isGood: (bytes: Uint8Array) => boolean,
): ErasedLine | null {
  const withheld = withheldBy(bytes, 1, hits);
  if (withheld.is === "line") return null;
  const strings = withheld.parts.map(({ at, length }) => ({ from: at, to: at + length }));
  for (const [what, ranges] of [
    ["text", hits],
    ["string", strings],
  ] as const) {
    const line = replaced(bytes, ranges);
    if (isGood(line) && finder(line, 0).length === 0) return { line, what };
  }
  return null;
}

function replaced(
  bytes: Uint8Array,
  ranges: readonly { readonly from: number; readonly to: number }[],
): Uint8Array {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { from, to } of [...ranges].sort((one, other) => one.from - other.from)) {
    if (from >= at) pieces.push(bytes.subarray(at, from), ERASED_BYTES);
    at = Math.max(at, to);
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}

/** Whether a changed line has the same place in the session: its kind, role, ids and turn. */
function isReadAlike(dialect: Dialect, before: unknown, after: unknown): boolean {
  if (!isObject(before) || !isObject(after)) return false;
  const facts = (value: Native) => {
    const { entry } = dialect.reading.decode(value);
    const { kind, role, at, parts = [] } = entry ?? {};
    const ids = [
      dialect.writing?.chain?.idOf(value),
      dialect.writing?.once?.idOf(value),
      dialect.reading.sessionOf?.(value),
    ];
    const calls = parts.map((part) => [part.type, "callId" in part ? part.callId : null]);
    return [entry === null, kind, role, at, calls, ids, dialect.turns.turnMark(value, null)];
  };
  return isDeepStrictEqual(facts(before), facts(after));
}

/** A line that says only that something was here. `isBare`: without calls and their ids. */
function placeholderFor(
  before: unknown,
  isBare: boolean,
  { dialect, facts }: ErasingLine,
): Native | null {
  const native = isObject(before) ? before : {};
  const { entry } = dialect.reading.decode(native);
  const id =
    dialect.writing?.chain?.idOf(native) ?? dialect.writing?.once?.idOf(native) ?? facts.newId();
  const ms = Date.parse(entry?.at ?? "");
  const own = { ...facts, nowMs: Number.isNaN(ms) ? facts.nowMs : ms, newId: () => id };
  const lines = entryLines(dialect, said(entry, isBare), own);
  const [line] = lines;
  if (!line || lines.length > 1) return null;
  // The parent stays: new-log.ts replaces it if it was a checkpoint.
  const { chain } = dialect.writing ?? {};
  if (!chain) return line;
  const parent = native[chain.parentField] ?? null;
  return parent === null || typeof parent === "string" ? chain.link(line, parent) : line;
}

/** An entry as lines of the dialect; none if it has no such lines. */
export function entryLines(
  dialect: Dialect,
  entry: NewEntry,
  facts: WriterFacts,
): readonly Native[] {
  try {
    const { express, complete } = writingOf(dialect);
    return express(entry, facts).map((native) => complete(native, facts));
  } catch (cause) {
    if (cause instanceof VerbatimError && cause.code === "INVALID_ENTRY") return [];
    throw cause;
  }
}

function said(entry: Entry | null, isBare: boolean): NewEntry {
  const kind = entry?.kind ?? "other";
  if (kind === "start" || kind === "turn_start" || kind === "turn_end") return { kind };
  if (kind === "end") {
    const { outcome = null } = entry ?? {};
    const error = outcome === "error" ? { code: "erased", detail: ERASED } : null;
    return { kind, outcome, error };
  }
  const role = kind === "message" ? (entry?.role ?? "system") : "system";
  const kept = (isBare ? [] : (entry?.parts ?? [])).flatMap((part): Part[] => {
    if (part.type === "tool_call") return [{ ...part, input: {} }];
    if (part.type !== "tool_result") return [];
    return [{ ...part, output: ERASED, error: part.error === null ? null : ERASED }];
  });
  const parts: readonly Part[] = kept.length > 0 ? kept : [{ type: "text", text: ERASED }];
  return { kind: "message", role, parts };
}
