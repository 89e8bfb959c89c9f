/**
 * Findings report: prints findings, a paragraph per session: what was found, what it means, and
 * what to do about it.
 *
 * Long reports are shortened: the first findings of each code, and how many more.
 */

import { FINDINGS, type Finding, type FindingCode } from "../../findings/finding.ts";
import type { FoundSession } from "../../listing/find-session.ts";
import { safeLine } from "../../render/safe-text.ts";
import { counted, findingLine, nameOf } from "./examining.ts";

const LISTED_MAX = 5;

interface Told {
  readonly listed: Finding[];
  count: number;
  /** Findings that repair can mend. */
  mends: number;
}

/** The findings of one session, or of a store's own files. */
export class FindingsReport {
  readonly #heading: string;
  readonly #repair: string;
  readonly #told = new Map<FindingCode, Told>();

  /** Null: findings that belong to no session. */
  constructor(session: FoundSession | null) {
    this.#heading = session === null ? "store" : `${session.id ?? "(unknown)"}  ${session.path}`;
    this.#repair = session === null ? "repair --all" : `repair ${nameOf(session)}`;
  }

  add(finding: Finding): void {
    const told = this.#told.get(finding.code) ?? { listed: [], count: 0, mends: 0 };
    this.#told.set(finding.code, told);
    told.count++;
    if (finding.mends) told.mends++;
    if (told.listed.length < LISTED_MAX) told.listed.push(finding);
  }

  /** The paragraph; "" if nothing was found. */
  text(): string {
    if (this.#told.size === 0) return "";
    const lines = [safeLine(this.#heading)];
    for (const [code, { listed, count, mends }] of this.#told) {
      const { means, remedy } = FINDINGS[code];
      for (const finding of listed) lines.push(`  ${findingLine(finding)}`);
      if (count > listed.length) lines.push(`  and ${count - listed.length} more ${code}`);
      lines.push(`    ${means}`);
      const who = mends > 0 ? `\`verbatim ${safeLine(this.#repair)}\`` : "repair";
      lines.push(`    ${who} ${mends > 0 || !FINDINGS[code].mends ? remedy : "leaves it"}`);
    }
    return `${lines.join("\n")}\n\n`;
  }
}

/** Counts findings of each severity, and those that can be mended. */
export class FindingsCount {
  sessions = 0;
  errors = 0;
  warnings = 0;
  notes = 0;
  mends = 0;

  add({ severity, mends }: Finding): void {
    if (severity === "error") this.errors++;
    else if (severity === "warning") this.warnings++;
    else this.notes++;
    if (mends) this.mends++;
  }

  /** Notes do not count. */
  get isClean(): boolean {
    return this.errors + this.warnings === 0;
  }

  text(): string {
    const looked = `looked at ${counted(this.sessions, "session")}`;
    const found = [
      ...(this.errors > 0 ? [counted(this.errors, "error")] : []),
      ...(this.warnings > 0 ? [counted(this.warnings, "warning")] : []),
      ...(this.notes > 0 ? [counted(this.notes, "note")] : []),
    ];
    if (found.length === 0) return `${looked}: nothing found\n`;
    const mends = this.mends > 0 ? `; repair mends ${this.mends}` : "";
    return `${looked}: ${found.join(", ")}${mends}\n`;
  }
}
