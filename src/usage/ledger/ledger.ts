/**
 * Ledger: every response that was ever counted on this machine, in memory, and the files it was
 * found in.
 *
 * Rows are only added. A file that is read again adds rows with the same keys, and counting.ts
 * counts each response once. So nothing that was counted is lost when a file is cut, rewritten or
 * deleted.
 */

import { Columns } from "../columns.ts";
import { Hash } from "../scan/hash.ts";
import { FLAGS } from "../usage-row.ts";
import { appendPacks, readPacks, replacePacks } from "./ledger-file.ts";
import { type PackedFile, packed } from "./pack.ts";

/** A pack is written when it has this many rows or files. */
const PACK_ROWS = 32_768;
const PACK_FILES = 1_024;
/** The file is written again without repeated rows when more than half of it, and this, is saved. */
const SPARED_ROWS_MIN = 50_000;

export interface LedgerFile extends PackedFile {
  readonly index: number;
}

export class Ledger {
  readonly rows = new Columns(1024);
  /** The models of the rows. */
  readonly models: string[] = [];
  readonly #directory: string;
  readonly #files: LedgerFile[] = [];
  readonly #byKey = new Map<string, number>();
  /** The file of each row. */
  #owners = new Uint32Array(1024);
  readonly #modelIndex = new Map<string, number>();
  #pendingFiles: PackedFile[] = [];
  #pendingRows = new Columns();
  #packs: Buffer[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static open(directory: string): Ledger {
    const ledger = new Ledger(directory);
    readPacks(directory, ledger.rows, (files, firstRow) => {
      let row = firstRow;
      for (const file of files) row = ledger.#take(file, row);
    });
    return ledger;
  }

  get files(): readonly LedgerFile[] {
    return this.#files;
  }

  fileOf(row: number): LedgerFile {
    return this.#files[this.#owners[row] ?? 0] as LedgerFile;
  }

  ownerOf(row: number): number {
    return this.#owners[row] ?? 0;
  }

  /** The file as it was last counted. */
  known(dialect: string, root: string, id: string): LedgerFile | undefined {
    const index = this.#byKey.get(keyOf(dialect, root, id));
    return index === undefined ? undefined : this.#files[index];
  }

  /** Adds a file, or more rows of one. `rows` are its `file.rows` rows as bytes. */
  add(file: PackedFile, rows: Uint8Array): void {
    this.#pendingFiles.push(file);
    this.#pendingRows.addBytes(rows, file.rows);
    const firstRow = this.rows.length;
    this.rows.addBytes(rows, file.rows);
    this.#take(file, firstRow);
    if (this.#pendingRows.length >= PACK_ROWS || this.#pendingFiles.length >= PACK_FILES) {
      this.#pack();
    }
  }

  /** Writes what was added. False: it could not be written, and will be counted again. */
  async save(): Promise<boolean> {
    this.#pack();
    if (this.#packs.length === 0) return true;
    const packs = this.#packs;
    this.#packs = [];
    return appendPacks(this.#directory, packs);
  }

  /** Rewrites the file without rows that are there twice; call after they were marked. */
  async compact(): Promise<void> {
    let spared = 0;
    for (let row = 0; row < this.rows.length; row++) if (this.#isRepeated(row)) spared++;
    if (spared < SPARED_ROWS_MIN || spared * 2 < this.rows.length) return;
    await replacePacks(this.#directory, this.#livePacks());
  }

  *#livePacks(): Generator<Buffer> {
    const byFile = this.#files.map((): number[] => []);
    for (let row = 0; row < this.rows.length; row++) {
      if (!this.#isRepeated(row)) byFile[this.ownerOf(row)]?.push(row);
    }
    let files: PackedFile[] = [];
    let rows = new Columns();
    for (const [index, own] of byFile.entries()) {
      const { index: _, ...file } = this.#files[index] as LedgerFile;
      const models: string[] = [];
      for (const row of own) {
        const at = rows.add();
        rows.copy(at, this.rows, row);
        const model = this.models[this.rows.model[row] ?? 0] ?? "";
        if (!models.includes(model)) models.push(model);
        rows.model[at] = models.indexOf(model);
        this.#scopeKeys(file.scope, rows, at, at + 1);
      }
      files.push({ ...file, models, rows: own.length });
      if (rows.length < PACK_ROWS && files.length < PACK_FILES) continue;
      yield packed(files, rows);
      [files, rows] = [[], new Columns()];
    }
    if (files.length > 0) yield packed(files, rows);
  }

  /** A row that another row of the same file has made superfluous. */
  #isRepeated(row: number): boolean {
    return this.rows.has(row, FLAGS.duplicate) && this.rows.has(row, FLAGS.repeated);
  }

  #pack(): void {
    if (this.#pendingFiles.length === 0) return;
    this.#packs.push(packed(this.#pendingFiles, this.#pendingRows));
    this.#pendingFiles = [];
    this.#pendingRows.clear();
  }

  /** Registers a file whose rows begin at `firstRow`; returns the row after them. */
  #take(file: PackedFile, firstRow: number): number {
    const key = keyOf(file.dialect, file.root, file.id);
    const index = this.#byKey.get(key) ?? this.#files.length;
    this.#byKey.set(key, index);
    this.#files[index] = { ...file, index };
    const end = firstRow + file.rows;
    if (this.#owners.length < end) {
      const larger = new Uint32Array(Math.max(end, this.#owners.length * 2));
      larger.set(this.#owners);
      this.#owners = larger;
    }
    this.#owners.fill(index, firstRow, end);
    const models = file.models.map((model) => this.#indexOfModel(model));
    const { model } = this.rows;
    for (let row = firstRow; row < end; row++) model[row] = models[model[row] ?? 0] ?? 0;
    this.#scopeKeys(file.scope, this.rows, firstRow, end);
    return end;
  }

  /** Makes keys that hold within a session hold everywhere; a second time takes it back. */
  #scopeKeys(scope: string, rows: Columns, from: number, to: number): void {
    const { keyHigh, keyLow } = rows;
    let hash: Hash | null = null;
    for (let row = from; row < to; row++) {
      if (!rows.has(row, FLAGS.ofSession)) continue;
      hash ??= scopeHash(scope);
      keyHigh[row] = ((keyHigh[row] ?? 0) ^ hash.high) >>> 0;
      keyLow[row] = ((keyLow[row] ?? 0) ^ hash.low) >>> 0;
    }
  }

  #indexOfModel(model: string): number {
    const known = this.#modelIndex.get(model);
    if (known !== undefined) return known;
    this.#modelIndex.set(model, this.models.length);
    return this.models.push(model) - 1;
  }
}

export function scopeHash(scope: string): Hash {
  return new Hash().begin().text(scope).end();
}

function keyOf(dialect: string, root: string, id: string): string {
  return `${dialect}\0${root}\0${id}`;
}
