/** `verbatim doctor`: checks sessions, or the streams of a server, without changing anything. */

import type { ExaminedItem } from "../../evidence/doctor/examine.ts";
import type { CliCommand } from "../command/command.ts";
import { WHERE_OPTIONS } from "../look/reading.ts";
import { allStores, findDoctorTarget, nodeDoctor } from "./doctor-target.ts";

export const doctor: CliCommand = {
  name: "doctor",
  summary: "Check sessions, streams and the files next to them for problems; writes nothing",
  args: [
    {
      name: "[path]",
      summary:
        "a session, a log, a store's root, or a server's data directory; default: all stores",
    },
  ],
  options: [
    { flags: "--json", summary: "print one JSON object per finding, and a summary last" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim doctor",
    "verbatim doctor hello_world-1739012630",
    "verbatim doctor ~/project --json | jq -r 'select(.mends).path'",
  ],

  async run(run) {
    const { args, options, io } = run;
    io.goOnUnread();
    const [name] = args;
    const target = await (name === undefined ? allStores(run, false) : findDoctorTarget(name, run));
    const { printFindings } = await import("./findings-report.ts");
    const isJson = options.json === true;
    if ("data" in target) {
      const { nodeHost } = await import("../../core/base/node-host.ts");
      const { examineData } = await import("../../evidence/doctor/check-directory.ts");
      return printFindings(examineData(nodeHost, target.data), io, { isJson, noun: "stream" });
    }
    const { examineOne, examineStore } = await import("../../evidence/doctor/examine.ts");
    const doctor = await nodeDoctor(io);
    const examined =
      "session" in target
        ? examineOne(doctor, target.session)
        : inTurn(target.stores.map((store) => examineStore(doctor, store)));
    return printFindings(examined, io, { isJson, noun: "session" });
  },
};

async function* inTurn(all: readonly AsyncIterable<ExaminedItem>[]): AsyncGenerator<ExaminedItem> {
  for (const each of all) yield* each;
}
