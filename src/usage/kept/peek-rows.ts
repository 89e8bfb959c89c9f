/**
 * Peek rows: what the new rows of one log change in the ledger, by the rules of ledger/ledger.ts,
 * without loading it: single rows are looked up in the snapshot, and among the packs after it.
 */

import type { PriceBook } from "../../prices/price-book.ts";
import { Columns } from "../columns.ts";
import { beganBefore } from "../ledger/ledger.ts";
import { type LedgerPlace, readPacks } from "../ledger/ledger-file.ts";
import type { Pack, PackedFile } from "../ledger/pack.ts";
import { SnapshotReader } from "../ledger/snapshot-reader.ts";
import { FLAGS } from "../usage-row.ts";
import type { RecentFile } from "./kept-file.ts";
import type { ChangedView, ViewedRow } from "./kept-sums.ts";

export interface PeekLedger {
  readonly directory: string;
  readonly place: LedgerPlace;
  readonly recent: readonly RecentFile[];
  /** Of the kept sums, in their order. */
  readonly models: readonly string[];
  readonly ratesFor: PriceBook["ratesFor"];
}

/** A file as far as rows need to know whose they are. */
type Owner = Pick<RecentFile, "root" | "path" | "id" | "dialect" | "session" | "firstAt">;

interface PackRow {
  readonly rows: Columns;
  readonly row: number;
  readonly owner: Owner;
}

/** Null: that needs the whole ledger. */
export function changedBy(
  ledger: PeekLedger,
  file: PackedFile & Owner & { readonly isNew: boolean },
  added: { readonly rows: Columns; readonly models: readonly string[]; readonly rowCount: number },
): ChangedView | null {
  const reader = SnapshotReader.open(ledger.directory, ledger.place);
  try {
    const peek = new Peek(ledger, reader);
    peek.readPacks();
    return peek.add(file, added);
  } finally {
    reader?.close();
  }
}

class Peek {
  readonly #ledger: PeekLedger;
  readonly #reader: SnapshotReader | null;
  readonly #models: string[];
  /** Rows of packs that the snapshot does not have, by the lower half of their key. */
  readonly #packed = new Map<number, PackRow[]>();
  readonly #owners: Owner[] = [];
  readonly #before = new Columns();
  readonly #after = new Columns();
  #isContested = false;

  constructor(ledger: PeekLedger, reader: SnapshotReader | null) {
    this.#ledger = ledger;
    this.#reader = reader;
    this.#models = [...ledger.models];
  }

