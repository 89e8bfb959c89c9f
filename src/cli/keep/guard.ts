/** `verbatim guard`: keeps copies of every agent's sessions. */

import { type CliCommand, type Run, textOption, UsageError } from "../command/command.ts";

const ACTIONS = ["status", "install", "uninstall"];

export const guard: CliCommand = {
  name: "guard",
  summary: "Keep copies of every agent's sessions, until interrupted",
  args: [{ name: "[action]", summary: "status, install or uninstall; default: guard" }],
  options: [
    { flags: "--once", summary: "copy what changed, and end; for cron" },
    { flags: "--verify", summary: "read the copies again, against sources and signatures" },
    { flags: "--sign", summary: "sign the copies with your key" },
    { flags: "--to <url>", summary: "also send the copies to a server: https://host/folder" },
    { flags: "--agent <name>", summary: "only this agent" },
    { flags: "--json", summary: "print one JSON object per event, problem or agent" },
  ],
  examples: [
    "verbatim guard",
    "verbatim guard --once",
    "verbatim guard --to https://verbatim.example.com",
    "verbatim guard install",
    "verbatim guard status",
    "verbatim guard --verify",
  ],

  async run(run) {
    const { args, options } = run;
    const [action] = args;
    if (action !== undefined && !ACTIONS.includes(action)) {
      throw new UsageError(`guard takes ${ACTIONS.join(", ")}, not ${action}`);
    }
    if (options.once === true && options.verify === true) {
      throw new UsageError("choose --once or --verify");
    }
    if (options.to !== undefined && (action !== undefined || options.verify === true)) {
      throw new UsageError("--to is for guarding alone");
    }
    const guarding = await import("./run-guard.ts");
    if (action === "status") return guarding.printStatus(run);
    if (action === "install") return guarding.install(run);
    if (action === "uninstall") return guarding.uninstall(run);
    if (options.verify === true) return guarding.verifyCopies(run);
    return guarding.runGuard(run, agentOf(run), options.once === true);
  },
};

function agentOf({ options }: Run): string | undefined {
  return textOption("--agent", options.agent);
}
