/**
 * `verbatim scan`: finds keys, passwords and personal data in sessions.
 *
 * Everything printed is masked by the finder and escaped here. Exit code: 1 if anything was found,
 * else 7 if something could not be scanned.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { catalogPath } from "../../core/base/node-paths.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { iterateLogs, type Unreadable } from "../../dialects/find.ts";
import { allRules, RULES_VERSION, SecretFinder } from "../../evidence/scan/find-secrets.ts";
import {
  type OwnPattern,
  OwnPatterns,
  PATTERNS_MAX,
  parseOwnPattern,
} from "../../evidence/scan/own-patterns.ts";
import type { ScanWith, SessionFind } from "../../evidence/scan/scan-session.ts";
import {
  KeptScans,
  type ScannedSession,
  type ScanTarget,
  scanOpened,
  scanTarget,
} from "../../evidence/scan/scan-stores.ts";
import { findSession } from "../../sessions/list/find-session.ts";
import { type FoundStore, findStores, type StoreLookup } from "../../sessions/list/find-stores.ts";
import { type FoundSession, openFoundSession } from "../../sessions/list/found-session.ts";
import { listPage } from "../../sessions/list/list-page.ts";
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
import { ChosenSessions } from "../look/chosen-sessions.ts";
import { NO_STORES, warnOfJournal } from "../look/store-notes.ts";

export async function scanCommand({ args, options, io }: Run): Promise<number> {
  io.goOnUnread();
  const asked = {
    names: args,
    where: whereOf(options),
    agent: textOption("--agent", options.agent),
    project: textOption("--project", options.project),
    isAll: options.all === true,
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
  readonly agent: string | undefined;
  readonly project: string | undefined;
  readonly isAll: boolean;
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
  checkNames(asked);
  const patterns = patternsOf(asked);
  const rules = await allRules();
  checkRules(asked.rules, [
    ...rules.map(({ id }) => id),
    ...patterns.map(({ name }) => `own:${name}`),
  ]);
  const own = patterns.length > 0 ? new OwnPatterns(patterns) : null;
  const kept = new KeptScans(keptPath(own !== null), versionOf(patterns), asked.isRescan);
  const report = new Report(asked, io);
  const done = await interruptible(io, async (signal) => {
    const how: ScanWith = { finder: new SecretFinder(rules), own, signal };
    try {
      await scanAll(asked, how, kept, report, io);
    } finally {
      kept.save();
    }
  });
  return done === INTERRUPTED ? EXIT_INTERRUPTED : report.end();
}

async function scanAll(
  asked: ScanRequest,
  how: ScanWith,
  kept: KeptScans,
  report: Report,
  io: Io,
): Promise<void> {
  const targets = asked.names.length > 0 ? [] : await targetsOf(asked, report, io);
  const named: FoundSession[] = [];
  for (const name of asked.names) named.push(await findSession(nodeHost, name, asked.where));
  await warnOfJournal(named, io);
  for (const found of named) {
    const target = targetAt(found);
    if (target) targets.push(target);
    else await report.add(await scanFile(found, how));
  }
  const tell = progressOn(io, "sessions scanned");
  for (const [done, target] of targets.entries()) {
    how.signal?.throwIfAborted();
    tell(null, done, targets.length);
    try {
      await report.add(await scanTarget(nodeHost, target, kept, how));
    } catch (cause) {
      if (!(cause instanceof VerbatimError)) throw cause;
      report.unreadable(target.log.id, cause);
    }
  }
}

function checkNames({ names, agent, project, isAll }: ScanRequest): void {
  if (names.length === 0) return;
  if (names.includes("")) throw new UsageError("name a session: the name given is empty");
  if (isAll || agent !== undefined || project !== undefined) {
    throw new UsageError("name sessions, or choose them with --all, --agent or --project");
  }
}

function checkRules(asked: readonly string[], known: readonly string[]): void {
  const unknown = asked.find((id) => !known.includes(id));
  if (unknown === undefined) return;
  throw new UsageError(`no rule is called ${unknown}; known are ${known.join(", ")}`);
}

function patternsOf({ patterns, patternFile, where }: ScanRequest): OwnPattern[] {
  const lines = patternFile === undefined ? [] : linesOf(join(where.cwd, patternFile), patternFile);
  const parsed = [...patterns, ...lines].map((text) => {
    const pattern = parseOwnPattern(text);
    if (typeof pattern === "string") throw new UsageError(pattern);
    return pattern;
  });
  if (parsed.length > PATTERNS_MAX) throw new UsageError(`at most ${PATTERNS_MAX} patterns`);
  const names = parsed.map(({ name }) => name);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) throw new UsageError(`two patterns are called ${twice}`);
  return parsed;
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

/** Scans with own patterns are kept apart: they would replace the others. */
function keptPath(isOwn: boolean): string {
  return join(dirname(catalogPath()), isOwn ? "scans-own.json" : "scans.json");
}

