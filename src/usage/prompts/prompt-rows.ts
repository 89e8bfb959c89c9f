/**
 * Prompt rows: which prompt of a session each response belongs to, what each prompt cost, and the
 * most expensive prompts of all sessions.
 *
 * - A response belongs to the last prompt before its row in the log.
 * - All of a subagent belongs to the prompt that started it: where the log says so, else the last
 *   one before the subagent's first response. A subagent of a subagent belongs where that does.
 * - Every response of the session belongs to one prompt, or to what came before the first. So the
 *   prompts add up to the session.
 */

import type { LedgerFile } from "../ledger/pack.ts";
import { type CountedUsage, sessionNameIn } from "../report/counted-usage.ts";
import { type Group, groupBy } from "../report/groups.ts";
import type { Trace, TracedPrompt } from "./trace.ts";

export interface PromptGroup extends Group {
  /** Null: before the first prompt, or the log is gone. */
  readonly prompt: TracedPrompt | null;
  /** How many subagents it started. */
  readonly subagents: number;
}

/** A session, or a subagent with those that it started. */
export interface SessionUsageFiles {
  /** What its program calls it. */
  readonly name: string;
  /** Its own log; several if it was copied. */
  readonly own: readonly LedgerFile[];
  readonly subagents: readonly LedgerFile[];
}

const PARENTS_MAX = 32;

export class PromptRows {
  readonly #usage: CountedUsage;
  /** The chosen rows of each file. */
  readonly #ofFile: readonly (readonly number[])[];
  readonly #parents: ReadonlyMap<string, string | null>;

  /** `chosen` are the rows that count. */
  constructor(usage: CountedUsage, chosen: Uint32Array) {
    const { files, owners } = usage.ledger;
    const ofFile = files.map((): number[] => []);
    for (const row of chosen) ofFile[owners[row] ?? 0]?.push(row);
    this.#usage = usage;
    this.#ofFile = ofFile;
    this.#parents = new Map(files.map((file) => [keyOf(file, file.name), file.parent]));
  }

  /** The responses of a session, by their numbers in the ledger. */
  rowsOf({ own, subagents }: SessionUsageFiles): Uint32Array {
    return Uint32Array.from([...own, ...subagents].flatMap(({ index }) => this.#ofFile[index]));
  }

  /** In the order of the log. Without a trace, all is one group. */
  groups(session: SessionUsageFiles, trace: Trace | null): PromptGroup[] {
    const prompts = trace?.prompts ?? [];
    const placed = trace === null ? new Map<number, number>() : this.#placed(trace);
    const rows: number[] = [];
    const numbers: number[] = [];
    const subagents = new Map<number, number>();
    for (const file of session.own) {
      for (const row of this.#ofFile[file.index] ?? []) {
        const at = this.#usage.ledger.rows.at[row] ?? Number.NaN;
        rows.push(row);
        numbers.push(placed.get(row) ?? lastBefore(prompts, at));
      }
    }
    for (const file of session.subagents) {
      const own = this.#ofFile[file.index] ?? [];
      if (own.length === 0) continue;
      const number = this.#startedBy(file, session, trace);
      subagents.set(number, (subagents.get(number) ?? 0) + 1);
      rows.push(...own);
      numbers.push(...own.map(() => number));
    }
    const chosen = Uint32Array.from(rows);
    const grouping = { numbers: () => Int32Array.from(numbers), textOf: String };
    const groups = groupBy(this.#usage, chosen, grouping).map((group) => {
      const number = Number(group.key);
      const prompt = prompts[number] ?? null;
      return { ...group, prompt, subagents: subagents.get(number) ?? 0 };
    });
    return groups.sort((a, b) => (a.prompt?.start ?? -1) - (b.prompt?.start ?? -1));
  }

  /** The number of the prompt of each response whose row is in the log. */
  #placed({ prompts, responses }: Trace): Map<number, number> {
    const { ledger } = this.#usage;
    const placed = new Map<number, number>();
    let number = -1;
    for (const { start, keyHigh, keyLow, request } of responses) {
      while ((prompts[number + 1]?.start ?? Infinity) <= start) number++;
      const row = ledger.find(keyHigh, keyLow, request);
      if (row >= 0 && !placed.has(row)) placed.set(row, number);
    }
    return placed;
  }

