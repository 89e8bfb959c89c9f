/** `verbatim usage`: what all agents on this machine used, and what it cost. */

import { nodeHost } from "../../core/base/node-host.ts";
import { loadDialects } from "../../dialects/all.ts";
import type { ProjectFilter } from "../../sessions/catalog/page.ts";
import { type FoundStore, findStores } from "../../sessions/list/find-stores.ts";
import { projectFilter } from "../../sessions/list/whose.ts";
import type { LedgerFile } from "../../usage/ledger/pack.ts";
import { openUsage, sumsAgain } from "../../usage/open-usage.ts";
import {
  agentNames,
  type FileFilter,
  fileFilter,
  filesOf,
  machineNameOf,
  userNameOf,
} from "../../usage/report/agent-choice.ts";
import { type CountedUsage, sessionNameIn } from "../../usage/report/counted-usage.ts";
import {
  Days,
  dayNumber,
  type Period,
  periodsBetween,
  periodText,
  UNKNOWN,
} from "../../usage/report/days.ts";
import { type DayRange, type GroupSource, groupSource } from "../../usage/report/group-source.ts";
import { byFile, type Group, groupBy, totalOf } from "../../usage/report/groups.ts";
import { type Io, type Run, textOption, UsageError } from "../command/command.ts";
import { REPORTS, readingWhereOf } from "../command/options.ts";
import { timeOption } from "../command/time-option.ts";
import { dollars } from "./usage-numbers.ts";
import type { SessionName } from "./usage-text.ts";

export async function runUsage(run: Run): Promise<number> {
  const [report = "glance"] = run.args;
  if (report === "statusline") {
    return printStatus(run.io);
  }
  if (report !== "glance" && !(REPORTS as readonly string[]).includes(report)) {
    const { nearest } = await import("../../core/base/choice.ts");
    const meant = nearest(report, REPORTS);
    const hint = meant === null ? "" : `did you mean ${meant}? `;
    throw new UsageError(`there is no report ${report}; ${hint}Choose ${REPORTS.join(", ")}`);
  }
  if (run.options.json === true && run.options.csv === true) {
    throw new UsageError("choose --json or --csv");
  }
  return printUsage(run, report as UsageReport);
}

/** With other options than main.ts expects. */
async function printStatus(io: Run["io"]): Promise<number> {
  const { statusLine } = await import("./statusline.ts");
  const pieces: Buffer[] = [];
  if (!io.input.isTTY) {
    for await (const piece of io.input) pieces.push(Buffer.from(piece as Uint8Array));
  }
  const { line, error } = statusLine(Buffer.concat(pieces).toString(), Date.now());
  io.out(line);
  if (error !== null) io.err(`error: ${error}`);
  return error === null ? 0 : 1;
}

async function printUsage(run: Run, report: UsageReport): Promise<number> {
  const { options, io } = run;
  const project = textOption("--project", options.project);
  const where = readingWhereOf(options);
  return openReports({
    stores: (where.root ?? where.dialect) === undefined ? undefined : await findStores(where),
    io,
    report,
    since: textOption("--since", options.since),
    until: textOption("--until", options.until),
    agent: textOption("--agent", options.agent),
    isProject: project === undefined ? undefined : projectFilter(project, process.cwd()),
    isNoted: await notedFiles(run),
    model: textOption("--model", options.model)?.toLowerCase(),
    machine: textOption("--machine", options.machine),
    user: textOption("--user", options.user),
    zone: textOption("--tz", options.tz),
    format: options.json === true ? "json" : options.csv === true ? "csv" : "text",
    isCompact: options.compact === true,
    explain: textOption("--explain", options.explain),
    budget: textOption("--budget", options.budget),
    isRepriced: options.reprice === true,
  });
}

/** Files of sessions with the user's tag or star, if the filters name one. */
async function notedFiles(run: Run): Promise<FileFilter | undefined> {
  if (run.options.tag === undefined && run.options.starred !== true) return undefined;
  const { notedSessions } = await import("./chosen-sessions.ts");
  return filesOf(await notedSessions(run));
}

export type UsageReport = (typeof REPORTS)[number] | "glance";

export interface ReportOptions {
  /** Only of these. */
  readonly stores: readonly FoundStore[] | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly agent: string | undefined;
  readonly isProject: ProjectFilter | undefined;
  readonly isNoted: FileFilter | undefined;
  readonly model: string | undefined;
  readonly machine: string | undefined;
  readonly user: string | undefined;
  readonly io: Io;
  readonly report: UsageReport;
  readonly zone: string | undefined;
  readonly format: "text" | "json" | "csv";
  readonly isCompact: boolean;
  readonly explain: string | undefined;
  readonly budget: string | undefined;
  readonly isRepriced: boolean;
}

