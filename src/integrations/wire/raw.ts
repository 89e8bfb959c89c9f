/**
 * Raw: a call as it was, for replays. Page: docs/formats/wire.md, "Calls as they were".
 *
 * - A request is cut into pieces where the elements of its lists begin and end, so that a message is
 *   one. A session keeps a piece once; a request names its pieces by their hashes.
 * - A hash is also the check: a piece that was changed is not the one that a request names.
 */

import { createHash, randomUUID } from "node:crypto";
import type { NewEntry } from "../../core/model/entry.ts";
import type { RawMark } from "../../core/model/wire-mark.ts";

/** Of several pieces in one entry. */
const PIECES_CHARS_MAX = 1024 * 1024;

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** Names a list of pieces. */
export function listMark(hashes: readonly string[]): string {
  return hashOf(hashes.join()).slice(0, 16);
}

/** Names a run of the proxy, with the time at which it begins. */
export function newRun(): string {
  return `${Date.now()}-${randomUUID()}`;
}

export function runStartMs(run: string): number {
  return Number.parseInt(run, 10);
}

/** The pieces of a text, which make the text again. `text` is a JSON object, or one piece. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let depth = 0;
  let isInList = false;
  const cut = (at: number) => {
    if (at > start) pieces.push(text.slice(start, at));
    start = at;
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = stringEnd(text, at);
    else if (char === "[" || char === "{") {
      depth++;
      if (depth === 2) isInList = char === "[";
      if (depth === 2 && isInList) cut(at + 1);
    } else if (char === "]" || char === "}") {
      if (depth === 2 && isInList) cut(at);
      depth--;
    } else if (char === "," && depth === 2 && isInList) cut(at);
  }
  cut(text.length);
  return pieces;
}

/** Where the string that begins at a quote ends. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - escapes - 1] === "\\") escapes++;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

/** What a session has of the calls as they were. */
export class RawPieces {
  readonly #stored = new Set<string>();
  #last: readonly string[] = [];

  /** Adds those of an earlier run. */
  restore(pieces: readonly string[]): void {
    for (const piece of pieces) this.#stored.add(hashOf(piece));
  }

  /** The hashes of pieces; those that the session does not have yet go to `fresh`. */
  take(pieces: readonly string[], fresh: string[]): string[] {
    return pieces.map((piece) => {
      const hash = hashOf(piece);
      if (!this.#stored.has(hash)) fresh.push(piece);
      this.#stored.add(hash);
      return hash;
    });
  }

  /** A request by what it has in common with the one before it in the session. */
  after(hashes: readonly string[]): Pick<RawMark, "after" | "request"> {
    const last = this.#last;
    const different = hashes.findIndex((hash, at) => hash !== last[at]);
    const count = different < 0 ? hashes.length : different;
    this.#last = hashes;
    if (count === 0) return { request: hashes };
    return { after: [listMark(last), count], request: hashes.slice(count) };
  }
}

/** The entries with the pieces: with the last of them as far as that is not long, others before. */
export function withPieces(entries: readonly NewEntry[], pieces: readonly string[]): NewEntry[] {
  if (pieces.length === 0) return [...entries];
  const groups: string[][] = [[]];
  let chars = 0;
  for (const piece of pieces) {
    chars += piece.length;
    if (chars > PIECES_CHARS_MAX && groups.at(-1)?.length !== 0) {
      groups.push([]);
      chars = piece.length;
    }
    groups.at(-1)?.push(piece);
  }
  const { metadata, ...last }: NewEntry = entries.at(-1) ?? { kind: "other" };
  const wire = (metadata?.wire ?? {}) as object;
  const before = groups.slice(0, -1).map((group): NewEntry => {
    return { kind: "other", metadata: { wire: { pieces: group } } };
  });
  const withLast = { ...last, metadata: { wire: { ...wire, pieces: groups.at(-1) } } };
  return [...entries.slice(0, -1), ...before, withLast];
}
