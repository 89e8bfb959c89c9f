/**
 * Dialect options: what dialects add to the options of `record`. Not in `all.ts`, because commands
 * use stores, and stores use dialects.
 */

import { recording as entire } from "../../dialects/entire/files/recording.ts";
import { recording as homeagent } from "../../dialects/homeagent/session-id.ts";
import { recording as rye } from "../../dialects/rye/files/recording.ts";
import type { CommandOption, Run } from "../command/command.ts";
import { hookSource } from "./hook-arguments.ts";

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

/** What writes Entire's normalised transcript, for `verbatim export`. */
export async function loadEtf() {
  return (await import("../../dialects/entire/etf.ts")).EtfExport;
}