const PERIODS: Partial<Record<UsageReport, Period>> = {
  daily: "day",
  weekly: "week",
  monthly: "month",
};
const FAILURES_LISTED_MAX = 5;

export async function openReports(options: ReportOptions): Promise<number> {
  const { io, budget: given } = options;
  const budget = given === undefined ? null : parseBudget(given);
  const days = new Days(options.zone);
  const nowMs = Date.now();
  const range = rangeOf(options, days, nowMs);
  const failures: string[] = [];
  const opened = await openUsage(nodeHost, {
    cwd: process.cwd(),
    nowMs,
    ...(options.stores && { stores: options.stores }),
    onProgress: (done, total) => io.progress(`counting ${done} of ${total} sessions`),
    onFailure: (id) => failures.push(id),
  });
  const { usage, book, isKept } = opened;
  io.progress(null);
  tellFailures(failures, io);
  if (!isKept) io.err("what was counted could not be kept, and is counted again the next time");
  if (options.isRepriced) {
    const changed = await book.reprice(usage.ledger.models);
    const what = changed.length === 0 ? "no price has changed" : changed.join(", ");
    io.err(`repriced with the newest table: ${what}`);
    usage.forgetRates();
  }
  const sums = options.isRepriced ? sumsAgain(usage, nowMs) : opened.sums;
  if (options.explain !== undefined) {
    const { explain } = await import("./explain.ts");
    return explain(usage, book, options.explain, options.format === "json", io);
  }
  const source = groupSource(usage, sums, days, options);
  if (budget !== null) return overBudget(source, days, budget, nowMs, io);
  await print({ usage, source, days, range, nowMs }, options);
  return 0;
}

/** What a report is made from. */
interface ReportSource {
  readonly usage: CountedUsage;
  readonly source: GroupSource;
  readonly days: Days;
  readonly range: DayRange;
  readonly nowMs: number;
}

async function print(counted: ReportSource, options: ReportOptions): Promise<void> {
  const { source, days, range, nowMs } = counted;
  const { report, format, io } = options;
  if (report === "glance" && format === "text") {
    const { printGlance } = await import("./glance.ts");
    return printGlance(source, days, range, nowMs, io);
  }
  const rows = await reportRows(counted, options);
  const total = totalOf(rows);
  const printing = await import("./usage-text.ts");
  const named = report === "glance" ? "daily" : report;
  const names = named === "session" ? await sessionNames(counted.usage, rows, options) : null;
  const { zone } = days;
  if (format === "json") await io.print(printing.reportJson(named, rows, total, { zone, names }));
  else if (format === "csv") await io.print(printing.reportCsv(named, rows, names));
  else {
    await printing.printReport(named, rows, total, { isCompact: options.isCompact, names }, io);
  }
}

/** What people call the sessions; on a terminal, short ids. */
async function sessionNames(
  usage: CountedUsage,
  rows: readonly Group[],
  { io, format }: ReportOptions,
): Promise<Map<string, SessionName>> {
  const { sessionTitles } = await import("../../history/session-facts.ts");
  const { shortIds } = await import("./session-table.ts");
  const keys = new Set(rows.map(({ key }) => key));
  const titled = await sessionTitles(nodeHost, usage, keys, (done, total) => {
    io.progress(`reading the titles of ${done} of ${total} sessions`);
  });
  io.progress(null);
  const files = usage.ledger.files.filter(({ parent }) => parent === null);
  await loadDialects(files.map(({ dialect }) => dialect));
  const places = new Map(files.map((file) => [file, { id: file.id, place: file }]));
  const short = io.isTerminal && format === "text" ? shortIds([...places.values()]) : null;
  return new Map(
    [...keys].map((key) => {
      const session = titled.get(key);
      const place = session && places.get(session.file);
      const id = (place && short?.get(place)) ?? sessionNameIn(key);
      return [key, { id, title: session?.title ?? null }];
    }),
  );
}

