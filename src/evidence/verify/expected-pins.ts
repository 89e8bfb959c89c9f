/**
 * Expected pins: the sessions in a file of heads (`--against`) that a run had to find and did not.
 *
 * A place in that file is a path on another machine, so it does not tell which project a session
 * belongs to. The rule (docs/security.md): a run without names must find every session of the
 * file, and a run over data directories or databases every stream, wherever they are here. A log
 * is found by its identity. A missing one is a rollback: an alarm too many can be explained, a
 * deletion that goes unnoticed cannot.
 */

import { DIALECT_NAMES } from "../../dialects/registry.ts";
import { goneIn } from "../../sessions/list/gone-sessions.ts";
import { unreadableReport } from "../../trust/judge/assemble.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { NOTHING_REMEMBERED, type VerifyOptions } from "../../trust/judge/verify-options.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import type { Pin } from "../../trust/proof/pin.ts";
import type { Verdict } from "../../trust/proof/verdict.ts";
import { notThere } from "./judge-streams.ts";
/** What a run verifies as a whole, and not by name. */
export interface VerifyScope {
  readonly sessions: boolean;
  readonly streams: boolean;
  /** Only sessions of this one. */
  readonly dialect?: string | undefined;
}

/** Verdicts after which a second alarm about the same session says nothing new. */
const ALARMS: ReadonlySet<Verdict> = new Set(["tampered", "unreadable", "rollback"]);

/** A file of heads, and the newest head of each session in it. */
export interface Against {
  readonly file: string;
  readonly pins: readonly Pin[];
}

export class ExpectedPins {
  readonly #against: Against | null;
  readonly #asked: VerifyScope;
  readonly #logs = new Set<string | null>();
  readonly #alarms = new Set<string>();

  constructor(against: Against | null, asked: VerifyScope) {
    this.#against = against;
    this.#asked = asked;
  }

  /** Counts a report of this run. */
  see({ log, dialect, session, verdict }: VerifyReport): void {
    this.#logs.add(log);
    if (ALARMS.has(verdict)) this.#alarms.add(`${dialect} ${session}`);
  }

  /** The reports on expected sessions that no report was about. */
  missing(): VerifyReport[] {
    const { file, pins } = this.#against ?? { file: "", pins: [] };
    const isMissing = (pin: Pin) =>
      this.#isExpected(pin) &&
      !this.#logs.has(pin.log) &&
      !this.#alarms.has(`${dialectOf(pin)} ${pin.id}`);
    return pins.filter(isMissing).map((pin) => missingReport(pin, file));
  }

  /** What the file pins and a run without names does not look for; null for nothing. */
  notChecked(): string | null {
    const { file, pins } = this.#against ?? { file: "", pins: [] };
    const others = pins.filter((pin) => !isOfSession(pin)).length;
    if (!this.#asked.sessions || others === 0) return null;
    return (
      `${others} heads in ${file} are of streams or of the guard's copies, and are not checked: ` +
      "`verbatim verify DIRECTORY` checks streams, `verbatim guard --verify` the copies"
    );
  }

  #isExpected(pin: Pin): boolean {
    const { sessions, streams, dialect } = this.#asked;
    if (dialectOf(pin) === STREAMS) return streams;
    return sessions && isOfSession(pin) && (dialect === undefined || dialectOf(pin) === dialect);
  }
}

/** The session as pinned on the other machine: `path` is where its log was there. */
function missingReport(pin: Pin, file: string): VerifyReport {
  const dialect = dialectOf(pin);
  const root = pin.place.slice(dialect.length + 1);
  const isStream = dialect === STREAMS;
  const gone = isStream ? null : goneIn({ dialect, root }, pin.id);
  const target = gone ?? { dialect, root, id: pin.id, logId: "" };
  const options = { remembered: { ...NOTHING_REMEMBERED, here: pin } } as Partial<VerifyOptions>;
  const report = unreadableReport(target, options as VerifyOptions, notThere(root));
  const message =
    `${file} pins checkpoint ${pin.seq} of it, over ${pin.byteOffset} bytes, signed ${pin.ts} in ` +
    `${root}, and no ${isStream ? "stream" : "session"} found here has this log; if it is not of ` +
    "what you verify here, export fewer heads: `verbatim keys head export --root DIR`";
  return { ...report, findings: report.findings.map((each) => ({ ...each, message })) };
}

function isOfSession(pin: Pin): boolean {
  return DIALECT_NAMES.some((name) => name === dialectOf(pin));
}

function dialectOf({ place }: Pin): string {
  return place.slice(0, place.indexOf(":"));
}
