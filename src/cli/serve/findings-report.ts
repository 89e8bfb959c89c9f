/**
 * Findings report: prints findings. `doctor` and `serve --check` get a paragraph per session or
 * stream: what was found, what it means, and what to do about it. `--fix` gets a line per step.
 * `verify` prints its findings in the same form.
 *
 * Long reports are shortened: the first findings of each code, and how many more.
 */

import {
  FINDINGS,
  type Finding,
  type FindingCode,
  isMendable,
  isOfStreams,
  type Severity,
  streamRemedy,
} from "../../core/findings/finding.ts";
import type { ExaminedItem } from "../../evidence/doctor/examine.ts";
import type { RepairStep } from "../../evidence/doctor/repair.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { safeLine } from "../../sessions/render/text.ts";
import type { Io } from "../command/command.ts";
import { ChunkedOutput, jsonLine } from "../command/output.ts";

const LISTED_MAX = 5;
const EXIT_FOUND = 1;

/** A finding as it is printed. */
interface Line extends Pick<Finding, "detail"> {
  readonly code: string;
  readonly severity: Severity;
  readonly line?: number | undefined;
  readonly offset?: number | null | undefined;
}

/** A finding on one line: code, place and detail. */
export function findingLine({ code, severity, line, offset, detail }: Line, file = ""): string {
  const places = [
    ...(file === "" ? [] : [file]),
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(typeof offset === "number" ? [`at byte ${offset}`] : []),
  ];
  const where = places.length === 0 ? "" : `${places.join(", ")}: `;
  return safeLine(`${severity} ${code}: ${where}${detail}`);
}

export interface PrintOptions {
  readonly isJson: boolean;
  readonly noun: "session" | "stream";
  /** Other fields of the JSON lines. */
  readonly finding?: (finding: Finding) => object;
  readonly summary?: (count: FindingsCount) => object;
}

/** Prints what is found, and returns the exit code. */
export async function printFindings(
  examined: AsyncIterable<ExaminedItem>,
  io: Io,
  { isJson, noun, finding = (each) => each, summary = (each) => each }: PrintOptions,
): Promise<number> {
  const count = new FindingsCount();
  const output = new ChunkedOutput(io);
  const ofStore = new Paragraph(null);
  let ofSession = new Paragraph(null);
  let current: string | null = null;
  for await (const step of examined) {
    if ("session" in step) {
      await output.add(ofSession.text());
      ofSession = new Paragraph(step.session);
      current = step.session.id;
      io.progress(`${++count.sessions} ${noun}s`);
      continue;
    }
    count.add(step.finding);
    if (isJson) await output.add(jsonLine(finding(step.finding)));
    else {
      const isOfSession = count.sessions > 0 && step.finding.session === current;
      (isOfSession ? ofSession : ofStore).add(step.finding);
    }
  }
  io.progress(null);
  const text = () => ofSession.text() + ofStore.text() + count.text(noun);
  await output.add(isJson ? jsonLine({ summary: summary(count) }) : text());
  await output.flush();
  return count.errors + count.warnings === 0 ? 0 : EXIT_FOUND; // Notes do not count.
}

interface FindingTally {
  readonly listed: Finding[];
  count: number;
  /** Findings that repair can mend. */
  mends: number;
}

/** The findings of one session or stream, or of a store's own files. */
class Paragraph {
  readonly #session: FoundSession | null;
  readonly #told = new Map<FindingCode, FindingTally>();

  /** Null: findings that belong to no session. */
  constructor(session: FoundSession | null) {
    this.#session = session;
  }

  add(finding: Finding): void {
    const told = this.#told.get(finding.code) ?? { listed: [], count: 0, mends: 0 };
    this.#told.set(finding.code, told);
    told.count++;
    if (finding.mends) told.mends++;
    if (told.listed.length < LISTED_MAX) told.listed.push(finding);
  }

  /** "" if nothing was found. */
  text(): string {
    if (this.#told.size === 0) return "";
    const session = this.#session;
    const lines = [session === null ? "store" : headingOf(session)];
    for (const [code, { listed, count, mends }] of this.#told) {
      for (const each of listed) {
        lines.push(`  ${findingLine(each, session === null ? each.path : "")}`);
      }
      if (count > listed.length) lines.push(`  and ${count - listed.length} more ${code}`);
      lines.push(`    ${FINDINGS[code].means}`, `    ${this.#remedy(code, mends > 0)}`);
    }
    return `${lines.join("\n")}\n\n`;
  }

  #remedy(code: FindingCode, mends: boolean): string {
    const { remedy } = FINDINGS[code];
    if (isOfStreams(code)) return streamRemedy(code, mends);
    if (!mends) return `--fix ${isMendable(code) ? "leaves it" : remedy}`;
    const what = this.#session === null ? "--all" : nameOf(this.#session);
    return `\`verbatim doctor --fix ${safeLine(what)}\` ${remedy}`;
  }
}

