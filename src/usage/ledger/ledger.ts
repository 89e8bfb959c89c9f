/**
 * Ledger: every response that was ever counted on this machine, each once, and the files it was
 * found in.
 *
 * What is counted is appended to a file of packs and never changed there (ledger-file.ts). In memory,
 * and in the snapshot that saves reading all packs again, a response has one row: with the largest
 * of each count, in the file that began first. So nothing is lost when a file is cut, rewritten or
 * deleted, and nothing counts twice when it is read again.
 */

import { Columns, ROW_BYTES } from "../columns.ts";
import { KeyTable } from "../row-set.ts";
import { FLAGS } from "../usage-row.ts";
import { FileList } from "./file-list.ts";
import {
  appendPacks,
  type LedgerPlace,
  ledgerPlaceOf,
  readPacks,
  replacePacks,
} from "./ledger-file.ts";
import { type LedgerFile, type Pack, type PackedFile, packBytesOf, packOf } from "./pack.ts";
import { readSnapshot, writeSnapshot } from "./snapshot.ts";

/** More than this is not replayed each time: a new snapshot is written. */
const REPLAYED_BYTES_MAX = 512 * 1024;
/** A ledger that is longer than this, and than its rows so many times over, is written again. */
const COMPACTED_BYTES_MIN = 8 * 1024 * 1024;
const COMPACTED_TIMES = 3;
const FILE_BYTES = 600;
const PACK_ROWS = 32_768;

export class UsageLedger {
  readonly directory: string;
  readonly rows: Columns;
  /** The models of the rows. */
  readonly models: string[];
  readonly #files: FileList;
  readonly #table: KeyTable;
  /** The file of each row. */
  #owners: Uint32Array;
  #unsaved: Buffer[] = [];
  /** What was added since it was opened. */
  changes = new Changes();
  /** How much of the file the snapshot has, and how much this ledger. */
  readonly #snapshotEnd: number;
  #place: LedgerPlace;

  private constructor(directory: string) {
    this.directory = directory;
    const place = ledgerPlaceOf(directory);
    const snapshot = readSnapshot(directory, place);
    this.rows = snapshot?.rows ?? new Columns(1024);
    this.models = snapshot?.models ?? [];
    this.#files = snapshot?.files ?? FileList.empty();
    this.#owners = snapshot?.owners ?? new Uint32Array(1024);
    this.#table = new KeyTable(this.rows, snapshot?.slots ?? null);
    this.#snapshotEnd = snapshot?.end ?? 0;
    this.#place = place;
    const end = readPacks(directory, this.#snapshotEnd, (pack) => this.#take(pack));
    this.#place = { ...place, end };
    this.changes = new Changes();
  }

  static open(directory: string): UsageLedger {
    return new UsageLedger(directory);
  }

  /** All files; `list` asks for some of them without parsing the others. */
  get files(): readonly LedgerFile[] {
    return this.#files.all;
  }

  get list(): FileList {
    return this.#files;
  }

  /** What the ledger begins with, and where what it has ends. */
  get place(): LedgerPlace {
    return this.#place;
  }

  fileOf(row: number): LedgerFile {
    return this.#files.at(this.#owners[row] ?? 0);
  }

  ownerOf(row: number): number {
    return this.#owners[row] ?? 0;
  }

  /** The file of each row. */
  get owners(): Uint32Array {
    return this.#owners;
  }

  /** The row of a response; -1 if there is none. */
  find(high: number, low: number, request: number): number {
    return this.#table.find(high, low, request);
  }

  /** The file as it was last counted. */
  known(root: string, path: string): LedgerFile | undefined {
    const index = this.#files.indexOf(root, path);
    return index === undefined ? undefined : this.#files.at(index);
  }

  /** Adds files, or more rows of some. */
  add(pack: Pack): void {
    this.#unsaved.push(packBytesOf(pack));
    this.#take(pack);
  }

  /** Writes what was added. False: it could not be written, and will be counted again. */
  async save(): Promise<boolean> {
    const packs = this.#unsaved;
    this.#unsaved = [];
    if (packs.length > 0) {
      const saved = await appendPacks(this.directory, packs, this.#place);
      if (saved === null) return false;
      this.#place = saved;
    }
    const isRewritten = await this.#compact();
    if (isRewritten || this.#place.end - this.#snapshotEnd > REPLAYED_BYTES_MAX) {
      await writeSnapshot(this.directory, this.#place, {
        rows: this.rows,
        models: this.models,
        files: this.#files,
        owners: this.#owners,
        slots: this.#table.slots,
      });
    }
    return true;
  }

  /** Writes the ledger again without repeated rows, if it has become several times as long. */
  async #compact(): Promise<boolean> {
    const needed = this.rows.length * ROW_BYTES + this.#files.length * FILE_BYTES;
    if (this.#place.end < COMPACTED_BYTES_MIN + COMPACTED_TIMES * needed) return false;
    const place = await replacePacks(this.directory, this.#livePacks(), this.#place);
    if (place !== null) this.#place = place;
    return place !== null;
  }

  *#livePacks(): Generator<Buffer> {
    const byFile = this.files.map((): number[] => []);
    for (let row = 0; row < this.rows.length; row++) byFile[this.ownerOf(row)]?.push(row);
    let files: PackedFile[] = [];
    let rows = new Columns();
    for (const [index, own] of byFile.entries()) {
      const { index: _, firstAt: __, ...file } = this.#files.at(index);
      for (const row of own) {
        const at = rows.add();
        rows.copy(at, this.rows, row);
        rows.flags[at] = (rows.flags[at] ?? 0) & ~FLAGS.duplicate;
      }
      files.push({ ...file, rows: own.length });
      if (rows.length < PACK_ROWS) continue;
      yield packBytesOf(packOf(files, this.models, rows));
      files = [];
      rows = new Columns();
    }
    if (files.length > 0) yield packBytesOf(packOf(files, this.models, rows));
  }

  #take({ models, files, rowCount, rows: bytes }: Pack): void {
    const rows = new Columns(Math.max(1, rowCount));
    rows.addBytes(bytes, rowCount);
    const indexes = models.map((model) => this.#indexOfModel(model));
    for (let row = 0; row < rowCount; row++) {
      rows.model[row] = indexes[rows.model[row] ?? 0] ?? 0;
    }
    let first = 0;
    for (const file of files) {
      const index = this.#takeFile(file);
      this.#takeRows(rows, first, first + file.rows, index);
      first += file.rows;
    }
  }

  #takeFile(file: PackedFile): number {
    const known = this.#files.indexOf(file.root, file.path);
    const index = known ?? this.#files.length;
    const firstAt = known === undefined ? Number.POSITIVE_INFINITY : this.#files.at(known).firstAt;
    const taken = { ...file, index, firstAt };
    this.#files.put(taken);
    this.changes.files.set(taken, { isNew: known === undefined });
    return index;
  }