  /** The kept sums have these packs: they were checked. */
  readPacks(): void {
    const onPack = ({ rows: bytes, rowCount, models, files }: Pack) => {
      const rows = this.#columnsOf(bytes, rowCount, models);
      let row = 0;
      for (const each of files) {
        const owner = this.#packOwner(each, rows, row);
        for (const end = row + each.rows; row < end; row++) {
          const low = rows.keyLow[row] ?? 0;
          const known = this.#packed.get(low);
          if (known) known.push({ rows, row, owner });
          else this.#packed.set(low, [{ rows, row, owner }]);
        }
      }
    };
    readPacks(this.#ledger.directory, this.#reader?.end ?? 0, onPack, true);
  }

  add(
    file: PackedFile & Owner & { readonly isNew: boolean },
    added: {
      readonly rows: Columns;
      readonly models: readonly string[];
      readonly rowCount: number;
    },
  ): ChangedView | null {
    const rows = this.#columnsOf(added.rows.toBytes(), added.rowCount, added.models);
    let firstAt = file.firstAt;
    for (let row = 0; row < added.rowCount; row++) {
      const at = rows.at[row] ?? Number.NaN;
      if (at < firstAt) firstAt = at;
    }
    const mine: Owner = { ...file, firstAt };
    const changed: ViewedRow[] = [];
    for (let row = 0; row < added.rowCount; row++)
      changed.push(this.#addRow({ rows, row, owner: mine }));
    if (this.#isContested) return null;
    const { ratesFor } = this.#ledger;
    return {
      ...{ models: this.#models, before: this.#before, after: this.#after, rows: changed },
      newFiles: file.isNew ? [{ name: file.name, parent: file.parent, firstAt }] : [],
      dialectOf: (owner) => this.#owners[owner]?.dialect ?? "",
      sessionOf: (owner) => this.#owners[owner]?.session ?? "",
      ratesAt: (model, at) => ratesFor(this.#models[model] ?? "", at),
      sessionNow: () => null,
    };
  }

  #addRow(added: PackRow): ViewedRow {
    const { rows, row } = added;
    const [high, low, request] = [rows.keyHigh[row], rows.keyLow[row], rows.request[row]];
    const at = this.#after.add();
    const known = this.#known(at, high ?? 0, low ?? 0, request ?? 0);
    if (known === null) {
      this.#after.copy(at, rows, row);
      return { row: at, owner: this.#indexOf(added.owner), old: null };
    }
    const old = this.#before.add();
    this.#before.copy(old, this.#after, at);
    const owner = merge(this.#after, at, known, added);
    return {
      ...{ row: at, owner: this.#indexOf(owner) },
      old: { at: old, owner: this.#indexOf(known) },
    };
  }

  /** Copies the row of a response as the ledger has it; returns its owner. Null: it has none. */
  #known(to: number, high: number, low: number, request: number): Owner | null {
    let owner: Owner | null = null;
    const base = this.#reader?.find(high, low, request) ?? -1;
    if (base >= 0 && this.#reader) {
      this.#reader.copyRow(base, this.#after, to);
      owner = this.#snapshotOwner(this.#reader.ownerOf(base));
    }
    for (const packed of this.#packed.get(low) ?? []) {
      const { rows, row } = packed;
      const own = rows.request[row] ?? 0;
      if (rows.keyHigh[row] !== high) continue;
      if (own !== request && own !== 0 && request !== 0) continue;
      if (owner === null) {
        this.#after.copy(to, rows, row);
        owner = packed.owner;
      } else {
        // Whose it became depends on what was known of both files at that time.
        if (!isSame(owner, packed.owner)) this.#isContested = true;
        owner = merge(this.#after, to, owner, packed);
      }
    }
    return owner;
  }

  #snapshotOwner(index: number): Owner {
    const file = this.#reader?.file(index);
    const { root = "", path = "" } = file ?? {};
    const recent = this.#recent(root, path);
    if (recent || !file) return recent ?? { ...NO_OWNER };
    return { ...file, session: file.parent ?? file.name };
  }

  #packOwner(file: PackedFile, rows: Columns, first: number): Owner {
    const recent = this.#recent(file.root, file.path);
    if (recent) return recent;
    const times = Array.from(rows.at.subarray(first, first + file.rows));
    const firstAt = Math.min(Number.POSITIVE_INFINITY, ...times.filter((at) => !Number.isNaN(at)));
    return { ...file, session: file.parent ?? file.name, firstAt };
  }

  #recent(root: string, path: string): Owner | undefined {
    return this.#ledger.recent.find((each) => each.root === root && each.path === path);
  }

  #indexOf(owner: Owner): number {
    const known = this.#owners.findIndex((each) => isSame(each, owner));
    return known >= 0 ? known : this.#owners.push(owner) - 1;
  }

  /** Rows with the models of this. */
  #columnsOf(bytes: Uint8Array, count: number, models: readonly string[]): Columns {
    const rows = new Columns(Math.max(1, count));
    rows.addBytes(bytes, count);
    const indexes = models.map((model) => {
      const known = this.#models.indexOf(model);
      return known >= 0 ? known : this.#models.push(model) - 1;
    });
    for (let row = 0; row < count; row++) rows.model[row] = indexes[rows.model[row] ?? 0] ?? 0;
    return rows;
  }
}

const NO_OWNER: Owner = { root: "", path: "", id: "", dialect: "", session: "", firstAt: 0 };

/** Merges a row into that of the same response; returns the owner that it has then. */
function merge(into: Columns, at: number, owner: Owner, { rows, row, owner: own }: PackRow): Owner {
  const isOwn = isSame(owner, own);
  if (isOwn && rows.has(row, FLAGS.lastWins)) {
    into.copy(at, rows, row);
    return owner;
  }
  into.merge(at, rows, row);
  return !isOwn && beganBefore(own, owner) ? own : owner;
}

function isSame(one: Owner, other: Owner): boolean {
  return one.path === other.path && one.root === other.root;
}
