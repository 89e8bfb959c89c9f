/**
 * Records: the lines of a disclosed copy, read and written. Format: docs/formats/disclosure.md.
 *
 * One spelling: whatever is read is spelled again and compared, so that a record is what its writer
 * would have written, or refused. Some records are followed by a line of the log as it is.
 *
 * Amounts: how many lines and strings a disclosed copy shows, and how many it withholds, and why.
 */

import { LOG_LIMITS } from "../../../core/base/limits.ts";
import { asAscii, fromBase64url, fromHex, toBase64url, toHex } from "../bytes.ts";
import { asciiJson } from "../checkpoint.ts";
import { isCount, isHash, isObject, isText } from "../claims.ts";
import { BLOCK } from "../leaf.ts";
import { readStated, type StatedGenesis, statedFields } from "./stated-genesis.ts";
import { REASONS_MAX, readStatement, type Statement, spellStatement } from "./statement.ts";

export const VERSION = 1;
/** A longer line of a disclosed copy is refused; a line of the log that needs more is withheld. */
export const RECORD_BYTES_MAX = 4 * LOG_LIMITS.lineBytesMax;
/** Every piece of a raw stretch has this many bytes, except its last. */
export const PIECE_BYTES = 48 * 1024;
/** Longer wording of the redactor is cut. */
export const MASK_CHARS_MAX = 4096;

/** How genesis is disclosed: in the log and opened, as the redactor's statement, or not at all. */
export type GenesisDisclosure = "opened" | "stated" | "absent";

export interface Header {
  readonly dialect: string;
  readonly content: "lines" | "bytes";
  readonly parts: number;
  readonly genesis: GenesisDisclosure;
}

/** Why something is withheld: the number of its reason in the statement, and other wording. */
export interface Why {
  readonly why: number;
  /** The redactor's own words; proves nothing. */
  readonly mask: string | null;
}

/** A withheld string: the place of its contents in the line, and their hash. */
export interface Gap {
  readonly at: number;
  readonly length: number;
  readonly part: string;
  /** Null in genesis, whose four strings are always withheld. */
  readonly because: Why | null;
}

export type DisclosureRecord =
  | { readonly is: "header"; readonly header: Header }
  /** A line follows, without the contents of its gaps. */
  | { readonly is: "line" | "genesis"; readonly salts: Uint8Array; readonly gaps: readonly Gap[] }
  | { readonly is: "leaf"; readonly leaf: Uint8Array; readonly because: Why }
  | { readonly is: "stated"; readonly genesis: StatedGenesis }
  /** A checkpoint's line follows. */
  | { readonly is: "checkpoint"; readonly salts: Uint8Array }
  /** Raw bytes: the first piece of a stretch has its salt. */
  | { readonly is: "bytes"; readonly salt: Uint8Array | null; readonly data: Uint8Array }
  | { readonly is: "statement"; readonly statement: Statement }
  | { readonly is: "newer"; readonly version: number };

const NONE: readonly Gap[] = [];
const WHOLE_LINE = '{"line":"';

/** A line's record, passed without its LF; null when it is not one, or spelled otherwise. */
export function readRecord(line: Uint8Array): DisclosureRecord | null {
  const text = asAscii(line);
  if (text.startsWith(WHOLE_LINE) && text.indexOf('"', WHOLE_LINE.length) === text.length - 2) {
    const salts = saltsOf(text.slice(WHOLE_LINE.length, -2)); // Nearly all records, so at once.
    return salts && text.endsWith('"}') ? { is: "line", salts, gaps: NONE } : null;
  }
  return readSpelled(text, recordOf, spellRecord);
}

/** The record in a text; null when there is none, or it is spelled otherwise. */
export function readSpelled<R extends { readonly is: string }>(
  text: string,
  recordOf: (value: Fields) => R | null,
  spell: (record: R) => string,
): R | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const record = isObject(value) ? recordOf(value) : null;
  return record && (record.is === "newer" || spell(record) === text) ? record : null;
}

/** The one spelling of a record, without LF. */
export function spellRecord(record: DisclosureRecord): string {
  switch (record.is) {
    case "header": {
      const { dialect, content, parts, genesis } = record.header;
      return asciiJson({ verbatim: "disclosure", v: VERSION, dialect, content, parts, genesis });
    }
    case "line":
    case "genesis": {
      const without = record.gaps.length > 0 ? { without: record.gaps.map(gapFields) } : {};
      return asciiJson({ [record.is]: toBase64url(record.salts), ...without });
    }
    case "leaf":
      return asciiJson({ leaf: toHex(record.leaf), ...whyFields(record.because) });
    case "stated":
      return asciiJson({ genesis: statedFields(record.genesis) });
    case "checkpoint":
      return asciiJson({ checkpoint: toBase64url(record.salts) });
    case "bytes": {
      const salt = record.salt && { salt: toBase64url(record.salt) };
      return asciiJson({ bytes: toBase64url(record.data), ...salt });
    }
    case "statement":
      return spellStatement(record.statement);
    case "newer":
      return "";
  }
}

