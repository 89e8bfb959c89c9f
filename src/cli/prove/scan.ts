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
import type { ScanResult } from "../../history/scanning.ts";
import type { StoreLookup } from "../../sessions/list/find-stores.ts";
import { safeLine } from "../../sessions/render/text.ts";
import { type Io, type Run, textOption, textOptions, UsageError } from "../command/command.ts";
import {
  EXIT_INTERRUPTED,
  INTERRUPTED,
  interruptible,
  progressOn,
} from "../command/interruption.ts";
import { whereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { chosenSessions, hasFilter, tellNoStores } from "../look/chosen-sessions.ts";

export async function scanCommand(run: Run): Promise<number> {
  const { args, options, io } = run;
  io.goOnUnread();
  const isFiltered = hasFilter(options);
  checkNames(args, isFiltered || options.all === true);
  const chosen = isFiltered ? await chosenSessions(run, true) : null;
  if (chosen?.length === 0) return 0;
  const asked = {
    names: chosen?.map(({ path }) => path) ?? args,
    where: whereOf(options),
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

/** Prints finds as they come, and counts. */
class Report {
  readonly #asked: ScanRequest;
  readonly #io: Io;
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
      const { isJson } = this.#asked;
      const texts = finds.map((find) => {
        return isJson ? jsonLine({ session, dialect, root, ...find }) : textOf(session, find);
      });
      this.#io.progress(null);
      await this.#io.print(texts.join(""));
    }
    for (const { entry, reason } of unscanned) {
      this.#unscanned++;
      const where = entry === null ? "" : `, entry ${entry}`;
      this.#io.err(`not scanned: ${safeLine(`${session}${where}: ${reason}`)}`);
    }
  }

  /** Returns the exit code. */
  end(): number {
    const finds = this.#finds === 1 ? "1 find" : `${this.#finds} finds`;
    const sessions = this.#sessions === 1 ? "1 session" : `${this.#sessions} sessions`;
    this.#io.err(`${finds} in ${this.#withFinds} of ${sessions}`);
    if (this.#finds > 0) return EXIT_FOUND;
    return this.#unscanned > 0 ? EXIT_UNSCANNED : 0;
  }
}

const SAID: Readonly<Record<string, string>> = {
  tool_result: "printed by",
  tool_call: "in a call of",
};

function textOf(id: string, { rule, masked, in: part, tool, file, places }: SessionFind): string {
  const entries = places.map(({ entry }) => entry).join(", ");
  const value = places.map(({ value: { start, end } }) => `${start}-${end}`).join(", ");
  const said = SAID[part ?? ""];
  const origin = said && tool !== null ? `${said} ${tool}` : (part ?? "other field");
  const where = `entry ${entries}, bytes ${value}${file === null ? "" : ` of ${file}`}`;
  return `${safeLine(`${id}  ${rule}  ${masked}  ${origin}  ${where}`)}\n`;
}
