/**
 * `verbatim ls`: every session of the agents on this machine and of the stores found from here,
 * without reading a log twice.
 */

import type { SessionSort } from "../../dialects/session-row.ts";
import { type CliCommand, textOption, UsageError, wholeNumber } from "../command/command.ts";
import { WHERE_OPTIONS, whereOf } from "./reading.ts";

const SORTS: Readonly<Record<string, SessionSort>> = {
  updated: "updated",
  created: "created",
  cost: "spend",
  tokens: "tokens",
  turns: "turns",
  id: "id",
};

export const ls: CliCommand = {
  name: "ls",
  summary: "List the sessions of all agents and stores, newest first",
  options: [
    {
      flags: "--sort <order>",
      summary: "sort order: newest or largest first; ids from a to z",
      choices: Object.keys(SORTS),
      default: "updated",
    },
    { flags: "--limit <n>", summary: "maximum number of sessions" },
    { flags: "--agent <name>", summary: "only of this agent: its program, dialect or own name" },
    { flags: "--project <dir>", summary: "only of this project: its path (. is here) or name" },
    { flags: "--all", summary: "list the sessions of subagents too" },
    { flags: "--json", summary: "print one JSON object per session" },
    { flags: "--source-gone", summary: "only sessions that just the guard still has" },
    { flags: "--ids", summary: "print only ids, one per line, unsorted; reads no log" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim ls",
    "verbatim ls --project . --agent 'claude code'",
    "verbatim ls --sort cost --limit 10",
    "verbatim ls --dialect rye --json | jq -r 'select(.status == \"error\").id'",
  ],

  async run({ options, io }) {
    const limit = options.limit === undefined ? Infinity : wholeNumber("--limit", options.limit, 1);
    const sort = SORTS[String(options.sort)] ?? "updated";
    if (options.ids === true) {
      if (options.json === true) throw new UsageError("choose --ids or --json");
      if (options.agent !== undefined || options.project !== undefined) {
        throw new UsageError("--ids reads no log, so it takes no --agent or --project; use --json");
      }
      const { printIds } = await import("./run-ls.ts");
      await printIds(whereOf(options), options.sourceGone === true, io);
      return 0;
    }
    const { printListing } = await import("./run-ls.ts");
    const isJson = options.json === true;
    const choice = {
      agent: textOption("--agent", options.agent),
      project: textOption("--project", options.project),
      isAll: isJson || options.all === true,
    };
    const isGone = options.sourceGone === true;
    return printListing(whereOf(options), { sort, limit, isJson, choice, isGone }, io);
  },
};