  #takeRows(rows: Columns, from: number, to: number, index: number): void {
    const file = this.#files.at(index);
    for (let row = from; row < to; row++) {
      const at = rows.at[row] ?? Number.NaN;
      if (at < file.firstAt) file.firstAt = at;
    }
    for (let row = from; row < to; row++) {
      const { keyHigh, keyLow, request } = rows;
      const known = this.#table.find(keyHigh[row] ?? 0, keyLow[row] ?? 0, request[row] ?? 0);
      if (known < 0) this.#addRow(rows, row, index);
      else this.#mergeRow(known, rows, row, file);
    }
  }

  #addRow(rows: Columns, row: number, index: number): void {
    const added = this.rows.add();
    this.rows.copy(added, rows, row);
    this.#table.add(added);
    if (this.#owners.length <= added) {
      const larger = new Uint32Array(this.#owners.length * 2);
      larger.set(this.#owners);
      this.#owners = larger;
    }
    this.#owners[added] = index;
    this.changes.added(added);
  }

  #mergeRow(known: number, rows: Columns, row: number, file: LedgerFile): void {
    const owner = this.fileOf(known);
    this.changes.willChange(known, this.rows, owner.index);
    if (rows.has(row, FLAGS.lastWins)) {
      // What the guard keeps of a rewritten log is earlier than the log, whenever it is read.
      if (isEarlier(file) && !isEarlier(owner)) return;
      const isLater = isEarlier(owner) && !isEarlier(file);
      if (isLater || owner.index === file.index) {
        this.rows.copy(known, rows, row);
        this.#owners[known] = file.index;
        return;
      }
    }
    this.rows.merge(known, rows, row);
    // A copy begins when its origin does.
    const isCopied = isCopy(file) !== isCopy(owner) && file.firstAt === owner.firstAt;
    if (owner.index !== file.index && (isCopied ? isCopy(owner) : beganBefore(file, owner))) {
      this.#owners[known] = file.index;
    }
  }

  #indexOfModel(model: string): number {
    const known = this.models.indexOf(model);
    return known >= 0 ? known : this.models.push(model) - 1;
  }
}

/** An earlier generation of the guard: `<root>/@<n>`. */
function isEarlier({ root }: LedgerFile): boolean {
  return /\/@\d+$/.test(root);
}

/** Its keys hold within another session (entry-rows.ts). */
const isCopy = ({ name, scope }: LedgerFile) => scope !== name;

type Began = Pick<LedgerFile, "firstAt" | "id">;

/** Of a response in two files, the file that it belongs to. */
function beganBefore(one: Began, other: Began): boolean {
  if (one.firstAt !== other.firstAt) return one.firstAt < other.firstAt;
  return one.id < other.id;
}

/** After more than this, sums are made again from all rows. */
const CHANGED_ROWS_MAX = 20_000;

interface ChangedRow {
  readonly row: number;
  /** Its place among the columns `before`, and the file that it was of; null: it is new. */
  readonly old: { readonly at: number; readonly owner: number } | null;
}

/** Which rows of a ledger were added or changed since it was opened, and what they were. */
class Changes {
  /** Rows as they were. */
  readonly before = new Columns();
  /** Files that were added or counted again. */
  readonly files = new Map<LedgerFile, { readonly isNew: boolean }>();
  readonly #rows = new Map<number, ChangedRow["old"]>();
  #isTooMany = false;

  /** Null: too many to be worth it. */
  get rows(): readonly ChangedRow[] | null {
    if (this.#isTooMany) return null;
    return Array.from(this.#rows, ([row, old]) => ({ row, old }));
  }

  added(row: number): void {
    if (this.#hasRoom()) this.#rows.set(row, null);
  }

  willChange(row: number, rows: Columns, owner: number): void {
    if (this.#rows.has(row) || !this.#hasRoom()) return;
    const at = this.before.add();
    this.before.copy(at, rows, row);
    this.#rows.set(row, { at, owner });
  }

  #hasRoom(): boolean {
    if (this.#rows.size >= CHANGED_ROWS_MAX) this.#isTooMany = true;
    return !this.#isTooMany;
  }
}
