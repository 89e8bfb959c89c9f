/** `verbatim guard send`: delivers sessions to a server: those that wait, and those that are named. */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import type { OutgoingSession } from "../../guard/remote/delivery/outbox.ts";
import { Sender, type SendReport } from "../../guard/remote/delivery/sender.ts";
import { type Remote, remoteOf } from "../../guard/remote/remote-url.ts";
import { type Io, type Run, textOption, UsageError } from "../command/command.ts";
import { whereOf } from "../command/options.ts";

const EXIT_LEFT = 7;

export async function runSend(run: Run): Promise<number> {
  const { args, options, io } = run;
  const to = textOption("--to", options.to);
  if (to === undefined) throw new UsageError("--to is missing: the address of the server");
  const sender = await openSender(to, io);
  try {
    const sessions = args.length > 0 ? await namedSessions(run) : await sender.waiting();
    const report = await sender.send(sessions);
    const { delivered, left } = report;
    if (options.json === true) io.out(JSON.stringify({ delivered, left }));
    else io.out(`${delivered} ${delivered === 1 ? "session" : "sessions"} delivered`);
    tellLeft(report, to, io);
    return left.length > 0 ? EXIT_LEFT : 0;
  } finally {
    await sender.close();
  }
}

async function namedSessions(run: Run): Promise<OutgoingSession[]> {
  const { findSession } = await import("../../sessions/list/find-session.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { dialectNamed } = await import("../../dialects/all.ts");
  const sessions: OutgoingSession[] = [];
  for (const name of run.args) {
    const { dialect, root, id } = await findSession(nodeHost, name, whereOf(run.options));
    const { naming, writing } = dialectNamed(dialect);
    if (id === null) throw new UsageError(`${name} is in no store; name a session of one`);
    if (!writing) {
      throw new UsageError(
        `${name} is of another program, which may rewrite it; \`verbatim guard --to\` sends copies`,
      );
    }
    const path = naming.logPath(id).join("/");
    sessions.push({ dialect, root, path, file: path, generation: null });
  }
  return sessions;
}

/** A sender for the value of `--to`; a bad address is wrong usage. */
export async function openSender(
  to: string,
  io: Io,
  options: { readonly closeMs?: number } = {},
): Promise<Sender> {
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  return Sender.open({ host: nodeHost, remote: remoteFor(to), onWarning, ...options });
}

function remoteFor(to: string): Remote {
  try {
    return remoteOf(to, "--to");
  } catch (cause) {
    throw cause instanceof VerbatimError ? new UsageError(cause.message) : cause;
  }
}

const TOLD_MAX = 10;

/** On stderr: which sessions are not delivered yet, and how that is done. */
export function tellLeft({ left }: SendReport, to: string, io: Io): void {
  if (left.length === 0) return;
  for (const { path, problem } of left.slice(0, TOLD_MAX)) io.err(`not sent: ${path}: ${problem}`);
  if (left.length > TOLD_MAX) io.err(`not sent: ${left.length - TOLD_MAX} more`);
  io.err(
    `nothing is lost: sessions stay here until \`verbatim guard send --to ${to}\` delivers them`,
  );
}