  #startedBy(file: LedgerFile, { name }: SessionUsageFiles, trace: Trace | null): number {
    if (trace === null) return -1;
    let direct = file.name;
    for (let n = 0; n < PARENTS_MAX; n++) {
      const parent = this.#parents.get(keyOf(file, direct));
      if (parent === undefined || parent === null || parent === name) break;
      direct = parent;
    }
    const start = trace.started.get(direct);
    if (start === undefined) return lastBefore(trace.prompts, file.firstAt);
    return trace.prompts.findLastIndex((prompt) => prompt.start <= start);
  }
}

function lastBefore(prompts: readonly TracedPrompt[], at: number): number {
  return prompts.findLastIndex((prompt) => prompt.at <= at);
}

function keyOf({ dialect }: LedgerFile, name: string): string {
  return `${dialect}\0${name}`;
}

/** The files of each session in the ledger, by `sessionKeyOf`. */
export function sessionsOf(usage: CountedUsage): Map<string, SessionUsageFiles> {
  const sessions = new Map<string, { own: LedgerFile[]; subagents: LedgerFile[] }>();
  for (const file of usage.ledger.files) {
    const key = usage.sessionKeyOf(file);
    const known = sessions.get(key) ?? { own: [], subagents: [] };
    sessions.set(key, known);
    (file.name === sessionNameIn(key) ? known.own : known.subagents).push(file);
  }
  return new Map(
    Array.from(sessions, ([key, files]) => [key, { name: sessionNameIn(key), ...files }]),
  );
}

/** The session of a log, or the subagent with those that it started. */
export function sessionAt(usage: CountedUsage, dialect: string, root: string, id: string) {
  const { files } = usage.ledger;
  const file = files.find((each) => each.id === id && each.root === root);
  if (file === undefined || file.dialect !== dialect) return null;
  const ofSame = files.filter((each) => each.dialect === dialect);
  const names = new Set([file.name]);
  const subagents = new Set<LedgerFile>();
  // Subagents may start subagents: until no more are found.
  for (let size = -1; size < subagents.size; ) {
    size = subagents.size;
    for (const each of ofSame) {
      if (each.parent === null || !names.has(each.parent) || names.has(each.name)) continue;
      subagents.add(each);
    }
    for (const each of subagents) names.add(each.name);
  }
  const own = ofSame.filter(({ name }) => name === file.name);
  return { name: file.name, own, subagents: [...subagents], file };
}

interface DearPrompt extends PromptGroup {
  readonly session: SessionUsageFiles;
}

interface DearestOptions {
  /** Sums of the sessions. */
  readonly groups: readonly Group[];
  readonly sessions: ReadonlyMap<string, SessionUsageFiles>;
  readonly rows: PromptRows;
  readonly limit: number;
  /** Sessions that are read at most. */
  readonly sessionsMax: number;
  /** Null: the log cannot be read, and its prompts are not known. Undefined: stop here. */
  readonly traceOf: (session: SessionUsageFiles) => Promise<Trace | null | undefined>;
  /** Called before each session: lets other work run. */
  readonly pause?: () => Promise<void>;
}

/**
 * The most expensive prompts of all sessions, without reading them all. A prompt costs at most what
 * its session does. Sessions are read by their cost, the highest first, until the next one costs
 * less than the prompts that were found.
 */
export async function dearestPrompts(
  options: DearestOptions,
): Promise<{ readonly prompts: readonly DearPrompt[]; readonly isComplete: boolean }> {
  const { groups, sessions, rows, limit, sessionsMax, traceOf, pause } = options;
  let prompts: DearPrompt[] = [];
  let isComplete = true;
  let read = 0;
  for (const group of [...groups].sort(byCost)) {
    const last = prompts[limit - 1];
    if (last !== undefined && byCost(last, group) <= 0) break;
    const session = sessions.get(group.key);
    if (session === undefined) continue;
    if (++read > sessionsMax) break;
    await pause?.();
    const trace = await traceOf(session);
    if (trace === undefined) {
      isComplete = false;
      break;
    }
    const found = rows.groups(session, trace).filter(({ prompt }) => prompt !== null);
    prompts.push(...found.map((each) => ({ ...each, session })));
    prompts = prompts.sort(byCost).slice(0, limit);
  }
  return { prompts, isComplete };
}

/** The highest cost first; without known prices, the most tokens. */
export function byCost(a: Group, b: Group): number {
  return b.cost - a.cost || b.total - a.total;
}