function versionOf(patterns: readonly OwnPattern[]): string {
  const hash = createHash("sha256").update(JSON.stringify(patterns)).digest("hex");
  return `${RULES_VERSION} ${patterns.length === 0 ? "" : hash}`.trim();
}

/** All sessions of the stores found, or those of an agent or a project. */
async function targetsOf(asked: ScanRequest, report: Report, io: Io): Promise<ScanTarget[]> {
  const { agent, project, where } = asked;
  const chosen = new ChosenSessions({ agent, project, isAll: true, cwd: where.cwd });
  const stores = chosen.storesOf(await findStores(where));
  if (stores.length === 0) io.err(NO_STORES);
  await warnOfJournal(stores, io);
  const isChosen = await choiceOf(chosen, stores, io);
  const targets: ScanTarget[] = [];
  for (const place of stores) {
    const onUnreadable = ({ id, path, cause }: Unreadable) => report.unreadable(id ?? path, cause);
    for (const log of iterateLogs(place.root, dialectNamed(place.dialect).naming.layout, {
      onUnreadable,
    })) {
      if (isChosen(place, log.id)) targets.push({ place, log });
    }
  }
  const none = targets.length === 0 ? chosen.whyNone() : null;
  if (none !== null) io.err(none);
  return targets;
}

async function choiceOf(chosen: ChosenSessions, stores: readonly FoundStore[], io: Io) {
  const { isShown } = chosen;
  if (isShown === null) return () => true;
  const page = await listPage(stores, {
    limit: Number.POSITIVE_INFINITY,
    isShown,
    onFound: (lines) => chosen.found(lines),
    onProgress: progressOn(io),
    onWarning: (warning) => io.err(`warning: ${warning}`),
  });
  const keys = page?.sessions.map(({ place, id }) => `${place.dialect}\0${place.root}\0${id}`);
  const known = new Set(keys);
  return ({ dialect, root }: FoundStore, id: string) => known.has(`${dialect}\0${root}\0${id}`);
}

/** The log of a session in a store; null for a file elsewhere. */
function targetAt({ dialect, root, id }: FoundSession): ScanTarget | null {
  if (id === null) return null;
  for (const log of iterateLogs(root, dialectNamed(dialect).naming.layout)) {
    if (log.id === id) return { place: { dialect, root }, log };
  }
  return null;
}

async function scanFile(found: FoundSession, how: ScanWith): Promise<ScannedSession> {
  const session = openFoundSession(nodeHost, found);
  try {
    const { scan } = await scanOpened(nodeHost, session, how, null);
    const { finds, unscanned, scannedTo } = scan;
    const place = { dialect: found.dialect, root: found.root };
    return { place, id: found.id ?? found.path, finds, unscanned, bytesRead: scannedTo };
  } finally {
    await session.release();
  }
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

  async add({ place, id, finds, unscanned }: ScannedSession): Promise<void> {
    const { rules, isJson } = this.#asked;
    this.#sessions++;
    const shown = finds.filter(({ rule }) => rules.length === 0 || rules.includes(rule));
    if (shown.length > 0) {
      this.#withFinds++;
      this.#finds += shown.length;
      const { dialect, root } = place;
      const texts = shown.map((find) => {
        return isJson ? jsonLine({ session: id, dialect, root, ...find }) : textOf(id, find);
      });
      this.#io.progress(null);
      await this.#io.print(texts.join(""));
    }
    for (const { entry, reason } of unscanned) {
      this.#unscanned++;
      const where = entry === null ? "" : `, entry ${entry}`;
      this.#io.err(`not scanned: ${safeLine(`${id}${where}: ${reason}`)}`);
    }
  }

  unreadable(name: string, cause: Error): void {
    this.#unscanned++;
    this.#io.err(`not scanned: ${safeLine(`${name}: ${cause.message}`)}`);
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
