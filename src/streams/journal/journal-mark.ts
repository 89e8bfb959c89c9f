/**
 * Journal mark: `streams.mark`, the number up to which the journal was synced.
 *
 * It is only evidence: a journal whose last records are damaged looks like one whose last write was
 * torn; the mark tells them apart. Format: docs/formats/streams.md, "streams.mark".
 *
 * It is written after the sync of the journal and before the answer, and never synced: it may be
 * behind what was acknowledged, never ahead of what is durable. A missing or torn mark, or one of
 * another store, is ignored.
 */

import { writeAtOnce } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import { crcOf, hex } from "./journal-record.ts";

export const MARK_NAME = "streams.mark";
const LSN = /"lsn":"(\d{16})"/;

/** The mark's only line, of constant length. */
function markLine(storeId: string, lsn: number): string {
  const line = `{"mark":1,"store":"${storeId}","lsn":"${String(lsn).padStart(16, "0")}"`;
  return `${line},"crc":"${hex(crcOf(line))}"}\n`;
}

/** The mark of a data directory; 0 if it has none. */
export async function readMark(directory: Directory, storeId: string): Promise<number> {
  if (!directory.names().includes(MARK_NAME)) return 0;
  const file = directory.open(MARK_NAME, "read");
  try {
    const bytes = Buffer.alloc(markLine(storeId, 0).length);
    const text = bytes.toString("latin1", 0, await file.read(bytes, 0));
    const lsn = Number(LSN.exec(text)?.[1] ?? 0);
    return text === markLine(storeId, lsn) ? lsn : 0;
  } finally {
    file.close();
  }
}

export class JournalMark {
  readonly #file: OpenFile;
  readonly #storeId: string;

  constructor(directory: Directory, storeId: string) {
    this.#file = directory.open(MARK_NAME, "update");
    this.#storeId = storeId;
  }

  /** Everything up to this number is durable. */
  set(lsn: number): void {
    const line = Buffer.from(markLine(this.#storeId, lsn), "latin1");
    writeAtOnce(this.#file, line, 0);
  }

  close(): void {
    this.#file.close();
  }
}
