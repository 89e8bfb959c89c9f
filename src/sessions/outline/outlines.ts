/**
 * Outlines: the outline of each session that is being read: computed once, in the background, and
 * continued from where it was when the log has grown.
 *
 * - A request waits a little; then it is answered with what is known so far, and `isComplete` and
 *   `read` say how far that is.
 * - A log that was rewritten or cut is read again from its start: the bytes before the place reached
 *   are compared.
 * - The outlines of the last few sessions are kept, each of bounded size
 *   (sessions/outline/outline-fold.ts).
 */

import { setImmediate as nextTask } from "node:timers/promises";
import type { Host } from "../../core/base/host.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { type LineMemory, listedAside } from "../../dialects/facets/reading.ts";
import { lookAtLog } from "../catalog/pages.ts";
import { SessionWindow } from "../list/session-window.ts";
import type { Session } from "../store/session.ts";
import { type Exchange, OutlineFold, type OutlineMark } from "./outline-fold.ts";
import { AgentCalls, type FoldedCalls } from "./threads.ts";

export interface OutlinesOptions {
  readonly host: Host;
  /** Outlines kept in memory. */
  readonly outlinesMax: number;
  /** How long a request waits for an outline that is being computed. */
  readonly waitMs: number;
  /** Limits how many read at once. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

interface Progress {
  /** Of the whole session, as far as it was read. */
  readonly tokens: number | null;
  readonly spend: number | null;
  /** Where the next part begins; null: after the last one known. */
  readonly next: number | null;
  readonly read: number;
  readonly end: number;
  readonly isComplete: boolean;
  readonly isCut: boolean;
}

/** A part of an outline, from an offset on. */
export interface OutlinePart extends Progress {
  readonly exchanges: readonly Exchange[];
  readonly marks: readonly OutlineMark[];
}

/** Exchanges as numbers: one in each list for each of them. */
export interface ExchangeNumbers extends Progress {
  readonly columns: Readonly<Record<keyof typeof COLUMNS | "edits" | "files", readonly number[]>>;
  /** The first is what comes before the first prompt. */
  readonly isBefore: boolean;
}

export interface PartRange {
  readonly from: number;
  readonly limit: number;
  readonly reads?: boolean;
}

const PIECE = { entriesMax: 2_000, bytesMax: 1024 * 1024 };
/** Compared to see whether the log is still the same. */
const TAIL_BYTES = 256;

export class Outlines {
  readonly #options: OutlinesOptions;
  readonly #buildings = new Map<string, Building>();
  readonly #stopping = new AbortController();

  constructor(options: OutlinesOptions) {
    this.#options = options;
  }

