/**
 * Explain: every row of a session that was counted or left out, in the order of its logs, and why.
 *
 * Rows are read from the logs again. Responses that are no longer in a log are taken from the packs
 * of the ledger, which have each of them once per file and count.
 */

import type { Host } from "../../core/base/host.ts";
import { guardedPlace } from "../../dialects/files/guard-store.ts";
import { registryEntry } from "../../dialects/registry.ts";
import { COUNTS, Columns, rowTokens } from "../columns.ts";
import type { UsageLedger } from "../ledger/ledger.ts";
import { readPacks } from "../ledger/ledger-file.ts";
import type { LedgerFile } from "../ledger/pack.ts";
import { factorOf, priceAt, type Rates } from "../prices/rates.ts";
import { KeySet, traceLog } from "../prompts/trace.ts";
import { FLAGS, isTooLow, searchesIn, type TokenCounts } from "../usage-row.ts";
import type { CountedUsage } from "./counted-usage.ts";

export interface ExplainedRow {
  /** ISO 8601; null if unknown. */
  readonly at: string | null;
  readonly model: string;
  /** The session or subagent in whose log it is. */
  readonly file: string;
  /** As recorded. Of a response that counts, the largest of all its rows. */
  readonly counts: TokenCounts;
  /** US dollars; null if the price is unknown, 0 if the row does not count. */
  readonly cost: number | null;
  readonly recorded: number | null;
  /** Why it does not count; null: it does. */
  readonly ignored: string | null;
  /** How it was priced. */
  readonly notes: readonly string[];
}

type File = CountedUsage["ledger"]["files"][number];

/** A row with a usage, in a log or in a pack. */
interface FoundRow {
  readonly file: File;
  readonly rows: Columns;
  readonly row: number;
  readonly model: string;
  /** The response that it is a row of, in the ledger. */
  readonly counted: number;
  readonly isRepeat: boolean;
  readonly isInLog: boolean;
}

export async function explainSession(
  host: Host,
  usage: CountedUsage,
  session: string,
): Promise<ExplainedRow[]> {
  const { ledger } = usage;
  usage.counting(); // Marks what forks repeat.
  const files = ledger.files.filter((file) => usage.sessionOf(file) === session);
  const foundRows: FoundRow[] = [];
  for (const file of files) foundRows.push(...(await rowsInLog(host, usage, file)));
  foundRows.push(...rowsInPacks(usage, new Set(files.map(({ index }) => index)), foundRows));
  const best = new Map<number, FoundRow>();
  const times = new Map<number, number>();
  for (const each of foundRows) {
    if (each.isRepeat || ledger.ownerOf(each.counted) !== each.file.index) continue;
    times.set(each.counted, (times.get(each.counted) ?? 0) + 1);
    const bestRow = best.get(each.counted);
    if (bestRow === undefined || replaces(each, bestRow)) best.set(each.counted, each);
  }
  return foundRows.map((each) => {
    const isBest = best.get(each.counted) === each;
    return explainRow(usage, each, isBest, times.get(each.counted) ?? 1);
  });
}

/** Which of two rows of a response is shown as the one that counts. */
function replaces(one: FoundRow, other: FoundRow): boolean {
  if (one.rows.has(one.row, FLAGS.lastWins)) return true;
  return rowTokens(one.rows, one.row) > rowTokens(other.rows, other.row);
}

async function rowsInLog(host: Host, usage: CountedUsage, file: File): Promise<FoundRow[]> {
  const log = await logRows(host, file);
  if (log === null) return [];
  const { recorded: rows, models, repeats } = log;
  return Array.from({ length: rows.length }, (_, row) => {
    const model = models[rows.model[row] ?? 0] ?? "";
    const counted = countedAs(usage, rows, row);
    return { file, rows, row, model, counted, isRepeat: repeats.has(row), isInLog: true };
  }).filter(({ counted }) => counted >= 0); // What was written after the count.
}

/** The rows of these files whose responses are not in their logs. */
function rowsInPacks(
  usage: CountedUsage,
  wanted: ReadonlySet<number>,
  inLogs: readonly FoundRow[],
): FoundRow[] {
  const { ledger } = usage;
  const rowKeys = new Set(inLogs.map(({ file, counted }) => `${file.index} ${counted}`));
  const foundRows: FoundRow[] = [];
  readPacks(ledger.directory, 0, ({ files, models, rowCount, rows: bytes }) => {
    let from = 0;
    let rows: Columns | null = null;
    for (const packedFile of files) {
      const to = from + packedFile.rows;
      const file = ledger.known(packedFile.root, packedFile.path);
      if (file !== undefined && wanted.has(file.index)) {
        rows ??= columnsOf(bytes, rowCount);
        for (let row = from; row < to; row++) {
          const counted = countedAs(usage, rows, row);
          if (counted < 0 || rowKeys.has(`${file.index} ${counted}`)) continue;
          const model = models[rows.model[row] ?? 0] ?? "";
          foundRows.push({ file, rows, row, model, counted, isRepeat: false, isInLog: false });
        }
      }
      from = to;
    }
  });
  return foundRows;
}

