/**
 * Commands: commands and options that dialects add to the command line. Not in `all.ts`, because
 * commands use stores, and stores use dialects.
 */

import type { CliCommand, CommandGroup, CommandOption, Run } from "../command/command.ts";
import { hookSource } from "./claude/door/hook-arguments.ts";
import { hooks } from "./claude/door/hooks-command.ts";
import { stats } from "./rye/door/stats-command.ts";

export const DIALECT_COMMANDS: readonly (CliCommand | CommandGroup)[] = [hooks, stats];

/** An input format for `verbatim record --from` with its own recorder. */
export interface RecordSource {
  readonly names: readonly string[];
  /** Options of `record` that only this source accepts. */
  readonly options: readonly CommandOption[];
  record(from: string, run: Run): Promise<number>;
  /** Called when the command line was refused. */
  refused(): Promise<void>;
}

export const RECORD_SOURCES: readonly RecordSource[] = [hookSource];

/** Export formats for `verbatim export` that dialects add. */
export const EXPORT_FORMATS = {
  etf: {
    summary: "Entire's normalised transcript",
    load: async () => (await import("./entire/etf.ts")).EtfExport,
  },
};
