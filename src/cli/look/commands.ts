/** Commands of the group `look`: what they are called and take. Each loads its code when it runs. */

import type { CliCommand } from "../command/command.ts";
import {
  FILTER_OPTIONS,
  REPORTS,
  SESSION_ARGUMENT,
  SORTS,
  VIEW_OPTIONS,
  WHERE_OPTIONS,
} from "../command/options.ts";

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
    { flags: "--all", summary: "list the sessions of subagents too" },
    { flags: "--json", summary: "print one JSON object per session" },
    { flags: "--source-gone", summary: "only sessions that just the guard still has" },
    { flags: "--ids", summary: "print only ids, one per line, unsorted; reads no log" },
    ...FILTER_OPTIONS,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim ls",
    "verbatim ls --project . --agent 'claude code'",
    "verbatim ls --sort cost --limit 10",
    "verbatim ls --dialect rye --json | jq -r 'select(.status == \"error\").id'",
  ],

  run: async (run) => (await import("./ls.ts")).runLs(run),
};

export const show: CliCommand = {
  name: "show",
  summary: "Show a session, or follow it as it grows",
  args: [SESSION_ARGUMENT],
  options: [
    ...VIEW_OPTIONS,
    {
      flags: "--full",
      summary: "do not fold what is long; with --json: also texts that are in files",
    },
    { flags: "--no-pager", summary: "on a terminal: print everything at once" },
    { flags: "--last <n>", summary: "only the last n entries" },
    {
      flags: "--follow",
      summary: "the last 10 entries, and those that any process appends, until interrupted",
    },
    { flags: "--generation <n>", summary: "an older generation that the guard kept" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim show last",
    "verbatim show hello_world-1739012630",
    "verbatim show hello --last 20 --thinking",
    "verbatim show last --follow",
    "verbatim show .ai/threads/hello_world-1739012630 --no-tools",
    "verbatim show kitchen/2026-11-15 --json | jq 'select(.role == \"user\")'",
  ],

  run: async (run) => (await import("./show.ts")).runShow(run),
};

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
    { flags: "--limit <n>", summary: "maximum number of entries", default: "20" },
    {
      flags: "--sort <order>",
      summary: "by the time of the entries",
      choices: ["newest", "oldest"],
      default: "newest",
    },
    { flags: "--json", summary: "print one JSON object per entry" },
    {
      flags: "--rebuild",
      summary: "rebuild the search index first; without a query, do only that",
    },
    ...FILTER_OPTIONS,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim search stripe webhook since:90d",
    "verbatim search 'role:user \"exactly these words\"'",
    "verbatim search -- timeout -test tool:bash",
    "verbatim search 'conn* model:opus' --json | jq -r .session",
    "verbatim search --rebuild",
  ],

  run: async (run) => (await import("./search.ts")).searchCommand(run),
};

export const usage: CliCommand = {
  name: "usage",
  summary: "Count tokens and cost of all agents, each response once",
  args: [
    {
      name: "[report]",
      summary: `${REPORTS.join(", ")} or statusline; without one: today and this month`,
    },
  ],
  options: [
    { flags: "--tz <zone>", summary: "time zone of days, such as Europe/Berlin; default: yours" },
    { flags: "--json", summary: "print one JSON document" },
    { flags: "--csv", summary: "print comma-separated values" },
    { flags: "--compact", summary: "fewer columns; the default in a narrow terminal" },
    { flags: "--explain <id>", summary: "every row of a session, its price, and each duplicate" },
    { flags: "--budget <amount>", summary: "exit with 1 if more was spent: 20/day, 300/month" },
    { flags: "--reprice", summary: "price everything again with the newest table" },
    ...FILTER_OPTIONS,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim usage",
    "verbatim usage daily --since 7d",
    "verbatim usage session --project . --json",
    "verbatim usage directive --agent rye",
    "verbatim usage --explain 7dce3a",
    "verbatim usage --budget 20/day || echo 'enough for today'",
    "verbatim usage user --root /var/lib/verbatim --csv",
  ],

  run: async (run) => (await import("./usage.ts")).runUsage(run),
};

export const agents: CliCommand = {
  name: "agents",
  summary: "List the agents found here, and what they will delete",
  options: [{ flags: "--json", summary: "print one JSON object per agent and directory" }],
  examples: ["verbatim agents", "verbatim agents --json | jq -r 'select(.due > 0).label'"],

  run: async (run) => (await import("./agents.ts")).runAgents(run),
};
