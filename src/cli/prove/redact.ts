/**
 * `verbatim redact`: writes a copy of a session in which some things are withheld; or erases them
 * from the session itself.
 */

import type { CliCommand } from "../command/command.ts";
import { YES_OPTION } from "../command/question.ts";
import { SESSION_ARGUMENT, WHERE_OPTIONS } from "../look/reading.ts";

export const redact: CliCommand = {
  name: "redact",
  summary: "Write a copy that shows part of a session and proves that it is part of it",
  args: [SESSION_ARGUMENT],
  options: [
    { flags: "-o, --output <file>", summary: "file to write, NAME.vbd; must not exist" },
    { flags: "--reason <text>", summary: "why these things are withheld; readers see it" },
    {
      flags: "--match <text>",
      summary: "withhold every string or line with this text, in any spelling of it",
      isRepeatable: true,
    },
    { flags: "--allow-missing", summary: "continue if a text of --match is not found" },
    {
      flags: "--entry <n>",
      summary: "withhold the entry on this line of the log, from 1",
      isRepeatable: true,
    },
    {
      flags: "--rule <name>",
      summary: "withhold what this rule of `scan` finds; `all` for every rule",
      isRepeatable: true,
    },
    { flags: "--from-scan <file>", summary: "withhold what `verbatim scan --json` found" },
    {
      flags: "--in-place",
      summary: "erase it from the session itself, for good; keeps a copy as proof of the rest",
    },
    { flags: "--mask", summary: "add your wording: the text around what was found" },
    {
      flags: "--plain",
      summary: "write a masked copy without any proof, of unsigned sessions too",
    },
    { flags: "--dry-run", summary: "only show what would be withheld" },
    YES_OPTION,
    { flags: "--json", summary: "print what was withheld, as JSON" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    'verbatim redact hello --match "17 Mill Lane" --reason "private address" -o hello.vbd',
    'verbatim redact hello --entry 12 --entry 13 --reason "another client" -o hello.vbd',
    'verbatim redact hello --rule all --dry-run --reason "keys and addresses"',
    'verbatim redact hello --in-place --match "17 Mill Lane" --reason "private address"',
    "verbatim verify hello.vbd --key ada.pem",
  ],

  async run(run) {
    const { runRedact } = await import("./run-redact.ts");
    return runRedact(run);
  },
};
