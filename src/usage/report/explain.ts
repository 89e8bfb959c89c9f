/**
 * Explain: every row of a session that was counted or left out, in the order in which it was found,
 * and why. Reads all packs: the ledger in memory has each response only once.
 */

import { COUNTS, Columns } from "../columns.ts";
import { readPacks } from "../ledger/ledger-file.ts";
import { factorOf, priceAt, type Rates } from "../prices/rates.ts";
import { type Counts, FLAGS } from "../usage-row.ts";
import type { CountedUsage } from "./counted-usage.ts";

export interface ExplainedRow {
  /** ISO 8601; null if unknown. */
  readonly at: string | null;
  readonly model: string;
  /** The session or subagent in whose log it is. */
  readonly file: string;
  /** As recorded. Of a response that counts, the largest of all its rows. */
  readonly counts: Counts;
  /** US dollars; null if the price is unknown, 0 if the row does not count. */
  readonly cost: number | null;
  readonly recorded: number | null;
  /** Why it does not count; null: it does. */
  readonly ignored: string | null;
  /** How it was priced. */
  readonly notes: readonly string[];
}

export function explainSession(usage: CountedUsage, session: string): ExplainedRow[] {
  const { ledger } = usage;
  const explained: ExplainedRow[] = [];
  const seen = new Set<number>();
  readPacks(ledger.directory, 0, ({ files, models, rowCount, rows: bytes }) => {
    let from = 0;
    let rows: Columns | null = null;
    for (const packedFile of files) {
      const to = from + packedFile.rows;
      const file = ledger.known(packedFile.root, packedFile.path);
      if (file !== undefined && usage.sessionOf(file) === session) {
        rows ??= columnsOf(bytes, rowCount);
        for (let row = from; row < to; row++) {
          explained.push(explainRow(usage, rows, row, models, file, seen));
        }
      }
      from = to;
    }
  });
  return explained;
}

function columnsOf(bytes: Uint8Array, count: number): Columns {
  const rows = new Columns(Math.max(1, count));
  rows.addBytes(bytes, count);
  return rows;
}

type File = CountedUsage["ledger"]["files"][number];

function explainRow(
  ...[usage, rows, row, models, file, seen]: [
    CountedUsage,
    Columns,
    number,
    readonly string[],
    File,
    Set<number>,
  ]
): ExplainedRow {
  const { ledger } = usage;
  const { keyHigh, keyLow, request } = rows;
  const counted = ledger.find(keyHigh[row] ?? 0, keyLow[row] ?? 0, request[row] ?? 0);
  const ignored = whyIgnored(usage, rows, row, file, counted, seen);
  const [of, at] = ignored === null ? [ledger.rows, counted] : [rows, row];
  const rates = ignored === null ? usage.ratesOf(counted) : null;
  const cost = usage.costOf(counted);
  const ms = of.at[at] ?? Number.NaN;
  const recorded = of.recorded[at] ?? Number.NaN;
  return {
    at: Number.isNaN(ms) ? null : new Date(ms).toISOString(),
    model: models[rows.model[row] ?? 0] ?? "",
    file: file.id,
    counts: Object.fromEntries(
      COUNTS.map((name) => [name, of[name][at] ?? 0]),
    ) as unknown as Counts,
    cost: ignored !== null ? 0 : Number.isNaN(cost) ? null : cost,
    recorded: Number.isNaN(recorded) ? null : recorded,
    ignored,
    notes: ignored === null ? notesOf(of, at, rates) : [],
  };
}

function whyIgnored(
  ...[{ ledger }, rows, row, file, counted, seen]: [
    CountedUsage,
    Columns,
    number,
    File,
    number,
    Set<number>,
  ]
): string | null {
  if (ledger.rows.has(counted, FLAGS.duplicate)) {
    return `repeats the beginning of ${file.replays ?? "another session"}`;
  }
  const nested = rows.has(row, FLAGS.nested) ? "a subagent's progress: " : "";
  const owner = ledger.fileOf(counted);
  if (owner.index !== file.index) return `${nested}same response as in ${owner.id}`;
  if (seen.has(counted)) return `${nested}same response again in this file`;
  seen.add(counted);
  return null;
}

function notesOf(rows: Columns, row: number, rates: Rates | null): string[] {
  const notes: string[] = [];
  const has = (flag: keyof typeof FLAGS) => rows.has(row, FLAGS[flag]);
  if (rates !== null) {
    const context = COUNTS.reduce((sum, name) => {
      return name === "output" || name === "reasoning" ? sum : sum + (rows[name][row] ?? 0);
    }, 0);
    const input = priceAt(rates.input, context);
    notes.push(`$${input} in, $${priceAt(rates.output, context)} out per million`);
    if (input !== priceAt(rates.input, 0)) notes.push("long context");
    const factor = factorOf(rows.flags[row] ?? 0, rates);
    if (factor !== 1) notes.push(`times ${factor}`);
    if (has("fast") && rates.fast === undefined) notes.push("fast, whose price is not known");
  }
  if (has("batch")) notes.push("batch");
  if (has("implausible")) notes.push("a count that cannot be right, as recorded");
  return notes;
}
