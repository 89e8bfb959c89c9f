/**
 * `verbatim scan`: finds keys, passwords and personal data in sessions.
 *
 * Everything printed is masked by the finder and escaped here. Exit code: 1 if anything was found,
 * else 7 if something could not be scanned.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { SessionFind } from "../../evidence/scan/scan-session.ts";
import { type History, historyOf } from "../../history/history.ts";
import { ruleNames, type ScanResult } from "../../history/secrets.ts";
import type { StoreLookup } from "../../sessions/list/find-stores.ts";
import { safeLine } from "../../sessions/render/text.ts";
import { type Io, type Run, textOption, textOptions, UsageError } from "../command/command.ts";
import {
  EXIT_INTERRUPTED,
  INTERRUPTED,
  interruptible,
  progressOn,
} from "../command/interruption.ts";
import { readingWhereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { chosenSessions, hasFilter, tellNoStores } from "../look/chosen-sessions.ts";
import { countText } from "../serve/findings-report.ts";

export async function scanCommand(run: Run): Promise<number> {
  const { args, options, io } = run;
  io.goOnUnread();
  const isFiltered = hasFilter(options);
  checkNames(args, isFiltered || options.all === true);
  const chosen = isFiltered ? await chosenSessions(run, true) : null;
  if (chosen?.length === 0) return 0;
  const asked = {
    names: chosen?.map(({ path }) => path) ?? args,
    where: readingWhereOf(options),
    rules: textOptions("--rule", options.rule) ?? [],
    patterns: textOptions("--pattern", options.pattern) ?? [],
    patternFile: textOption("--patterns", options.patterns),
    isRescan: options.rescan === true,
    isJson: options.json === true,
  };
  return runScan(asked, io);
}

export interface ScanRequest {
  readonly names: readonly string[];
  readonly where: StoreLookup;
  /** Only finds of these are printed; empty: all. */
  readonly rules: readonly string[];
  readonly patterns: readonly string[];
  readonly patternFile: string | undefined;
  readonly isRescan: boolean;
  readonly isJson: boolean;
}

const EXIT_FOUND = 1;
const EXIT_UNSCANNED = 7;
const PATTERN_FILE_BYTES_MAX = 2 ** 20;

export async function runScan(asked: ScanRequest, io: Io): Promise<number> {
  const { names, where, rules, isRescan } = asked;
  const patterns = [...asked.patterns, ...patternsInFile(asked)];
  const report = new Report(asked, io);
  const done = await interruptible(io, async (signal) => {
    const results = historyIn(where, io).scan({
      sessions: names,
      rules,
      patterns,
      rescan: isRescan,
      ...(signal && { signal }),
      onProgress: (done, total) => tell(null, done, total),
    });
    const tell = progressOn(io, "sessions scanned");
    try {
      for await (const result of results) await report.add(result);
    } catch (cause) {
      throw usageOf(cause);
    }
  });
  await report.printValues();
  if (done === INTERRUPTED) return EXIT_INTERRUPTED;
  if (report.isEmpty && names.length === 0) await tellNoStores(where, io);
  return report.end();
}

/** An option that the library refuses is wrong usage of the command. */
function usageOf(cause: unknown): unknown {
  const isOption = cause instanceof VerbatimError && cause.code === "BAD_SETTING";
  return isOption ? new UsageError(cause.message) : cause;
}

function historyIn({ cwd, root, dialect }: StoreLookup, io: Io): History {
  return historyOf(nodeHost, {
    cwd,
    ...(root !== undefined && { roots: [root] }),
    ...(dialect !== undefined && { agents: [dialect] }),
    onWarning: (warning) => io.err(`warning: ${warning}`),
  });
}

function checkNames(names: readonly string[], isChosen: boolean): void {
  if (names.length === 0) return;
  if (names.includes("")) throw new UsageError("name a session: the name given is empty");
  if (isChosen) {
    throw new UsageError("name sessions, or choose them with --all, --agent or another filter");
  }
}

