/**
 * Commands: commands and options that dialects add to the command line. Not in `all.ts`, because
 * commands use stores, and stores use dialects.
 */

import { recording as entire } from "../../dialects/entire/files/recording.ts";
import { recording as homeagent } from "../../dialects/homeagent/files/recording.ts";
import { recording as rye } from "../../dialects/rye/files/recording.ts";
import type { CliCommand, CommandGroup, CommandOption, Run } from "../command/command.ts";
import { hookSource } from "./hook-arguments.ts";
import { hooks } from "./hooks-command.ts";

export const DIALECT_COMMANDS: readonly (CliCommand | CommandGroup)[] = [hooks];

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

/** Options of `verbatim record` that only one dialect has. */
export const RECORD_OPTIONS = Object.entries({ rye, homeagent, entire }).flatMap(
  ([dialect, { options = [] }]) => options.map((option) => ({ dialect, option })),
);

/** Export formats for `verbatim export` that dialects add. */
export const EXPORT_FORMATS = {
  etf: {
    summary: "Entire's normalised transcript",
    load: async () => (await import("../../dialects/entire/etf.ts")).EtfExport,
  },
};
