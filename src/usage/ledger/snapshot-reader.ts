/**
 * Snapshot reader: looks up single rows and files in the snapshot file without loading it, for the
 * status line. Reads some bytes for each.
 */

import { closeSync, readSync } from "node:fs";
import { type Columns, NUMBERS, WORDS } from "../columns.ts";
import { type FileValues, fileOf } from "./file-list.ts";
import type { LedgerPlace } from "./ledger-file.ts";
import type { LedgerFile } from "./pack.ts";
import { openSnapshot, type SnapshotPlaces } from "./snapshot.ts";

export class SnapshotReader {
  readonly #file: number;
  readonly #places: SnapshotPlaces;
  readonly #scratch = Buffer.alloc(8);

  private constructor(file: number, places: SnapshotPlaces) {
    this.#file = file;
    this.#places = places;
  }

  /** Null: there is none for this ledger. Close it. */
  static open(directory: string, place: LedgerPlace): SnapshotReader | null {
    const opened = openSnapshot(directory, place);
    return opened === null ? null : new SnapshotReader(opened.file, opened.places);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Where the packs end that it has. */
  get end(): number {
    return this.#places.head.end;
  }

  get models(): readonly string[] {
    return this.#places.head.models;
  }

  /** The row of the same response; -1 if there is none (key-table.ts). */
  find(high: number, low: number, request: number): number {
    const { head, slotsAt } = this.#places;
    const mask = head.slots - 1;
    for (let slot = low & mask, n = 0; n <= mask; slot = (slot + 1) & mask, n++) {
      const row = (this.#word(slotsAt + slot * 4) | 0) - 1;
      if (row < 0) return -1;
      if (this.#wordOf("keyLow", row) !== low || this.#wordOf("keyHigh", row) !== high) continue;
      const known = this.#wordOf("request", row);
      if (known === request || known === 0 || request === 0) return row;
    }
    return -1;
  }

  /** Copies a row to a row of columns. */
  copyRow(row: number, columns: Columns, to: number): void {
    for (const name of WORDS) columns[name][to] = this.#wordOf(name, row);
    for (const name of NUMBERS) columns[name][to] = this.#number(this.#placeOf(name, row));
  }

  ownerOf(row: number): number {
    return this.#word(this.#places.ownersAt + row * 4);
  }

  file(index: number): LedgerFile {
    const { head, filesAt } = this.#places;
    const numbersAt = filesAt + 8;
    const endsAt = numbersAt + head.files * 24;
    const textsAt = endsAt + head.files * 4 + this.#word(filesAt);
    const from = index === 0 ? 0 : this.#word(endsAt + (index - 1) * 4);
    const bytes = Buffer.alloc(this.#word(endsAt + index * 4) - from);
    readSync(this.#file, bytes, 0, bytes.length, textsAt + from);
    const firstAt = this.#number(numbersAt + head.files * 16 + index * 8);
    return fileOf(JSON.parse(bytes.toString()) as FileValues, index, firstAt);
  }

  #wordOf(name: (typeof WORDS)[number], row: number): number {
    return this.#word(this.#placeOf(name, row));
  }

  #placeOf(name: (typeof WORDS)[number] | (typeof NUMBERS)[number], row: number): number {
    const { head, columnsAt } = this.#places;
    const number = (NUMBERS as readonly string[]).indexOf(name);
    if (number >= 0) return columnsAt + (number * head.room + row) * 8;
    const word = (WORDS as readonly string[]).indexOf(name);
    return columnsAt + NUMBERS.length * head.room * 8 + (word * head.room + row) * 4;
  }

  #word(at: number): number {
    readSync(this.#file, this.#scratch, 0, 4, at);
    return this.#scratch.readUInt32LE(0);
  }

  #number(at: number): number {
    readSync(this.#file, this.#scratch, 0, 8, at);
    return this.#scratch.readDoubleLE(0);
  }
}
