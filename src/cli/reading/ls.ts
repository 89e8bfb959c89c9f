/** `verbatim ls`: every session of the stores found from here, without reading a log twice. */

import type { SessionSort } from "../../catalog/session-row.ts";
import { type CliCommand, UsageError, wholeNumber } from "../../command/command.ts";
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
  summary: "List the sessions of the stores found from the current directory",
  options: [
    {
      flags: "--sort <order>",
      summary: "sort order: newest or largest first; ids from a to z",
      choices: Object.keys(SORTS),
      default: "updated",
    },
    { flags: "--limit <n>", summary: "maximum number of sessions" },
    { flags: "--json", summary: "print one JSON object per session" },
    { flags: "--ids", summary: "print only ids, one per line, unsorted; reads no log" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim ls",
    "verbatim ls --sort cost --limit 10",
    "verbatim ls --dialect rye --json | jq -r 'select(.status == \"error\").id'",
  ],

  async run({ options, io }) {
    const limit = options.limit === undefined ? Infinity : wholeNumber("--limit", options.limit, 1);
    const sort = SORTS[String(options.sort)] ?? "updated";
    if (options.ids === true) {
      if (options.json === true) throw new UsageError("choose --ids or --json");
      const { printIds } = await import("./listing.ts");
      await printIds(whereOf(options), io);
      return 0;
    }
    const { printListing } = await import("./listing.ts");
    await printListing(whereOf(options), { sort, limit, isJson: options.json === true }, io);
    return 0;
  },
};
