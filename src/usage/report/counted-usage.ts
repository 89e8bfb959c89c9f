/**
 * Counted usage: the ledger with each response once, priced, for reports to go through.
 *
 * Subagents belong to the session that started them.
 */

import { dialectNamed } from "../../dialects/all.ts";
import type { CountedBy } from "../counting.ts";
import type { Ledger, LedgerFile } from "../ledger/ledger.ts";
import type { PriceBook } from "../prices/price-book.ts";
import { costOf, type Rates } from "../prices/rates.ts";
import { FLAGS } from "../usage-row.ts";
import type { Days } from "./days.ts";

export interface Choice {
  /** Days, both included: "2026-11-15". */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** The program's dialect or label. */
  readonly agent?: string | undefined;
  /** A directory, or its name. */
  readonly project?: string | undefined;
}

const UNKNOWN_PROJECT = "unknown";
const PARENTS_MAX = 32;

export class CountedUsage {
  readonly ledger: Ledger;
  readonly countedBy: CountedBy;
  readonly #book: PriceBook;
  readonly #sessions: readonly string[];
  /** Rates by model, where they are the same at all times. */
  readonly #rates = new Map<number, Rates | null>();

  constructor(ledger: Ledger, countedBy: CountedBy, book: PriceBook) {
    this.ledger = ledger;
    this.countedBy = countedBy;
    this.#book = book;
    const byName = new Map(ledger.files.map((file) => [`${file.dialect}\0${file.name}`, file]));
    this.#sessions = ledger.files.map((file) => rootName(file, byName));
  }

  /** Rows that count and that are chosen. */
  *chosen(days: Days, { since, until, agent, project }: Choice = {}): Generator<number> {
    const { rows } = this.ledger;
    const isWanted = this.ledger.files.map((file) => {
      return isOfAgent(file, agent) && isOfProject(file, project);
    });
    const hasRange = since !== undefined || until !== undefined;
    for (let row = 0; row < rows.length; row++) {
      if (rows.has(row, FLAGS.duplicate)) continue;
      if (!isWanted[this.ledger.ownerOf(row)]) continue;
      if (hasRange) {
        const day = days.dayOf(rows.at[row] ?? Number.NaN);
        if (day === "unknown" || day < (since ?? "") || day > (until ?? "9")) continue;
      }
      yield row;
    }
  }

  modelOf(row: number): string {
    return this.ledger.models[this.ledger.rows.model[row] ?? 0] || "unknown";
  }

  /** The session's name; for a subagent, that of the session that started it. */
  sessionOf(row: number): string {
    return this.#sessions[this.ledger.ownerOf(row)] ?? "";
  }

  agentOf(row: number): string {
    return this.ledger.fileOf(row).dialect;
  }

  projectOf(row: number): string {
    return this.ledger.fileOf(row).project ?? UNKNOWN_PROJECT;
  }

  /** In US dollars; NaN: the price of the model is unknown. */
  costOf(row: number): number {
    const rates = this.ratesOf(row);
    return rates === null ? Number.NaN : costOf(this.ledger.rows, row, rates);
  }

  /** Whether the row is of a program whose plans are limited by blocks. */
  hasBlocks(row: number): boolean {
    return dialectNamed(this.agentOf(row)).usageIn === "messages";
  }

  /** Prices have changed. */
  forgetRates(): void {
    this.#rates.clear();
  }

  ratesOf(row: number): Rates | null {
    const { rows, models } = this.ledger;
    const model = rows.model[row] ?? 0;
    const known = this.#rates.get(model);
    if (known !== undefined) return known;
    const name = models[model] ?? "";
    if (!this.#book.varies(name)) this.#rates.set(model, this.#book.ratesFor(name, 0));
    return this.#book.ratesFor(name, rows.at[row] ?? 0);
  }
}

function rootName(file: LedgerFile, byName: ReadonlyMap<string, LedgerFile>): string {
  let { name, parent } = file;
  for (let n = 0; n < PARENTS_MAX && parent !== null; n++) {
    name = parent;
    parent = byName.get(`${file.dialect}\0${name}`)?.parent ?? null;
  }
  return name;
}

/** As people write it: "claude code", "Claude-Code". */
const folded = (text: string) => text.toLowerCase().replaceAll(/[\s_-]/g, "");

function isOfAgent({ dialect }: LedgerFile, agent: string | undefined): boolean {
  if (agent === undefined) return true;
  const wanted = folded(agent);
  return [dialect, labelOf(dialect)].some((name) => folded(name).startsWith(wanted));
}

/** What users call the program. */
export function labelOf(dialect: string): string {
  return dialectNamed(dialect).program?.label ?? dialect;
}

function isOfProject({ project, root }: LedgerFile, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const path = (project ?? root).replace(/\/+$/, "");
  if (wanted.includes("/")) return path === wanted || path.startsWith(`${wanted}/`);
  return path.slice(path.lastIndexOf("/") + 1) === wanted;
}
