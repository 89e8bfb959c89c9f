/**
 * `verbatim repair`: mends what `doctor` finds, and reports what it did and what it could not do.
 */

import type { RepairStep } from "../../evidence/doctor/repair.ts";
import { ChunkedOutput } from "../command/chunked-output.ts";
import { type CliCommand, type Run, UsageError } from "../command/command.ts";
import { jsonLine } from "../command/json-line.ts";
import { PROFILE_OPTION, WHERE_OPTIONS } from "../look/reading.ts";
import { allStores, type DoctorTarget, findDoctorTarget, nodeDoctor } from "./doctor-target.ts";

const EXIT_LEFT = 1;
const EXIT_FAILED = 7;

export const repair: CliCommand = {
  name: "repair",
  summary: "Fix what doctor finds: torn tails, permissions, derived files; makes copies first",
  args: [{ name: "[session...]", summary: "ids, the beginnings of ids, paths, or stores' roots" }],
  options: [
    { flags: "--all", summary: "all sessions of the stores found from the current directory" },
    { flags: "--dry-run", summary: "print what would be done, and change nothing" },
    { flags: "--vouch", summary: "show unsigned lines, ask, and sign them" },
    { flags: "--yes", summary: "with --vouch: do not ask for confirmation; for scripts" },
    PROFILE_OPTION,
    { flags: "--json", summary: "print one JSON object per step, and a summary last" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim repair hello_world-1739012630",
    "verbatim repair --all --dry-run",
    "verbatim repair --vouch hello_world-1739012630",
    "verbatim repair ~/project --json | jq -r 'select(.action == \"left\")'",
  ],

  async run(run) {
    const { args, options, io } = run;
    io.goOnUnread();
    if (options.all !== true && args.length === 0) {
      throw new UsageError("name what to repair, or give --all");
    }
    if (options.all === true && args.length > 0) {
      throw new UsageError("--all repairs everything; do not name sessions with it");
    }
    const { refuseDatabases } = await import("./copy-places.ts");
    const root = typeof options.root === "string" ? options.root : undefined;
    refuseDatabases([root, ...args], options.vouch === true ? "repair --vouch" : "repair");
    if (options.vouch === true) {
      const { vouchFor } = await import("../prove/run-vouch.ts");
      return vouchFor(run);
    }
    if (options.yes === true) throw new UsageError("--yes needs --vouch: nothing else asks");
    const { finishErasures } = await import("../prove/run-erase.ts");
    if (options.dryRun !== true) await finishErasures(run);
    const targets: DoctorTarget[] = [];
    if (options.all === true) targets.push(await allStores(run, true));
    for (const name of args) targets.push(await findDoctorTarget(name, run));

    const { RepairPrinter } = await import("./findings-report.ts");
    const report = new RepairPrinter();
    const output = new ChunkedOutput(io);
    for await (const step of repairTargets(targets, run)) {
      if (step.kind === "session") io.progress(`${report.summary.sessions + 1} sessions`);
      const line = report.add(step);
      await output.add(options.json ? (line.json === null ? "" : jsonLine(line.json)) : line.text);
    }
    io.progress(null);
    await output.add(
      options.json ? jsonLine({ summary: report.summary }) : report.text(options.dryRun === true),
    );
    await output.flush();
    if (report.summary.failed > 0) return EXIT_FAILED;
    return report.summary.left > 0 ? EXIT_LEFT : 0;
  },
};

async function* repairTargets(
  targets: readonly DoctorTarget[],
  { options, io }: Run,
): AsyncGenerator<RepairStep> {
  const { repairOne, repairStore } = await import("../../evidence/doctor/repair.ts");
  const doctor = await nodeDoctor(io);
  const how = { isDryRun: options.dryRun === true };
  for (const target of targets) {
    if ("session" in target) yield* repairOne(doctor, target.session, how);
    else if ("stores" in target) {
      for (const store of target.stores) yield* repairStore(doctor, store, how);
    } else {
      const { repairData } = await import("../../evidence/doctor/repair.ts");
      yield* repairData(doctor.host, target.data, how);
    }
  }
}
