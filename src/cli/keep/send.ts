/** `verbatim send`: delivers sessions to a server: those that wait, and those that are named. */

import type { OutgoingSession } from "../../guard/remote/delivery/outbox.ts";
import { type CliCommand, type Run, textOption, UsageError } from "../command/command.ts";
import { WHERE_OPTIONS, whereOf } from "../look/reading.ts";

const EXIT_LEFT = 7;

export const send: CliCommand = {
  name: "send",
  summary: "Deliver sessions to a server: all that wait for it, or these",
  args: [{ name: "[sessions...]", summary: "ids, the beginnings of ids, or paths" }],
  options: [
    { flags: "--to <url>", summary: "the server, and a folder there: https://host/folder" },
    { flags: "--json", summary: "print the result as one JSON object" },
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim send --to https://verbatim.example.com",
    "verbatim send --to https://verbatim.example.com/laptop hello_world-1739012630",
  ],

  async run(run) {
    const { args, options, io } = run;
    const to = textOption("--to", options.to);
    if (to === undefined) throw new UsageError("--to is missing: the address of the server");
    const { openSender, tellLeft } = await import("./open-sender.ts");
    const sender = await openSender(to, io);
    try {
      const sessions = args.length > 0 ? await named(run) : await sender.waiting();
      const report = await sender.send(sessions);
      const { delivered, left } = report;
      if (options.json === true) io.out(JSON.stringify({ delivered, left }));
      else io.out(`${delivered} ${delivered === 1 ? "session" : "sessions"} delivered`);
      tellLeft(report, to, io);
      return left.length > 0 ? EXIT_LEFT : 0;
    } finally {
      await sender.close();
    }
  },
};

async function named(run: Run): Promise<OutgoingSession[]> {
  const { findSession } = await import("../../sessions/list/find-session.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { dialectNamed } = await import("../../dialects/all.ts");
  const sessions: OutgoingSession[] = [];
  for (const name of run.args) {
    const { dialect, root, id } = await findSession(nodeHost, name, whereOf(run.options));
    const { isReadOnly, logPath } = dialectNamed(dialect);
    if (id === null) throw new UsageError(`${name} is in no store; name a session of one`);
    if (isReadOnly) {
      throw new UsageError(
        `${name} is of another program, which may rewrite it; \`verbatim guard --to\` sends copies`,
      );
    }
    const path = logPath(id).join("/");
    sessions.push({ dialect, root, path, file: path, generation: null });
  }
  return sessions;
}
