/**
 * Commands: what dialects add to the command line. Apart from `all.ts`, since commands use stores, and
 * stores use dialects.
 */

import type { CliCommand, CommandGroup, CommandOption, Run } from "../command/command.ts";
import { hookSource } from "./claude/door/hook-source.ts";
import { hooks } from "./claude/door/hooks-command.ts";
import { stats } from "./rye/door/stats-command.ts";

export const DIALECT_COMMANDS: readonly (CliCommand | CommandGroup)[] = [hooks, stats];

/** A format of stdin for `verbatim record --from`, with a recorder of its own. */
export interface RecordSource {
  readonly names: readonly string[];
  /** Options of `record` that only this source takes. */
  readonly options: readonly CommandOption[];
  record(from: string, run: Run): Promise<number>;
  /** Called when the command line itself was refused. */
  refused(): Promise<void>;
}

export const RECORD_SOURCES: readonly RecordSource[] = [hookSource];

/** Formats of `verbatim export` that a dialect brings. */
export const EXPORT_FORMATS = {
  etf: {
    summary: "Entire's normalised transcript",
    load: async () => (await import("./entire/etf.ts")).EtfExport,
  },
};
