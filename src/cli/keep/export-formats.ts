/**
 * Export formats: what `verbatim export` can write, the options that only some of them take, and what
 * the writer of a format gets of a session.
 */

import type { PageFacts } from "../../sessions/render/html/page.ts";
import type { Session } from "../../sessions/store/session.ts";
import type { Run } from "../command/command.ts";
import type { BadLines } from "../look/named-session.ts";

export interface ExportFormat {
  readonly summary: string;
  /** Of its files; null: it is printed or sent. */
  readonly ending: string | null;
  /** Several sessions may follow each other in one file, or on stdout. */
  readonly isJoined: boolean;
  /** Options that only some formats take, as a Run names them. */
  readonly takes: readonly string[];
}

/** A session that is exported, and what is reported about it. */
export interface ExportSource {
  readonly session: Session;
  readonly run: Run;
  readonly badLines: BadLines;
  /** That nothing of it is understood. */
  readonly notice: string | null;
  /** Only the last entries; null: all. */
  readonly last: number | null;
  /** It is the first of the file, or of stdout. */
  readonly isFirst: boolean;
  /** Others are in the same file, or on stdout. */
  readonly isOneOfMany: boolean;
  /** Html: takes what the page says of the session, for an index. */
  readonly onFacts?: (facts: PageFacts) => void;
}

export const EXPORT_FORMATS: Readonly<Record<string, ExportFormat>> = {
  md: {
    summary: "a document in Markdown",
    ending: "md",
    isJoined: true,
    takes: ["thinking", "tools", "metadata", "notes", "output"],
  },
  html: {
    summary: "a page that runs nothing and loads nothing",
    ending: "html",
    isJoined: false,
    takes: ["thinking", "tools", "last", "redact", "notes", "output"],
  },
  jsonl: {
    summary: "entries as JSON lines",
    ending: "jsonl",
    isJoined: true,
    takes: ["last", "output"],
  },
  csv: {
    summary: "entries as comma-separated values",
    ending: "csv",
    isJoined: true,
    takes: ["last", "output"],
  },
  etf: {
    summary: "Entire's normalised transcript",
    ending: "etf.jsonl",
    isJoined: false,
    takes: ["output"],
  },
  otlp: {
    summary: "OpenTelemetry spans as JSON, or sent to a collector",
    ending: null,
    isJoined: true,
    takes: ["to", "content", "header", "service", "follow", "after"],
  },
  bundle: {
    summary: "a verified session that another person can import and continue",
    ending: "vbx",
    isJoined: false,
    takes: ["summary", "requirePin", "profile", "json", "output"],
  },
};

/** The format that the ending of a file's name says; null: none. */
export function formatOfFile(path: string): string | null {
  const lengthOf = (name: string) => EXPORT_FORMATS[name]?.ending?.length ?? 0;
  const fitting = Object.entries(EXPORT_FORMATS).flatMap(([name, { ending }]) => {
    return ending !== null && path.endsWith(`.${ending}`) ? [name] : [];
  });
  // The longest: `x.etf.jsonl` ends like one of `jsonl`, too.
  return fitting.sort((a, b) => lengthOf(b) - lengthOf(a))[0] ?? null;
}
