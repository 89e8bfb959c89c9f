/** Scan finds: withholds what the rules of `verbatim scan` find, or found before. */

import { readFileSync } from "node:fs";
import { ioError, VerbatimError } from "../../core/base/errors.ts";
import { isObject } from "../../trust/proof/claims.ts";
import { allRules, SecretFinder } from "../scan/find-secrets.ts";
import type { Finder, Hit } from "./hits.ts";

const ALL = "all";

/** The rules with these names; `all` for every rule. */
export async function findsOfRules(names: readonly string[]): Promise<Finder> {
  const rules = await allRules();
  const unknown = names.find((name) => name !== ALL && !rules.some(({ id }) => id === name));
  if (unknown !== undefined) {
    const known = rules.map(({ id }) => id).join(", ");
    throw badSetting("--rule", `there is no rule ${unknown}; there are: ${known}`);
  }
  const chosen = names.includes(ALL) ? rules : rules.filter(({ id }) => names.includes(id));
  const finder = new SecretFinder(chosen);
  return (line) =>
    finder.find(line).map(({ rule, start, end }) => ({ rule, from: start, to: end }));
}

/**
 * The finds of a session in the output of `verbatim scan --json`. A find whose place in its line is not known, for
 * example in a file next to the log, takes the whole line.
 */
export async function findsOf(path: string, session: string | null): Promise<Finder> {
  const finds: Find[] = [];
  for (const [n, text] of readLines(path).entries()) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      value = null;
    }
    if (!isObject(value)) throw badScan(path, n + 1);
    if (value.places === undefined) continue; // A summary, or something that was not searched.
    const { rule, places, file } = value;
    if (session !== null && value.session !== session) continue;
    if (typeof rule !== "string" || !Array.isArray(places)) throw badScan(path, n + 1);
    finds.push({ rule, places, file, in: value.in, bad: () => badScan(path, n + 1) });
  }
  return findsIn(finds);
}

interface Find {
  readonly rule: string;
  readonly places: readonly unknown[];
  readonly file?: unknown;
  readonly in?: unknown;
  /** The error if a place is not one. */
  readonly bad?: () => Error;
}

/** What a scan of the session found. */
export function findsIn(finds: readonly Find[]): Finder {
  const byEntry = new Map<number, Hit[]>();
  for (const { rule, places, file, in: part, bad } of finds) {
    if (part === "checkpoint" && file !== null) throw inSidecar(String(file), rule);
    for (const place of places) {
      const found = hitOf(rule, place, file == null);
      if (!found) throw bad?.() ?? new TypeError("a find has no place");
      byEntry.set(found.entry, [...(byEntry.get(found.entry) ?? []), found.hit]);
    }
  }
  return (line, number) => {
    return (byEntry.get(number) ?? []).map((hit) => {
      return hit.to <= line.length ? hit : { ...hit, from: 0, to: line.length + 1 };
    });
  };
}

function hitOf(rule: string, place: unknown, isInLog: boolean) {
  if (!isObject(place) || !isObject(place.line) || !isObject(place.value)) return null;
  const { entry } = place;
  const [start, from, to] = [place.line.start, place.value.start, place.value.end].map(Number);
  if (typeof entry !== "number" || ![start, from, to].every(Number.isSafeInteger)) return null;
  const [first = 0, begin = 0, end = 0] = [start, from, to];
  if (!isInLog) return { entry, hit: { rule, from: 0, to: Number.MAX_SAFE_INTEGER } };
  return begin >= first && end > begin
    ? { entry, hit: { rule, from: begin - first, to: end - first } }
    : null;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch (cause) {
    throw ioError(path, "reading", cause);
  }
}

function inSidecar(path: string, rule: string): VerbatimError {
  const message =
    `rule ${rule} found something in a checkpoint of ${path}; checkpoints are always shown whole, ` +
    "so it cannot be withheld";
  return new VerbatimError("CANNOT_WITHHOLD", message, { path, line: 0, rule });
}

function badScan(path: string, line: number): VerbatimError {
  return badSetting("--from-scan", `line ${line} of ${path} is not a find of verbatim scan --json`);
}

function badSetting(setting: string, reason: string): VerbatimError {
  return new VerbatimError("BAD_SETTING", `${setting}: ${reason}`, {
    setting,
    from: "flag",
    reason,
  });
}