function columnsOf(bytes: Uint8Array, count: number): Columns {
  const rows = new Columns(Math.max(1, count));
  rows.addBytes(bytes, count);
  return rows;
}

function countedAs({ ledger }: CountedUsage, rows: Columns, row: number): number {
  return ledger.find(rows.keyHigh[row] ?? 0, rows.keyLow[row] ?? 0, rows.request[row] ?? 0);
}

function explainRow(
  usage: CountedUsage,
  found: FoundRow,
  isBest: boolean,
  times: number,
): ExplainedRow {
  const { ledger } = usage;
  const { file, counted, model } = found;
  const ignored = whyIgnored(ledger, found, isBest);
  const [of, at] = ignored === null ? [ledger.rows, counted] : [found.rows, found.row];
  const cost = usage.costOf(counted);
  const ms = of.at[at] ?? Number.NaN;
  const recorded = of.recorded[at] ?? Number.NaN;
  const notes = ignored === null ? notesOf(of, at, usage.ratesOf(counted)) : [];
  if (ignored === null && times > 1) notes.push(`the largest of each count in ${times} rows`);
  if (!found.isInLog) notes.push("no longer in a log");
  return {
    at: Number.isNaN(ms) ? null : new Date(ms).toISOString(),
    model,
    file: file.id,
    counts: Object.fromEntries(
      COUNTS.map((name) => [name, of[name][at] ?? 0]),
    ) as unknown as TokenCounts,
    cost: ignored !== null ? 0 : Number.isNaN(cost) ? null : cost,
    recorded: Number.isNaN(recorded) ? null : recorded,
    ignored,
    notes,
  };
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
  const flags = rows.flags[row] ?? 0;
  const searches = searchesIn(flags);
  if (searches > 0) {
    const each = rates?.webSearch;
    const price = each === undefined ? "whose price is not known" : `$${each} per 1,000`;
    notes.push(`${searches} web ${searches === 1 ? "search" : "searches"}, ${price}`);
  }
  if (has("batch")) notes.push("batch");
  if (has("implausible")) notes.push("a count that cannot be right, as recorded");
  if (has("unknownInput")) notes.push("its input was not recorded");
  if (isTooLow(flags, rows.output[row] ?? 0)) {
    notes.push("fewer output tokens than its text has, as recorded");
  }
  return notes;
}

/** Every row of a log that has a usage, as it is in the log: the ledger has each response once. */
class LogRows extends KeySet {
  readonly recorded = new Columns();
  /** Rows that repeat a total of the session, and so add nothing. */
  readonly repeats = new Set<number>();

  override put(): void {
    super.put();
    const row = this.recorded.add();
    this.recorded.copy(row, this.next, 0);
    const key = this.responses.at(-1);
    this.recorded.keyHigh[row] = key?.keyHigh ?? 0;
    this.recorded.keyLow[row] = key?.keyLow ?? 0;
  }

  override repeat(): void {
    this.repeats.add(this.recorded.length);
    this.put();
  }
}

/** Null: the log is gone, or cannot be read. */
async function logRows(host: Host, file: LedgerFile): Promise<LogRows | null> {
  const rows = new LogRows(file.scope);
  try {
    await traceLog(host, file, rows);
  } catch {
    return null; // What was counted of it is in the ledger.
  }
  return rows;
}

interface RowToJudge {
  readonly file: LedgerFile;
  readonly rows: Columns;
  readonly row: number;
  /** The response that it is a row of, in the ledger. */
  readonly counted: number;
  /** It repeats the total of the session so far. */
  readonly isRepeat: boolean;
}

/** Null: it counts. `isBest`: of the rows of its response, it is the one that counts. */
function whyIgnored(ledger: UsageLedger, found: RowToJudge, isBest: boolean): string | null {
  const { file, rows, row, counted } = found;
  if (found.isRepeat) return "the same total again: nothing was added";
  if (ledger.rows.has(counted, FLAGS.duplicate)) {
    return `the same as in ${file.replays ?? "another session"}; counted there`;
  }
  if (isBest) return null;
  const nested = rows.has(row, FLAGS.nested) ? "a subagent's progress: " : "";
  const same = sameIn(file, rows.has(row, FLAGS.ofSession));
  const owner = ledger.fileOf(counted);
  if (owner.index !== file.index) return `${nested}${same} as in ${placeOf(owner)}; counted there`;
  if (rows.has(row, FLAGS.lastWins)) return `${nested}${same}; the last one is counted`;
  return `${nested}${same}; the largest of each count is counted`;
}

/** What makes two rows one response. */
function sameIn({ dialect }: LedgerFile, isOfSession: boolean): string {
  const shape = registryEntry(dialect).usageIn;
  if (shape === "totals") return "same total";
  return shape === "messages" && !isOfSession ? "same message id" : "same message";
}

function placeOf({ id, root }: LedgerFile): string {
  return guardedPlace(root) === null ? id : `the guard's copy of ${id}`;
}
