/** `verbatim scan`: finds keys, passwords and personal data in sessions. */

import { type CliCommand, textOption, textOptions } from "../command/command.ts";
import { WHERE_OPTIONS, whereOf } from "../look/reading.ts";

export const scan: CliCommand = {
  name: "scan",
  summary: "Find keys, passwords and personal data in sessions",
  args: [
    {
      name: "[sessions...]",
      summary:
        "ids, beginnings of ids, paths of logs, or `last`; default: all sessions found from here",
    },
  ],
  options: [
    { flags: "--agent <name>", summary: "only of this agent: its program, dialect or own name" },
    { flags: "--project <dir>", summary: "only of this project: its path (. is here) or name" },
    { flags: "--all", summary: "all sessions found from here, as without names" },
    { flags: "--rule <id>", summary: "print only finds of this rule", isRepeatable: true },
    {
      flags: "--pattern <name=regex>",
      summary: "a pattern of your own, NAME=REGEX or NAME=/REGEX/i",
      isRepeatable: true,
    },
    { flags: "--patterns <file>", summary: "patterns of your own, one per line; # for comments" },
    { flags: "--rescan", summary: "ignore what earlier scans found, and read everything again" },
    { flags: "--json", summary: "print one JSON object per find" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim scan last",
    "verbatim scan --project . --rule github --rule aws",
    "verbatim scan --pattern 'ticket=INC-\\d{4,8}'",
    "verbatim scan --json | jq -r '[.session, .rule, .tool] | @tsv'",
  ],

  async run({ args, options, io }) {
    io.goOnUnread();
    const asked = {
      names: args,
      where: whereOf(options),
      agent: textOption("--agent", options.agent),
      project: textOption("--project", options.project),
      isAll: options.all === true,
      rules: textOptions("--rule", options.rule) ?? [],
      patterns: textOptions("--pattern", options.pattern) ?? [],
      patternFile: textOption("--patterns", options.patterns),
      isRescan: options.rescan === true,
      isJson: options.json === true,
    };
    const { runScan } = await import("./run-scan.ts");
    return runScan(asked, io);
  },
};