/** Counts findings of each severity, and those that can be mended. */
class FindingsCount {
  sessions = 0;
  errors = 0;
  warnings = 0;
  notes = 0;
  mends = 0;

  add({ severity, mends }: Finding): void {
    this[`${severity}s`]++;
    if (mends) this.mends++;
  }

  text(noun: string): string {
    const found = (["error", "warning", "note"] as const)
      .filter((severity) => this[`${severity}s`] > 0)
      .map((severity) => countText(this[`${severity}s`], severity));
    const looked = `looked at ${countText(this.sessions, noun)}`;
    if (found.length === 0) return `${looked}: nothing found\n`;
    const mends = this.mends > 0 ? `; --fix mends ${this.mends}` : "";
    return `${looked}: ${found.join(", ")}${mends}\n`;
  }
}

export interface RepairLine {
  /** "" for a session with nothing to report. */
  readonly text: string;
  /** Null for text-only lines. */
  readonly json: Readonly<Record<string, unknown>> | null;
}

function remedyOf({ code, mends }: Finding): string {
  return isOfStreams(code) ? streamRemedy(code, mends) : `--fix ${FINDINGS[code].remedy}`;
}

/** What repair did, would do, could not do and left. */
export class RepairPrinter {
  /** `would`: with --dry-run, what would be mended. */
  readonly summary = { sessions: 0, mended: 0, would: 0, left: 0, failed: 0 };
  /** The current session, and its heading. */
  #session: { readonly id: string | null; readonly heading: string } | null = null;
  /** Heading of the last printed line. */
  #heading = "";

  add(step: RepairStep): RepairLine {
    switch (step.kind) {
      case "session": {
        this.summary.sessions++;
        const { id, path } = step.session;
        this.#session = { id, heading: id === null ? safeLine(path) : headingOf(step.session) };
        this.#heading = "";
        return { text: "", json: null };
      }
      case "mended": {
        this.summary.mended++;
        const { did } = step;
        const { code, session, path } = step.finding;
        return this.#told(`mended ${code}: ${did}`, { action: "mended", code, session, path, did });
      }
      case "would": {
        this.summary.would++;
        const { code, session, path, detail } = step.finding;
        const text = `would mend ${findingLine(step.finding)}: ${remedyOf(step.finding)}`;
        return this.#told(text, { action: "would", code, session, path, detail });
      }
      case "left": {
        this.summary.left += step.count;
        const { finding, count } = step;
        const { code, session, path, line, detail, mends } = finding;
        const more = count > 1 ? ` (and ${count - 1} more)` : "";
        const why =
          isMendable(code) && !isOfStreams(code) && !mends ? "" : `: ${remedyOf(finding)}`;
        const at = { ...(line !== undefined && { line }) };
        const json = { action: "left", code, session, path, ...at, count, detail };
        return this.#told(`left ${findingLine(finding)}${more}${why}`, json);
      }
      case "failed": {
        this.summary.failed++;
        const { kind: action, session, path, code, message } = step;
        return this.#told(`failed: ${message} (${code})`, { action, code, session, path, message });
      }
    }
  }

  text(isDryRun: boolean): string {
    const { sessions, mended, would, left, failed } = this.summary;
    const looked = `looked at ${countText(sessions, "session")}`;
    const nothing = mended + would + failed === 0 ? "nothing to mend" : null;
    if (nothing && left === 0) return `${looked}: ${nothing}\n`;
    const did = nothing ?? (isDryRun ? `would mend ${would}` : `mended ${mended}`);
    const failures = failed > 0 ? `, ${failed} failed` : "";
    return `${looked}: ${did}, ${left} left${failures}\n`;
  }

  #told(text: string, json: Readonly<Record<string, unknown>>): RepairLine {
    const isSessions = this.#session !== null && json.session === this.#session.id;
    const whose = isSessions ? this.#session?.heading : safeLine(String(json.session ?? "store"));
    const heading = whose === this.#heading ? "" : `${whose}\n`;
    this.#heading = whose ?? "";
    return { text: `${heading}  ${safeLine(text)}\n`, json };
  }
}

function headingOf({ id, path }: FoundSession): string {
  return safeLine(`${id ?? "(unknown)"}  ${path}`);
}

/** A name for a session that works on the command line, even if its id looks like an option. */
function nameOf({ id, path }: FoundSession): string {
  return id === null || id.startsWith("-") ? path : id;
}

const LINES_LISTED_MAX = 10;

/** The numbers of some lines, the first ones by name. */
export function linesText(lines: readonly number[]): string {
  const more = lines.length - LINES_LISTED_MAX;
  const listed = lines.slice(0, LINES_LISTED_MAX).join(", ");
  return `line${lines.length === 1 ? "" : "s"} ${listed}${more > 0 ? ` and ${more} more` : ""}`;
}

/** `1 session`, `2 sessions`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
