/**
 * Export: a session as one file, made in the browser from the server's responses.
 *
 * - The HTML is the same as by `verbatim export --format html`, by the same code, including line numbers.
 * - The JSONL is the log, byte for byte.
 * - A file is made in memory, so a log over EXPORT_BYTES_MAX is refused, with the command that
 *   writes it piece by piece.
 */

import type { VerbatimClient } from "../../../src/client/client.ts";
import type { MaskedCopy, MaskedItem } from "../../../src/client/masked-copy.ts";
import type { EntryItem, SessionHead } from "../../../src/client/session-shapes.ts";
import { emptyEntry } from "../../../src/core/model/entry.ts";
import { isUsageRepeated } from "../../../src/core/model/usage-once.ts";
import { SessionPage, UNSCANNED } from "../../../src/sessions/render/html/page.ts";
import { sizeOf } from "../words.ts";

export const EXPORT_BYTES_MAX = 512 * 1024 * 1024;
const PAGE_ENTRIES = 500;

type Progress = (part: number) => void;

export async function htmlPieces(
  client: VerbatimClient,
  head: SessionHead,
  progress: Progress,
): Promise<string[]> {
  checkSize(head, `verbatim export ${head.session} --output page.html`);
  const page = new SessionPage({ ...head, last: null });
  const pieces = [page.head()];
  let line = 0;
  for (let from = 0; from < head.end; ) {
    const range = { from, limit: PAGE_ENTRIES, native: false };
    const { entries, next } = await client.sessions.entries(head.id, range);
    pieces.push(...rowPieces(page, entries, () => ++line));
    if (entries.length === 0) break;
    from = next;
    progress(from / head.end);
  }
  pieces.push(page.foot(head));
  return pieces;
}

/** What scan finds in the session is masked. Facts of it that may have one of these are left out. */
export function maskedPieces(head: SessionHead, { items, withheld }: MaskedCopy): string[] {
  const notice = `What scan found is masked: ${findsText(withheld)}. This page is no proof of what the session says.`;
  const page = new SessionPage({ ...head, ...UNSCANNED, last: null, notice });
  return [page.head(), ...rowPieces(page, items, ({ start }) => start), page.foot(head)];
}

/** "github 1, email 2" */
export function findsText(withheld: MaskedCopy["withheld"]): string {
  return withheld.map(({ rule, lines, strings }) => `${rule} ${lines + strings}`).join(", ");
}

/** The loaded entries alone, as one page: of a session that is gone. */
export function loadedPieces(head: SessionHead, items: readonly EntryItem[]): string[] {
  const page = new SessionPage({ ...head, last: null });
  return [page.head(), ...rowPieces(page, items, () => null), page.foot(head)];
}

function rowPieces(
  page: SessionPage,
  items: readonly (EntryItem & Partial<MaskedItem>)[],
  lineOf: (item: EntryItem) => number | null,
): string[] {
  const said = items.map(({ entry }) => entry);
  return items.map((item, n) => {
    const { start, entry, fault, tools, withheld } = item;
    const line = lineOf(item);
    if (entry !== null) {
      const usage = isUsageRepeated(said, n) ? null : entry.usage;
      return page.entry({ ...emptyEntry({}), ...entry, usage, start, line, tools });
    }
    const reason = withheld ? `withheld by the rule ${withheld.rule}` : (fault ?? "");
    return page.badLines({ listed: [{ line, offset: start, reason }], more: 0 });
  });
}

export async function logPieces(
  client: VerbatimClient,
  head: SessionHead,
  progress: Progress,
): Promise<Uint8Array<ArrayBuffer>[]> {
  checkSize(head, `verbatim cat ${head.session}`);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0; ; ) {
    const { bytes, to, end } = await client.sessions.bytes(head.id, { from });
    pieces.push(bytes as Uint8Array<ArrayBuffer>);
    from = to;
    if (to >= end || bytes.length === 0) return pieces;
    progress(to / end);
  }
}

function checkSize({ bytes }: SessionHead, command: string): void {
  if (bytes <= EXPORT_BYTES_MAX) return;
  throw new Error(`${sizeOf(bytes)} are too much for a browser to hold; use: ${command}`);
}

/** A name that any file system accepts. */
export function nameFor({ session }: SessionHead, ending: string): string {
  const name = session.replace(/[^\w.-]+/g, "_").slice(-80);
  return `${name.replace(/^[._]+/, "") || "session"}.${ending}`;
}

export function saveAs(name: string, pieces: readonly BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob([...pieces], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read it by then; keeping it longer would keep the memory.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
