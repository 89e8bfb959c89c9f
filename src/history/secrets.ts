/** Secrets: keys, passwords and personal data in the sessions of a history. */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { badOption } from "../core/base/choice.ts";
import { VerbatimError } from "../core/base/errors.ts";
import { catalogPath } from "../core/base/node-paths.ts";
import { dialectNamed } from "../dialects/all.ts";
import { iterateLogs, type Unreadable } from "../dialects/find.ts";
import {
  allRules,
  RULES_VERSION,
  SecretFinder,
  valueIdsBy,
} from "../evidence/scan/find-secrets.ts";
import {
  type OwnPattern,
  OwnPatterns,
  PATTERNS_MAX,
  parseOwnPattern,
} from "../evidence/scan/own-patterns.ts";
import type { ScanWith, SessionFind, UnscannedEntry } from "../evidence/scan/scan-session.ts";
import {
  KeptScans,
  type ScannedSession,
  type ScanTarget,
  scanOpened,
  scanTarget,
} from "../evidence/scan/scan-stores.ts";
import { type FoundSession, openFoundSession } from "../sessions/list/session-place.ts";
import type { HistoryScanOptions } from "./options.ts";
import type { Places } from "./places.ts";
import { sessionChoice } from "./session-list.ts";

/** What was found in one session. */
export interface ScanResult {
  readonly session: string;
  readonly dialect: string;
  readonly root: string;
  readonly finds: readonly SessionFind[];
  /** What could not be searched, and why. */
  readonly unscanned: readonly UnscannedEntry[];
}

export async function* scanSessions(
  places: Places,
  options: HistoryScanOptions,
): AsyncGenerator<ScanResult> {
  const { sessions = [], rules = [], rescan = false, signal, onProgress } = options;
  const patterns = patternsOf(options.patterns ?? []);
  const all = await allRules();
  checkRules(rules, [...all.map(({ id }) => id), ...patterns.map(({ name }) => `own:${name}`)]);
  const cache = new KeptScans(keptPath(patterns.length > 0), versionOf(patterns), rescan);
  const valueIds = valueIdsBy(cache.key);
  const ownPatterns = patterns.length > 0 ? new OwnPatterns(patterns, valueIds) : null;
  const how: ScanWith = { finder: new SecretFinder(all, valueIds), own: ownPatterns, signal };
  const isShown = ({ rule }: SessionFind) => rules.length === 0 || rules.includes(rule);
  const unreadable: ScanResult[] = [];
  const targets = await targetsOf(places, sessions, options, unreadable);
  yield* unreadable;
  try {
    for (const [done, target] of targets.entries()) {
      signal?.throwIfAborted();
      onProgress?.(done, targets.length);
      const { place, id, finds, unscanned } = await scanned(places, target, cache, how);
      const { dialect, root } = place;
      yield { session: id, dialect, root, finds: finds.filter(isShown), unscanned };
    }
  } finally {
    cache.save();
  }
}

/** The names of the rules, the most dangerous first. */
export async function ruleNames(): Promise<string[]> {
  return (await allRules()).map(({ id }) => id);
}

type Target = ScanTarget | { readonly found: FoundSession };

/** A session that cannot be read is reported in its place. */
async function scanned(
  { host }: Places,
  target: Target,
  kept: KeptScans,
  how: ScanWith,
): Promise<Omit<ScannedSession, "bytesRead">> {
  try {
    if ("log" in target) return await scanTarget(host, target, kept, how);
    const session = openFoundSession(host, target.found);
    const { scan } = await scanOpened(host, session, how, null);
    return { place: target.found, id: session.id, ...scan };
  } catch (cause) {
    if (!(cause instanceof VerbatimError)) throw cause;
    const { place, id } =
      "log" in target
        ? { place: target.place, id: target.log.id }
        : { place: target.found, id: target.found.id ?? target.found.path };
    return { place, id, finds: [], unscanned: [{ entry: null, reason: cause.message }] };
  }
}

async function targetsOf(
  places: Places,
  names: readonly string[],
  options: HistoryScanOptions,
  unreadable: ScanResult[],
): Promise<Target[]> {
  if (names.length === 0) return allTargets(places, options, unreadable);
  const targets: Target[] = [];
  for (const name of names) {
    const found = await places.find(name);
    targets.push(logOf(found) ?? { found });
  }
  return targets;
}

/** The log of a session in a store; null for a file elsewhere. */
function logOf({ dialect, root, id }: FoundSession): ScanTarget | null {
  if (id === null) return null;
  for (const log of iterateLogs(root, dialectNamed(dialect).naming.layout)) {
    if (log.id === id) return { place: { dialect, root }, log };
  }
  return null;
}

async function allTargets(
  places: Places,
  options: HistoryScanOptions,
  unreadable: ScanResult[],
): Promise<ScanTarget[]> {
  const { stores, isChosen } = await sessionChoice(places, options);
  const targets: ScanTarget[] = [];
  for (const place of stores) {
    const onUnreadable = ({ id, path, cause }: Unreadable) => {
      const unscanned = [{ entry: null, reason: cause.message }];
      unreadable.push({ session: id ?? path, ...place, finds: [], unscanned });
    };
    const { layout } = dialectNamed(place.dialect).naming;
    for (const log of iterateLogs(place.root, layout, { onUnreadable })) {
      if (isChosen(place, log.id)) targets.push({ place, log });
    }
  }
  return targets;
}

function checkRules(asked: readonly string[], known: readonly string[]): void {
  const unknown = asked.find((id) => !known.includes(id));
  if (unknown === undefined) return;
  throw badOption(
    "rules",
    `is refused: no rule is called ${unknown}; known are ${known.join(", ")}`,
  );
}

function patternsOf(texts: readonly string[]): OwnPattern[] {
  const patterns = texts.map((text) => {
    const pattern = parseOwnPattern(text);
    if (typeof pattern === "string") throw badOption("patterns", `is refused: ${pattern}`);
    return pattern;
  });
  if (patterns.length > PATTERNS_MAX) throw badOption("patterns", `has at most ${PATTERNS_MAX}`);
  const names = patterns.map(({ name }) => name);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined)
    throw badOption("patterns", `is refused: two patterns are called ${twice}`);
  return patterns;
}

/** Scans with own patterns are kept apart: they would replace the others. */
function keptPath(isOwn: boolean): string {
  return join(dirname(catalogPath()), isOwn ? "scans-own.json" : "scans.json");
}

function versionOf(patterns: readonly OwnPattern[]): string {
  const hash = createHash("sha256").update(JSON.stringify(patterns)).digest("hex");
  return `${RULES_VERSION} ${patterns.length === 0 ? "" : hash}`.trim();
}
