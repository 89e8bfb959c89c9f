/** `verbatim doctor`: checks sessions without changing anything. */

import type { CliCommand, Io } from "../../command/command.ts";
import { jsonLine } from "../../command/json-line.ts";
import type { Examined } from "../../doctor/examine.ts";
import { ChunkedOutput } from "../chunked-output.ts";
import { WHERE_OPTIONS } from "../reading/reading.ts";
import { allStores, namedTarget, nodeDoctor } from "./examining.ts";

const EXIT_FOUND = 1;

export const doctor: CliCommand = {
  name: "doctor",
  summary: "Check sessions and the files next to them for problems; writes nothing",
  args: [{ name: "[path]", summary: "a session, a log, or a store's root; default: all stores" }],
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
    const target = await (name === undefined ? allStores(run) : namedTarget(name, run));
    const { examineOne, examineStore } = await import("../../doctor/examine.ts");
    const doctor = await nodeDoctor(io);
    const examined =
      "session" in target
        ? examineOne(doctor, target.session)
        : inTurn(target.stores.map((store) => examineStore(doctor, store)));
    return options.json ? printJson(examined, io) : printText(examined, io);
  },
};

async function* inTurn(all: readonly AsyncIterable<Examined>[]): AsyncGenerator<Examined> {
  for (const each of all) yield* each;
}

async function printJson(examined: AsyncIterable<Examined>, io: Io): Promise<number> {
  const { FindingsCount } = await import("./findings-report.ts");
  const count = new FindingsCount();
  const output = new ChunkedOutput(io);
  for await (const step of examined) {
    if ("session" in step) {
      io.progress(`${++count.sessions} sessions`);
      continue;
    }
    count.add(step.finding);
    await output.add(jsonLine(step.finding));
  }
  io.progress(null);
  await output.add(jsonLine({ summary: count }));
  await output.flush();
  return count.isClean ? 0 : EXIT_FOUND;
}

async function printText(examined: AsyncIterable<Examined>, io: Io): Promise<number> {
  const { FindingsCount, FindingsReport } = await import("./findings-report.ts");
  const count = new FindingsCount();
  const output = new ChunkedOutput(io);
  const ofStore = new FindingsReport(null);
  let ofSession = new FindingsReport(null);
  let current: string | null = null;
  for await (const step of examined) {
    if ("session" in step) {
      await output.add(ofSession.text());
      ofSession = new FindingsReport(step.session);
      current = step.session.id;
      io.progress(`${++count.sessions} sessions`);
      continue;
    }
    count.add(step.finding);
    const { session } = step.finding;
    (count.sessions > 0 && session === current ? ofSession : ofStore).add(step.finding);
  }
  io.progress(null);
  await output.add(ofSession.text() + ofStore.text() + count.text());
  await output.flush();
  return count.isClean ? 0 : EXIT_FOUND;
}
