/** `verbatim usage`: what all agents on this machine used, and what it cost. */

import { type CliCommand, type Run, textOption, UsageError } from "../command/command.ts";
import type { UsageReport } from "./usage-report.ts";

const REPORTS: readonly UsageReport[] = [
  ...([
    "daily",
    "weekly",
    "monthly",
    "session",
    "project",
    "model",
    "agent",
    "directive",
    "blocks",
  ] as const),
];

export const usage: CliCommand = {
  name: "usage",
  summary: "Count tokens and cost of all agents: each response once, at the price of its time",
  args: [
    {
      name: "[report]",
      summary: `${REPORTS.join(", ")} or statusline; without one: today and this month`,
    },
  ],
  options: [
    { flags: "--since <day>", summary: "from this day on: 2026-11-15, 20261115 or 7d" },
    { flags: "--until <day>", summary: "up to and including this day" },
    { flags: "--agent <name>", summary: "only of this agent: its program or dialect" },
    { flags: "--project <dir>", summary: "only of this project: its path (. is here) or name" },
    { flags: "--tz <zone>", summary: "time zone of days, such as Europe/Berlin; default: yours" },
    { flags: "--json", summary: "print one JSON document" },
    { flags: "--csv", summary: "print comma-separated values" },
    { flags: "--compact", summary: "fewer columns; the default in a narrow terminal" },
    { flags: "--explain <id>", summary: "every row of a session, its price, and each duplicate" },
    { flags: "--budget <amount>", summary: "exit with 1 if more was spent: 20/day, 300/month" },
    { flags: "--reprice", summary: "price everything again with the newest table" },
  ],
  examples: [
    "verbatim usage",
    "verbatim usage daily --since 7d",
    "verbatim usage session --project . --json",
    "verbatim usage directive --agent rye",
    "verbatim usage --explain 7dce3a",
    "verbatim usage --budget 20/day || echo 'enough for today'",
  ],

  async run(run) {
    const [report = "glance"] = run.args;
    if (report === "statusline") {
      return printStatus(run.io);
    }
    if (report !== "glance" && !(REPORTS as readonly string[]).includes(report)) {
      const { nearest } = await import("../../core/base/choice.ts");
      const meant = nearest(report, REPORTS);
      const hint = meant === null ? "" : `did you mean ${meant}? `;
      throw new UsageError(`there is no report ${report}; ${hint}Choose ${REPORTS.join(", ")}`);
    }
    if (run.options.json === true && run.options.csv === true) {
      throw new UsageError("choose --json or --csv");
    }
    return printUsage(run, report as UsageReport);
  },
};

/** With other options than main.ts expects. */
async function printStatus(io: Run["io"]): Promise<number> {
  const { statusLine } = await import("./statusline.ts");
  const pieces: Buffer[] = [];
  if (!io.input.isTTY) {
    for await (const piece of io.input) pieces.push(Buffer.from(piece as Uint8Array));
  }
  const { line, error } = statusLine(Buffer.concat(pieces).toString(), Date.now());
  io.out(line);
  if (error !== null) io.err(`error: ${error}`);
  return error === null ? 0 : 1;
}

async function printUsage({ options, io }: Run, report: UsageReport): Promise<number> {
  const { openReports } = await import("./usage-report.ts");
  const { resolve } = await import("node:path");
  const project = textOption("--project", options.project);
  const isPath = project !== undefined && /^\.|\//.test(project);
  return openReports({
    io,
    report,
    since: textOption("--since", options.since),
    until: textOption("--until", options.until),
    agent: textOption("--agent", options.agent),
    project: isPath ? resolve(project) : project,
    zone: textOption("--tz", options.tz),
    format: options.json === true ? "json" : options.csv === true ? "csv" : "text",
    isCompact: options.compact === true,
    explain: textOption("--explain", options.explain),
    budget: textOption("--budget", options.budget),
    isRepriced: options.reprice === true,
  });
}