async function reportRows(
  { usage, source, days, range, nowMs }: ReportSource,
  options: ReportOptions,
): Promise<Group[]> {
  const { report, agent, model } = options;
  const period = report === "glance" ? "day" : PERIODS[report];
  if (period !== undefined) return withEmpty(source.byPeriod(range, period), days, period);
  const byRows = (textOf: (file: LedgerFile) => string) => {
    const isWanted = fileFilter(options) ?? (() => true);
    const rows = usage.chosen(days, { ...range, isWanted, model });
    return groupBy(usage, rows, byFile(usage, textOf));
  };
  switch (report) {
    case "blocks":
      // Plans that are limited by blocks are Anthropic's; another agent must be asked for.
      return source.blocks(range, nowMs, agent !== undefined);
    case "session":
      return byLast(byRows((file) => usage.sessionKeyOf(file)));
    case "project":
      return byCost(byRows((file) => usage.projectOf(file)));
    case "machine":
      return byCost(byRows(machineNameOf));
    case "user":
      return byCost(byRows(userNameOf));
    case "directive": {
      const names = await agentNames(
        nodeHost,
        usage.ledger.files.filter(fileFilter(options) ?? Boolean),
      );
      return byCost(byRows(({ index }) => names[index] ?? ""));
    }
    case "model":
      return byCost(source.byModel(range));
    default:
      return byCost(source.byAgent(range));
  }
}

function byCost(groups: Group[]): Group[] {
  return groups.sort((a, b) => b.cost - a.cost || b.total - a.total);
}

function byLast(groups: Group[]): Group[] {
  return groups.sort((a, b) => (a.lastAt ?? 0) - (b.lastAt ?? 0));
}

/** In order, with the periods between that have none. */
function withEmpty(groups: readonly Group[], days: Days, period: Period): Group[] {
  const known = new Map(groups.map((group) => [group.key, group]));
  const times = groups.flatMap(({ firstAt, lastAt }) => [firstAt ?? [], lastAt ?? []].flat());
  if (times.length === 0) return [...groups];
  const [first, last] = [Math.min(...times), Math.max(...times)].map((ms) => days.numberOf(ms));
  const none = totalOf([]);
  const keys = periodsBetween(first ?? 0, last ?? 0, period);
  const inOrder = keys.map((key) => known.get(key) ?? { ...none, key });
  const undated = known.get(UNKNOWN);
  return undated ? [...inOrder, undated] : inOrder;
}

function rangeOf({ since, until }: ReportOptions, days: Days, nowMs: number): DayRange {
  const day = (flag: string, text: string | undefined) => {
    return text === undefined ? undefined : dayIn(flag, text, days, nowMs);
  };
  return { since: day("--since", since), until: day("--until", until) };
}

/** A day as it is named; of a time, the day in the report's time zone. */
function dayIn(flag: string, text: string, days: Days, nowMs: number): string {
  const [, year, month, day] = /^(\d{4})-?(\d\d)-?(\d\d)$/.exec(text) ?? [];
  const found = `${year}-${month}-${day}`;
  if (year !== undefined && !Number.isNaN(dayNumber(found))) return found;
  return days.dayOf(timeOption(flag, text, nowMs).from);
}

function tellFailures(failures: readonly string[], io: Io): void {
  if (failures.length === 0) return;
  const listed = failures.slice(0, FAILURES_LISTED_MAX).join(", ");
  const more = failures.length > FAILURES_LISTED_MAX ? " …" : "";
  io.err(`${failures.length} sessions could not be read and are not counted: ${listed}${more}`);
}

interface Budget {
  readonly amount: number;
  readonly period: Period;
}

const EXIT_OVER = 1;

/** "20/day", "$300/month". */
function parseBudget(text: string): Budget {
  const [, amount, period] = /^\$?(\d+(?:\.\d+)?)\/(day|week|month)$/.exec(text) ?? [];
  if (amount === undefined || period === undefined) {
    throw new UsageError(
      `--budget takes dollars for a day, week or month, such as 20/day, not ${text}`,
    );
  }
  return { amount: Number(amount), period: period as Period };
}

/** Prints what was spent; the exit code is 1 if it is more than the budget. */
function overBudget(
  source: GroupSource,
  days: Days,
  { amount, period }: Budget,
  nowMs: number,
  io: Io,
): number {
  io.goOnUnread(); // The result is the exit code.
  const today = days.dayOf(nowMs);
  const first = periodText(days.numberOf(nowMs), period);
  const since = period === "month" ? `${first}-01` : first;
  const sums = source.total({ since, until: today });
  const spent = sums.cost;
  const isOver = spent > amount;
  const verb = isOver ? "over" : "within";
  io.out(`${dollars(spent)} of ${dollars(amount)} this ${period}: ${verb} budget`);
  if (sums.unpriced > 0) {
    io.err("tokens of models without a known price are not in this; `verbatim usage model`");
  }
  return isOver ? EXIT_OVER : 0;
}
