/**
 * Deltas: the text that an answer's deltas add up to, when each is a line of its own. A value that
 * is split over lines is in none of them.
 *
 * Texts of one block are joined as long as line after line is a delta. Any provider's shape is
 * understood: strings below a key `delta`, or of an object whose type ends in `delta`. Bounded: of
 * a longer text only the end is kept.
 */

import type { Find, SecretFinder } from "./find-secrets.ts";
import { unescapeOnce } from "./unescape.ts";

/** Bytes of a block's text that are held at once. */
export const JOINED_BYTES_MAX = 65_536;
/** Kept of it when it is longer: a value may begin there. */
const KEPT_BYTES = 4_096;
const DEPTH_MAX = 8;
/** A line with a delta contains it. */
export const DELTA = "delta";

const TEXTS: ReadonlySet<string> = new Set([
  "text",
  "thinking",
  "partial_json",
  "content",
  "arguments",
  "delta",
  "refusal",
  "reasoning",
  "reasoning_content",
]);
/** They tell blocks and answers apart. */
const NAMES = ["id", "item_id", "index", "output_index", "content_index"] as const;

/** A line of a log. */
export interface ScannedLine {
  /** From 1. */
  readonly entry: number;
  readonly start: number;
  /** After its LF. */
  readonly end: number;
  readonly bytes: Buffer;
}

export interface DeltaPiece {
  readonly line: ScannedLine;
  /** Bytes of the value's part, in the line. */
  readonly start: number;
  readonly end: number;
}

interface AddedPart {
  readonly line: ScannedLine;
  readonly text: string;
  readonly bytes: number;
}

interface Block {
  added: AddedPart[];
  bytes: number;
}

export class Deltas {
  readonly #finder: SecretFinder;
  readonly #onFind: (find: Find, pieces: readonly DeltaPiece[]) => void;
  #blocks = new Map<string, Block>();

  constructor(finder: SecretFinder, onFind: (find: Find, pieces: readonly DeltaPiece[]) => void) {
    this.#finder = finder;
    this.#onFind = onFind;
  }

  /** The first line that later ones may continue; null: none. */
  get openFrom(): ScannedLine | null {
    let first: ScannedLine | null = null;
    for (const { added } of this.#blocks.values()) {
      const line = added[0]?.line ?? null;
      if (line && (first === null || line.start < first.start)) first = line;
    }
    return first;
  }

  /** Takes the next line; its bytes are copied. */
  add(line: ScannedLine): void {
    const texts = line.bytes.includes(DELTA) ? deltasIn(line.bytes) : null;
    if (texts === null) {
      if (this.#blocks.size > 0 && !line.bytes.includes('"ping"')) this.flush();
      return;
    }
    const copy = { ...line, bytes: Buffer.from(line.bytes) };
    for (const [key, text] of texts) {
      const block = this.#blocks.get(key) ?? { added: [], bytes: 0 };
      this.#blocks.set(key, block);
      const bytes = Buffer.byteLength(text);
      block.added.push({ line: copy, text, bytes });
      block.bytes += bytes;
      if (block.bytes > JOINED_BYTES_MAX) this.#shorten(block);
    }
  }

  /** Ends all blocks. */
  flush(): void {
    for (const block of this.#blocks.values()) this.#search(block);
    this.#blocks = new Map();
  }

  #shorten(block: Block): void {
    this.#search(block);
    while (block.bytes > KEPT_BYTES && block.added.length > 0) {
      block.bytes -= block.added.shift()?.bytes ?? 0;
    }
  }

  /** Reports values of more than one line; the others are found in their lines. */
  #search({ added }: Block): void {
    if (added.length < 2) return;
    const text = added.map((each) => each.text).join("");
    for (const find of this.#finder.find(text)) {
      const pieces: DeltaPiece[] = [];
      let from = 0;
      for (const { line, text, bytes } of added) {
        const start = Math.max(0, find.start - from);
        const end = Math.min(bytes, find.end - from);
        if (start < end) pieces.push(placed(line, text, start, end));
        from += bytes;
      }
      if (pieces.length > 1) this.#onFind(find, pieces);
    }
  }
}

/** The texts that a line adds, by block; null if it is not a delta. */
function deltasIn(bytes: Buffer): Map<string, string> | null {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return null;
  }
  const texts = new Map<string, string>();
  collect(value, "", false, 0, texts);
  return texts.size === 0 ? null : texts;
}

function collect(
  value: unknown,
  path: string,
  isDelta: boolean,
  depth: number,
  texts: Map<string, string>,
): void {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return;
  const fields = value as Readonly<Record<string, unknown>>;
  const types = [fields.type, fields.event_type];
  const isOne = isDelta || types.some((type) => typeof type === "string" && type.endsWith(DELTA));
  const names = NAMES.map((name) => {
    const named = Object.hasOwn(fields, name) ? fields[name] : null;
    return typeof named === "string" || typeof named === "number" ? String(named) : "";
  });
  const here = `${path}[${names.join()}]`;
  for (const [key, inside] of Object.entries(fields)) {
    const isText = typeof inside === "string" && isOne && TEXTS.has(key);
    if (isText) texts.set(`${here}.${key}`, inside);
    else collect(inside, `${here}.${key}`, isOne || key === DELTA, depth + 1, texts);
  }
}

/** Where bytes of a decoded string are in the raw line. */
function placed(line: ScannedLine, text: string, start: number, end: number): DeltaPiece {
  const raw = line.bytes.toString("latin1");
  for (const { 1: token = "", index } of raw.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
    const decoded = unescapeOnce(Buffer.from(token, "latin1").toString(), false);
    if (decoded.text !== text) continue;
    const utf8 = Buffer.from(token, "latin1").toString();
    const at = (byte: number) => {
      const chars = Buffer.from(text).subarray(0, byte).toString().length;
      return index + 1 + Buffer.byteLength(utf8.slice(0, decoded.at(chars)));
    };
    return { line, start: at(start), end: at(end) };
  }
  return { line, start: 0, end: line.bytes.length };
}
