/** Vouch: shows a person the lines that nobody signed, asks, and signs what was shown. */

import { VerbatimError } from "../base/errors.ts";
import { nodeHost } from "../base/node-host.ts";
import { EXIT_CODES, type Verdict } from "../proof/verdict.ts";
import { grouped } from "../render/phrases.ts";
import { safeText } from "../render/safe-text.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { SessionVerifier } from "../store/session-verifier.ts";
import { Shown, type Unsigned, unsignedIn } from "../store/vouching.ts";
import { ChunkedOutput } from "./chunked-output.ts";
import { type Run, UsageError } from "./command.ts";
import { counted } from "./examining.ts";
import { EXIT_DECLINED, isAgreed } from "./question.ts";
import { whereOf } from "./reading.ts";

export async function vouchFor(run: Run): Promise<number> {
  const { args, options, io } = run;
  if (options.all === true || options.json === true) {
    throw new UsageError("--vouch is for sessions that are named, and shows them to a person");
  }
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const verifier = await SessionVerifier.open(nodeHost, { where: whereOf(options), onWarning });
  for (const target of await verifier.find(args)) {
    const { id } = target;
    if (id === null) throw new UsageError(`${target.logId} lies in no store, and is not signed`);
    const code = await vouchForOne(run, { ...target, id }, verifier);
    if (code !== 0) return code;
  }
  return 0;
}

async function vouchForOne(
  run: Run,
  target: SessionLog & { readonly id: string },
  verifier: SessionVerifier,
): Promise<number> {
  const { options, io } = run;
  const unsigned = await unsignedOf(run, target, verifier);
  if (typeof unsigned === "number") return unsigned;
  if (unsigned.found.length === 0 && !unsigned.tail) {
    io.out(`${target.id}: every line is signed`);
    return 0;
  }
  const shown = new Shown(nodeHost, target, unsigned);
  const output = new ChunkedOutput(io);
  let lines = 0;
  for await (const { start, bytes } of shown.lines()) {
    lines++;
    const text = Buffer.from(bytes).toString("utf8");
    await output.add(`byte ${grouped(start)}: ${safeText(text)}\n`);
  }
  await output.flush();
  const what = `${counted(lines, "line")} of ${target.id}`;
  if (options.dryRun === true) {
    io.out(`would vouch for ${what}`);
    return 0;
  }
  const question = `Do you vouch for these ${what}? They count as verified from then on.`;
  if (!(await isAgreed(run, question))) return EXIT_DECLINED;
  await shown.vouch((warning) => io.err(`warning: ${warning}`));
  io.out(`vouched for ${what}`);
  return 0;
}

/** The verdict's exit code where there is more wrong than that lines are not signed. */
async function unsignedOf(
  { io }: Run,
  target: SessionLog,
  verifier: SessionVerifier,
): Promise<Unsigned | number> {
  const report = await verifier.verify(target);
  try {
    return unsignedIn(report);
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "NOT_VERIFIED")) throw cause;
    io.err(`error: ${cause.message} (${cause.code})`);
    return EXIT_CODES[cause.details.verdict as Verdict];
  }
}
