/** `verbatim search`: finds entries of all sessions that contain the given words. */

import { type CliCommand, UsageError, wholeNumber } from "../command/command.ts";
import { WHERE_OPTIONS, whereOf } from "./reading.ts";

export const search: CliCommand = {
  name: "search",
  summary: "Find words in the sessions of all agents and stores",
  args: [
    {
      name: "[query...]",
      summary:
        'words, "phrases", beginnings*, -without, and filters: agent: model: role: tool: since: ' +
        "until: dialect: session:",
    },
  ],
  options: [
    { flags: "--limit <n>", summary: "maximum number of entries, newest first", default: "20" },
    { flags: "--json", summary: "print one JSON object per entry" },
    {
      flags: "--rebuild",
      summary: "rebuild the search index first; without a query, do only that",
    },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim search stripe webhook since:90d",
    "verbatim search 'role:user \"exactly these words\"'",
    "verbatim search -- timeout -test tool:bash",
    "verbatim search 'conn* model:opus' --json | jq -r .session",
    "verbatim search --rebuild",
  ],

  async run({ args, options, io }) {
    const query = args.join(" ").trim();
    const isRebuilt = options.rebuild === true;
    if (query === "" && !isRebuilt) throw new UsageError("give words to search for");
    const limit = wholeNumber("--limit", options.limit, 1);
    const { runSearch } = await import("./run-search.ts");
    const asked = { query: query === "" ? null : query, limit, isRebuilt };
    return runSearch(whereOf(options), { ...asked, isJson: options.json === true }, io);
  },
};