function patternsInFile({ patternFile, where }: ScanRequest): string[] {
  return patternFile === undefined ? [] : linesOf(join(where.cwd, patternFile), patternFile);
}

function linesOf(below: string, given: string): string[] {
  const path = given.startsWith("/") ? given : below;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new UsageError(`--patterns: ${path} cannot be read (${errnoOf(cause) ?? "unknown"})`);
  }
  if (text.length > PATTERN_FILE_BYTES_MAX) throw new UsageError(`--patterns: ${path} is too long`);
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

/** All finds of one value. */
interface ValueFinds {
  readonly first: SessionFind;
  readonly session: string;
  readonly sessions: Set<string>;
  times: number;
}

/** Counts finds. Prints each as JSON when it comes; for people, each value once, at the end. */
class Report {
  readonly #asked: ScanRequest;
  readonly #io: Io;
  readonly #values = new Map<string, ValueFinds>();
  #finds = 0;
  #sessions = 0;
  #withFinds = 0;
  #unscanned = 0;

  constructor(asked: ScanRequest, io: Io) {
    this.#asked = asked;
    this.#io = io;
  }

  get isEmpty(): boolean {
    return this.#sessions === 0;
  }

  async add({ session, dialect, root, finds, unscanned }: ScanResult): Promise<void> {
    this.#sessions++;
    if (finds.length > 0) {
      this.#withFinds++;
      this.#finds += finds.length;
      if (this.#asked.isJson) {
        const lines = finds.map((find) => jsonLine({ session, dialect, root, ...find }));
        this.#io.progress(null);
        await this.#io.print(lines.join(""));
      } else for (const find of finds) this.#count(session, find);
    }
    for (const { entry, reason } of unscanned) {
      this.#unscanned++;
      const where = entry === null ? "" : `, entry ${entry}`;
      this.#io.err(`not scanned: ${safeLine(`${session}${where}: ${reason}`)}`);
    }
  }

  #count(session: string, find: SessionFind): void {
    const key = `${find.rule} ${find.valueId}`;
    const value = this.#values.get(key) ?? { first: find, session, sessions: new Set(), times: 0 };
    this.#values.set(key, value);
    value.sessions.add(session);
    value.times++;
  }

  /** The most dangerous first; of one rule, what is there most often. */
  async printValues(): Promise<void> {
    if (this.#values.size === 0) return;
    const order = await ruleNames();
    const rank = ({ first }: ValueFinds) => order.indexOf(first.rule);
    const values = [...this.#values.values()].sort((one, other) => {
      return rank(one) - rank(other) || other.times - one.times;
    });
    this.#io.progress(null);
    await this.#io.print(values.map(textOf).join(""));
  }

  /** Returns the exit code. */
  end(): number {
    const finds = countText(this.#finds, "find");
    const values = this.#values.size > 0 ? ` of ${countText(this.#values.size, "value")}` : "";
    const sessions = countText(this.#sessions, "session");
    this.#io.err(`${finds}${values} in ${this.#withFinds} of ${sessions}`);
    if (this.#finds > 0) return EXIT_FOUND;
    return this.#unscanned > 0 ? EXIT_UNSCANNED : 0;
  }
}

const ORIGINS: Readonly<Record<string, string>> = {
  tool_result: "printed by",
  tool_call: "in a call of",
};

function textOf({ first, session, sessions, times }: ValueFinds): string {
  const { rule, masked, in: part, tool, file, places } = first;
  const by = ORIGINS[part ?? ""];
  const origin = by && tool !== null ? `${by} ${tool}` : (part ?? "other field");
  const isOnce = times === 1;
  const inSessions = sessions.size === 1 ? "" : ` in ${sessions.size} sessions`;
  const count = isOnce ? "" : `${times} times${inSessions}, first in `;
  const where = `entry ${places[0]?.entry}${file === null ? "" : `, file ${file}`}`;
  return `${safeLine(`${rule}  ${masked}  ${count}${session}, ${where}, ${origin}`)}\n`;
}
