/**
 * Run vouch: shows the unsigned lines, asks, and signs what was shown. For sessions, or for streams by
 * their paths, if `--root` is a server's data directory.
 */

import { resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { programSessionError } from "../../dialects/files/foreign-log.ts";
import { isDataDirectory } from "../../evidence/verify/data-directories.ts";
import { vouchForSession } from "../../evidence/verify/own-checkpoints.ts";
import { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import { withSignedStream } from "../../evidence/verify/verify-directory.ts";
import { groupDigits } from "../../sessions/render/phrases.ts";
import { safeText } from "../../sessions/render/text.ts";
import { loadStreamSigner } from "../../streams/signing/signing-user.ts";
import { DisplayedLog, type UnsignedRanges, unsignedIn } from "../../trust/judge/displayed-log.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import { claimOf } from "../../trust/proof/claims.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { EXIT_CODES, type Verdict } from "../../trust/proof/verdict.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import { type Run, UsageError } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { ChunkedOutput } from "../command/output.ts";
import { EXIT_DECLINED, isAgreed } from "../command/question.ts";
import { countText } from "../serve/findings-report.ts";
import { streamJudging, streamPath } from "./verify-database.ts";

/** A log to vouch for, the report on it, and how to sign what was shown. */
interface Vouchable {
  readonly log: SignableLog & { readonly id: string };
  readonly report: VerifyReport;
  sign(displayed: DisplayedLog): Promise<void>;
}

type OnWarning = (warning: string) => void;

export async function vouchFor(run: Run): Promise<number> {
  const { args, options, io } = run;
  if (args.length === 0 || options.json === true) {
    throw new UsageError(
      "--vouch shows named sessions to a person; name them, and leave out --json",
    );
  }
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const { root } = whereOf(options);
  const targets =
    root !== undefined && isDataDirectory(root)
      ? streamsNamed(run, resolve(root), onWarning)
      : sessionsNamed(run, onWarning);
  try {
    for await (const target of targets) {
      const code = await vouchForOne(run, target);
      if (code !== 0) return code;
    }
  } catch (cause) {
    // More is wrong than unsigned lines.
    if (!(cause instanceof VerbatimError && cause.code === "NOT_VERIFIED")) throw cause;
    io.err(`error: ${cause.message} (${cause.code})`);
    return EXIT_CODES[cause.details.verdict as Verdict];
  }
  return 0;
}

async function* sessionsNamed(
  { args, options }: Run,
  onWarning: OnWarning,
): AsyncGenerator<Vouchable> {
  const profile = options.profile === LEGACY_PROFILE ? LEGACY_PROFILE : undefined;
  const where = whereOf(options);
  const isLegacyProfile = profile === LEGACY_PROFILE;
  const verifier = await SessionVerifier.open(nodeHost, { where, isLegacyProfile, onWarning });
  for (const target of await verifier.find(args)) {
    const { id } = target;
    if (id === null) throw new UsageError(`${target.logId} is not in a store and is not signed`);
    const { program } = dialectNamed(target.dialect);
    if (program) throw programSessionError(program.label, id, target.dialect);
    const log = { ...target, id };
    const report = await verifier.verify(target);
    yield {
      log,
      report,
      sign: (displayed) => vouchForSession(nodeHost, log, displayed, onWarning, profile),
    };
  }
}

async function* streamsNamed(
  run: Run,
  root: string,
  onWarning: OnWarning,
): AsyncGenerator<Vouchable> {
  const judging = await streamJudging(run);
  for (const name of run.args) {
    yield withSignedStream(nodeHost, root, streamPath(name), async (log, names) => ({
      log,
      report: await verifyLog(nodeHost, log, judging.optionsFor(log, names)),
      async sign(displayed: DisplayedLog) {
        const { openLocalStore } = await import("../../streams/files/local-store.ts"); // And SQLite.
        const signing = await loadStreamSigner(nodeHost, onWarning);
        const store = await openLocalStore({ dataDirectory: root, signing });
        try {
          await store.vouch(log.id, (opened) => displayed.agreed(opened));
        } finally {
          await store.close();
        }
      },
    }));
  }
}

async function vouchForOne(run: Run, { log, report, sign }: Vouchable): Promise<number> {
  const { options, io } = run;
  const unsigned: UnsignedRanges = unsignedIn(report);
  if (unsigned.found.length === 0 && !unsigned.tail) {
    io.out(`${log.id}: every line is signed`);
    return 0;
  }
  const isLegacyProfile = options.profile === LEGACY_PROFILE;
  if (isLegacyProfile) tellOlder(run, log.id, report);
  const displayed = new DisplayedLog(nodeHost, log, unsigned);
  const output = new ChunkedOutput(io);
  let lines = 0;
  for await (const { start, bytes } of displayed.lines()) {
    lines++;
    if (!isLegacyProfile && claimOf(bytes, LEGACY_PROFILE)?.is === "legacy")
      throw unchecked(report);
    const text = Buffer.from(bytes).toString("utf8");
    await output.add(`byte ${groupDigits(start)}: ${safeText(text)}\n`);
  }
  await output.flush();
  const what = `${countText(lines, "line")} of ${log.id}`;
  if (options.dryRun === true) {
    io.out(`would vouch for ${what}`);
    return 0;
  }
  const question = `Do you vouch for these ${what}? They count as verified from then on.`;
  if (!(await isAgreed(run, question))) return EXIT_DECLINED;
  await sign(displayed);
  io.out(`vouched for ${what}`);
  return 0;
}

/** Prints that the Python original's signatures were verified too, or refuses. */
function tellOlder({ io }: Run, id: string, report: VerifyReport): void {
  const untrusted = report.keys.find(({ trusted }) => !trusted);
  if (untrusted) {
    throw notVouched(report, `a key that signed some of it is not trusted (fp ${untrusted.fp})`);
  }
  const { total, valid } = report.checkpoints;
  const owners = [...new Set(report.keys.map(({ owner }) => owner ?? "unknown"))].join(", ");
  io.err(`${id}: ${valid} of ${countText(total, "checkpoint")} hold, signed by ${owners}`);
}

function unchecked(report: VerifyReport): VerbatimError {
  return notVouched(
    report,
    "it holds checkpoints of the older format, whose signatures are to be checked first " +
      '(docs/security.md, "Transcripts of the Python original")',
  );
}

function notVouched({ path }: VerifyReport, why: string): VerbatimError {
  const verdict = "untrusted";
  const message = `${path} is not vouched for: ${why}`;
  return new VerbatimError("NOT_VERIFIED", message, { path, verdict });
}