type Fields = Readonly<Record<string, unknown>>;

function recordOf(value: Fields): DisclosureRecord | null {
  if (value.verbatim === "disclosure") return headerOf(value);
  if (value.statement !== undefined) {
    const statement = readStatement(value);
    return statement && { is: "statement", statement };
  }
  if (value.line !== undefined) return linesOf("line", value.line, value.without);
  if (isObject(value.genesis)) {
    const genesis = readStated(value.genesis);
    return genesis && { is: "stated", genesis };
  }
  if (value.genesis !== undefined) return linesOf("genesis", value.genesis, value.without);
  if (value.leaf !== undefined) {
    const because = whyOf(value);
    return isHash(value.leaf) && because
      ? { is: "leaf", leaf: fromHex(value.leaf), because }
      : null;
  }
  if (typeof value.checkpoint === "string") {
    const salts = value.checkpoint === "" ? new Uint8Array(0) : saltsOf(value.checkpoint);
    return salts && { is: "checkpoint", salts };
  }
  const { bytes, salt: said } = value;
  const data = typeof bytes === "string" ? fromBase64url(bytes) : null;
  const salt = said === undefined ? null : saltsOf(said);
  if (!data || (said !== undefined && salt?.length !== BLOCK)) return null;
  return { is: "bytes", salt, data };
}

function headerOf({ v, dialect, content, parts, genesis }: Fields): DisclosureRecord | null {
  if (isCount(v) && v > VERSION) return { is: "newer", version: v };
  const isGood =
    typeof dialect === "string" &&
    /^[a-z][a-z0-9-]{0,31}$/.test(dialect) &&
    (content === "lines" || content === "bytes") &&
    isCount(parts) &&
    (genesis === "opened" || genesis === "stated" || genesis === "absent");
  return isGood ? { is: "header", header: { dialect, content, parts, genesis } } : null;
}

function linesOf(is: "line" | "genesis", text: unknown, without: unknown): DisclosureRecord | null {
  const salts = saltsOf(text);
  if (!salts) return null;
  if (without === undefined) return { is, salts, gaps: NONE };
  if (!Array.isArray(without) || without.length === 0) return null;
  const gaps: Gap[] = [];
  for (const value of without) {
    const gap = isObject(value) ? gapOf(value, is === "line") : null;
    if (!gap) return null;
    gaps.push(gap);
  }
  return { is, salts, gaps };
}

export function gapOf(value: Fields, hasWhy: boolean): Gap | null {
  const { at, len: length, part } = value;
  const because = hasWhy ? whyOf(value) : null;
  if (!isCount(at) || !isCount(length) || !isHash(part) || (hasWhy && !because)) return null;
  return { at, length, part, because };
}

function gapFields({ at, length, part, because }: Gap): object {
  return { at, len: length, part, ...(because && whyFields(because)) };
}

function whyOf({ why, mask }: Fields): Why | null {
  if (!isCount(why) || why >= REASONS_MAX) return null;
  if (mask === undefined) return { why, mask: null };
  return isText(mask, MASK_CHARS_MAX) ? { why, mask } : null;
}

function whyFields({ why, mask }: Why): object {
  return { why, ...(mask === null ? {} : { mask }) };
}

/** Salts in base64url: at least one. */
export function saltsOf(text: unknown): Uint8Array | null {
  const salts = typeof text === "string" ? fromBase64url(text) : null;
  return salts && salts.length > 0 && salts.length % BLOCK === 0 ? salts : null;
}

export interface DisclosureCounts {
  /** Lines of the log that are not checkpoints; of a raw stream, stretches. */
  lines: number;
  full: number;
  withheld: number;
  strings: number;
}

interface WithheldAmount {
  readonly lines: number;
  readonly strings: number;
}

export class DisclosedAmounts {
  readonly counts: DisclosureCounts = { lines: 0, full: 0, withheld: 0, strings: 0 };
  /** By the number of the reason. */
  readonly #withheld: { lines: number; strings: number }[] = [];

  /** A line, or a stretch, without the strings in its gaps. */
  addLine(gaps: readonly Gap[]): void {
    this.counts.lines++;
    this.counts.strings += gaps.length;
    if (gaps.length === 0) this.counts.full++;
    for (const { because } of gaps) if (because) this.#count(because, "strings");
  }

  addWithheld(because: Why): void {
    this.counts.lines++;
    this.counts.withheld++;
    this.#count(because, "lines");
  }

  /** Whether just these amounts were withheld, by reason. */
  areWithheld(stated: readonly WithheldAmount[]): boolean {
    const isSame = stated.every(({ lines, strings }, n) => {
      const counts = this.#withheld[n] ?? { lines: 0, strings: 0 };
      return counts.lines === lines && counts.strings === strings;
    });
    return isSame && this.#withheld.length <= stated.length;
  }

  #count({ why }: Why, what: "lines" | "strings"): void {
    while (this.#withheld.length <= why) this.#withheld.push({ lines: 0, strings: 0 });
    const amounts = this.#withheld[why];
    if (amounts) amounts[what]++;
  }
}
