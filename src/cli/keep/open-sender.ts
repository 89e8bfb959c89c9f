/** Open sender: opens the sender that `--to` asks for, and prints what it could not deliver. */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { Sender, type SendReport } from "../../guard/remote/delivery/sender.ts";
import { type Remote, remoteOf } from "../../guard/remote/remote-url.ts";
import { type Io, UsageError } from "../command/command.ts";

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
  io.err(`nothing is lost: sessions stay here until \`verbatim send --to ${to}\` delivers them`);
}
