/** Repair report: what repair did, would do, could not do and left, as text and as JSON. */

import type { RepairStep } from "../../doctor/repair.ts";
import { FINDINGS } from "../../findings/finding.ts";
import { safeLine } from "../../render/safe-text.ts";
import { counted, findingLine } from "./examining.ts";

export interface RepairSummary {
  sessions: number;
  mended: number;
  /** With --dry-run: what would be mended. */
  would: number;
  left: number;
  failed: number;
}

export interface RepairLine {
  /** "" for a session with nothing to report. */
  readonly text: string;
  /** Null for text-only lines. */
  readonly json: Readonly<Record<string, unknown>> | null;
}

export class RepairReport {
  readonly summary: RepairSummary = { sessions: 0, mended: 0, would: 0, left: 0, failed: 0 };
  readonly #isDryRun: boolean;
  /** The current session, and its heading. */
  #session: { readonly id: string | null; readonly heading: string } | null = null;
  /** Heading of the last printed line. */
  #heading = "";

  constructor({ isDryRun }: { readonly isDryRun: boolean }) {
    this.#isDryRun = isDryRun;
  }

  add(step: RepairStep): RepairLine {
    switch (step.kind) {
      case "session": {
        this.summary.sessions++;
        const { id, path } = step.session;
        this.#session = { id, heading: safeLine(id === null ? path : `${id}  ${path}`) };
        this.#heading = "";
        return { text: "", json: null };
      }
      case "mended": {
        this.summary.mended++;
        const { finding, did } = step;
        const { code, session, path } = finding;
        return this.#told(`mended ${code}: ${did}`, { action: "mended", code, session, path, did });
      }
      case "would": {
        this.summary.would++;
        const { code, session, path, detail } = step.finding;
        const does = FINDINGS[code].remedy;
        const text = `would mend ${findingLine(step.finding)}: repair ${does}`;
        return this.#told(text, { action: "would", code, session, path, detail });
      }
      case "left": {
        this.summary.left += step.count;
        const { finding, count } = step;
        const { code, session, path, line, detail, mends } = finding;
        const more = count > 1 ? ` (and ${count - 1} more)` : "";
        const why = FINDINGS[code].mends && !mends ? "" : `: repair ${FINDINGS[code].remedy}`;
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

  text(): string {
    const { sessions, mended, would, left, failed } = this.summary;
    const looked = `looked at ${counted(sessions, "session")}`;
    const nothing = mended + would + failed === 0 ? "nothing to mend" : null;
    if (nothing && left === 0) return `${looked}: ${nothing}\n`;
    const did = nothing ?? (this.#isDryRun ? `would mend ${would}` : `mended ${mended}`);
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
