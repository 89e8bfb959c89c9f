/**
 * Vouch: shows the unsigned lines, asks, and signs what was shown. For sessions, or for streams by
 * their paths, if `--root` is a server's data directory.
 */

import { resolve } from "node:path";
import { VerbatimError } from "../../base/errors.ts";
import { nodeHost } from "../../base/node-host.ts";
import { type Run, UsageError } from "../../command/command.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { ofProgram } from "../../dialects/files/foreign-log.ts";
import { claimOf } from "../../proof/claims.ts";
import { LEGACY_PROFILE } from "../../proof/envelopes.ts";
import { EXIT_CODES, type Verdict } from "../../proof/verdict.ts";
import { grouped } from "../../render/phrases.ts";
import { safeText } from "../../render/text.ts";
import type { VerifyReport } from "../../signing/judging/report.ts";
import { Shown, type Unsigned, unsignedIn } from "../../signing/judging/shown.ts";
import { verifyLog } from "../../signing/judging/verify.ts";
import type { SignableLog } from "../../signing/session-log.ts";
import { loadStreamSigner } from "../../streams/signing/signing-user.ts";
import { isDataDirectory } from "../../verifying/data-directories.ts";
import { SessionVerifier } from "../../verifying/session-verifier.ts";
import { withSignedStream } from "../../verifying/verify-directory.ts";
import { vouchForSession } from "../../verifying/vouching.ts";
import { counted } from "../caring/findings-report.ts";
import { ChunkedOutput } from "../chunked-output.ts";
import { EXIT_DECLINED, isAgreed } from "../question.ts";
import { whereOf } from "../reading/reading.ts";
import { streamJudging, streamNamed } from "./verify-streams.ts";

/** A log to vouch for, the report on it, and how to sign what was shown. */
interface Vouchable {
  readonly log: SignableLog & { readonly id: string };
  readonly report: VerifyReport;
  sign(shown: Shown): Promise<void>;
}

type OnWarning = (warning: string) => void;

export async function vouchFor(run: Run): Promise<number> {
  const { options, io } = run;
  if (options.all === true || options.json === true) {
    throw new UsageError(
      "--vouch shows named sessions to a person; name them, and leave out --all and --json",
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
    if (program) throw ofProgram(program.label, id, target.dialect);
    const log = { ...target, id };
    const report = await verifier.verify(target);
    yield {
      log,
      report,
      sign: (shown) => vouchForSession(nodeHost, log, shown, onWarning, profile),
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
    yield withSignedStream(nodeHost, root, streamNamed(name), async (log, names) => ({
      log,
      report: await verifyLog(nodeHost, log, judging.optionsFor(log, names)),
      async sign(shown: Shown) {
        const { openLocalStore } = await import("../../streams/local-store.ts"); // And SQLite.
        const signing = await loadStreamSigner(nodeHost, onWarning);
        const store = await openLocalStore({ dataDirectory: root, signing });
        try {
          await store.vouch(log.id, (opened) => shown.agreed(opened));
        } finally {
          await store.close();
        }
      },
    }));
  }
}

async function vouchForOne(run: Run, { log, report, sign }: Vouchable): Promise<number> {
  const { options, io } = run;
  const unsigned: Unsigned = unsignedIn(report);
  if (unsigned.found.length === 0 && !unsigned.tail) {
    io.out(`${log.id}: every line is signed`);
    return 0;
  }
  const isLegacyProfile = options.profile === LEGACY_PROFILE;
  if (isLegacyProfile) tellOlder(run, log.id, report);
  const shown = new Shown(nodeHost, log, unsigned);
  const output = new ChunkedOutput(io);
  let lines = 0;
  for await (const { start, bytes } of shown.lines()) {
    lines++;
    if (!isLegacyProfile && claimOf(bytes, LEGACY_PROFILE)?.is === "legacy")
      throw unchecked(report);
    const text = Buffer.from(bytes).toString("utf8");
    await output.add(`byte ${grouped(start)}: ${safeText(text)}\n`);
  }
  await output.flush();
  const what = `${counted(lines, "line")} of ${log.id}`;
  if (options.dryRun === true) {
    io.out(`would vouch for ${what}`);
    return 0;
  }
  const question = `Do you vouch for these ${what}? They count as verified from then on.`;
  if (!(await isAgreed(run, question))) return EXIT_DECLINED;
  await sign(shown);
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
  io.err(`${id}: ${valid} of ${counted(total, "checkpoint")} hold, signed by ${owners}`);
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