  /** At most `limit` prompts and marks from an offset on. `reads`: with files that were read. */
  async part(session: Session, range: PartRange): Promise<OutlinePart> {
    const building = this.#buildingOf(keyOf(session));
    const reading = building.refresh(this.#options, session, this.#stopping.signal);
    const isDone = await withinMs(this.#options.waitMs, reading);
    return partOf(building, range, isDone);
  }

  /** At most `limit` exchanges from an offset on, without the first if nothing is in it. */
  async exchanges(session: Session, range: PartRange): Promise<ExchangeNumbers> {
    const building = this.#buildingOf(keyOf(session));
    const reading = building.refresh(this.#options, session, this.#stopping.signal);
    const isDone = await withinMs(this.#options.waitMs, reading);
    return numbersOf(building, range, isDone);
  }

  /** The calls that started subagents, as far as the log was read. */
  async agentCalls(session: Session): Promise<FoldedCalls> {
    const { isComplete } = await this.part(session, { from: 0, limit: 0 });
    return { agents: this.#buildingOf(keyOf(session)).agents, isComplete };
  }

  close(): void {
    this.#stopping.abort();
    this.#buildings.clear();
  }

  /** The last used is kept longest. */
  #buildingOf(key: string): Building {
    const building = this.#buildings.get(key) ?? new Building();
    this.#buildings.delete(key);
    this.#buildings.set(key, building);
    for (const [oldest, { isRunning }] of this.#buildings) {
      if (this.#buildings.size <= this.#options.outlinesMax) break;
      if (!isRunning) this.#buildings.delete(oldest);
    }
    return building;
  }
}

function keyOf({ dialect, path }: Session): string {
  return `${dialect.name} ${path}`;
}

/** The outline of one session, as far as its log was read. */
class Building {
  fold = new OutlineFold();
  agents = new AgentCalls({});
  read = 0;
  end = 0;
  #memory: LineMemory | undefined;
  #tail: Buffer = Buffer.alloc(0);
  #seen = "";
  #running: Promise<void> | null = null;

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Reads what is new. One reading at a time. */
  refresh(options: OutlinesOptions, session: Session, signal: AbortSignal): Promise<void> {
    this.#running ??= this.#readOn(options, session, signal).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #readOn(
    { host, run }: OutlinesOptions,
    session: Session,
    signal: AbortSignal,
  ): Promise<void> {
    const { dialect, id } = session;
    const now = lookAtLog(session.root, session.logId, dialect.naming.layout);
    const seen = `${now?.size} ${now?.mtimeMs}`;
    if (seen === this.#seen && this.read >= this.end && this.read > 0) return;
    const window = await SessionWindow.open(host, session);
    try {
      const grows = (dialect.program?.changes ?? "grows") === "grows";
      if (!grows || !(await this.#continues(window))) this.#restart(dialect);
      this.end = window.end;
      while (this.read < window.end && !signal.aborted) {
        const piece = await run(() => window.after(this.read, PIECE, this.#memory));
        if (piece.length === 0) break;
        for (const { entry, fault, start } of piece) {
          if (entry === null) {
            this.fold.addBadLine(start, fault ?? "unknown");
            continue;
          }
          this.fold.add(entry, start, listedAside(dialect.reading, entry.native, id));
          this.agents.add(entry, start);
        }
        this.read = piece.at(-1)?.end ?? this.read;
        await nextTask();
      }
      this.#tail = await window.log.bytes(Math.max(0, this.read - TAIL_BYTES), this.read);
      this.#seen = seen;
    } finally {
      window.close();
    }
  }

  async #continues({ log, end }: SessionWindow): Promise<boolean> {
    if (this.read === 0 || end < this.read) return false;
    const tail = await log.bytes(Math.max(0, this.read - TAIL_BYTES), this.read);
    return tail.equals(this.#tail);
  }

  #restart({ reading }: Dialect): void {
    this.fold = new OutlineFold(reading);
    this.agents = new AgentCalls(reading);
    this.read = 0;
    this.#memory = reading.remembers?.();
  }
}

function partOf(
  building: Building,
  { from, limit, reads: isWithReads = false }: PartRange,
  isDone: boolean,
): OutlinePart {
  const { fold } = building;
  const { exchanges, marks } = fold;
  const reads = isWithReads ? fold.reads : [];
  const [a, b, c] = [firstFrom(exchanges, from), firstFrom(marks, from), firstFrom(reads, from)];
  // Each list is in the order of the log: take the first `limit` of them together.
  let [i, j, k] = [a, b, c];
  const nearest = () => Math.min(startOf(exchanges, i), startOf(marks, j), startOf(reads, k));
  for (let left = limit; left > 0 && nearest() < Infinity; left--) {
    if (startOf(exchanges, i) === nearest()) i++;
    else if (startOf(marks, j) === nearest()) j++;
    else k++;
  }
  // All marks of a line come together: a page begins at an offset.
  const last = Math.max(
    ...[exchanges[i - 1], marks[j - 1], reads[k - 1]].map((at) => at?.start ?? 0),
  );
  while (marks[j]?.start === last) j++;
  while (reads[k]?.start === last) k++;
  const next = nearest();
  const files = reads.slice(c, k);
  const all = [...marks.slice(b, j), ...files];
  if (files.length > 0) all.sort((one, two) => one.start - two.start || one.part - two.part);
  return {
    exchanges: exchanges.slice(a, i),
    marks: all,
    ...progressOf(building, next, isDone),
  };
}

function progressOf({ fold, read, end }: Building, next: number, isDone: boolean): Progress {
  const { tokens, spend, isCut } = fold;
  return {
    tokens,
    spend,
    next: next === Infinity ? null : next,
    read: Math.min(read, end),
    end,
    isComplete: isDone && read >= end,
    isCut,
  };
}

const COLUMNS = {
  start: ({ start }: Exchange) => start,
  atMs: ({ at }: Exchange) => Date.parse(at ?? "") || 0,
  tookMs: ({ at, until }: Exchange) =>
    Math.max(0, Date.parse(until ?? "") - Date.parse(at ?? "")) || 0,
  spend: ({ spend }: Exchange) => spend ?? 0,
  calls: ({ calls }: Exchange) => calls,
  failures: ({ failures }: Exchange) => failures,
};

/** Edits and files are those of the marks, which are what an outline lists. */
function numbersOf(building: Building, { from, limit }: PartRange, isDone: boolean) {
  const { exchanges, marks } = building.fold;
  const [first] = exchanges;
  const isEmpty = first?.text === null && first.tokens === null && first.calls + first.failures < 1;
  const at = Math.max(isEmpty ? 1 : 0, firstFrom(exchanges, from));
  const page = exchanges.slice(at, at + limit);
  const next = startOf(exchanges, at + page.length);
  const edited = page.map((exchange, n) => {
    const until = startOf(exchanges, at + n + 1);
    const ownLines: string[] = [];
    for (let mark = firstFrom(marks, exchange.start); startOf(marks, mark) < until; mark++) {
      const { kind, file, tool } = marks[mark] ?? {};
      if (kind === "edit") ownLines.push(file ?? tool ?? "");
    }
    return { edits: ownLines.length, files: new Set(ownLines).size };
  });
  const columns = Object.entries(COLUMNS).map(([name, of]) => [name, page.map(of)]);
  return {
    columns: {
      ...(Object.fromEntries(columns) as Record<keyof typeof COLUMNS, number[]>),
      edits: edited.map(({ edits }) => edits),
      files: edited.map(({ files }) => files),
    },
    isBefore: page[0]?.text === null,
    ...progressOf(building, next, isDone),
  };
}

function startOf(items: readonly { readonly start: number }[], index: number): number {
  return items[index]?.start ?? Infinity;
}

/** The index of the first item at or after an offset. */
function firstFrom(items: readonly { readonly start: number }[], offset: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether the work was done in time; it continues otherwise. Throws as the work does. */
async function withinMs(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {}); // The next request reads again, and reports it.
  }
}
