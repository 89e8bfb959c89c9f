/** Verify run: judges what the user named, prints a report on each, and returns the exit code. */

import { nodeHost } from "../../core/base/node-host.ts";
import { ExpectedPins } from "../../evidence/verify/expected-pins.ts";
import { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import { policyIn } from "../../evidence/verify/verified-entries.ts";
import { safeLine } from "../../sessions/render/text.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import {
  type Allowances,
  EXIT_CODES,
  exitCode,
  type Verdict,
  worse,
} from "../../trust/proof/verdict.ts";
import { type Run, textOption, UsageError } from "../command/command.ts";
import { jsonLine } from "../command/json-line.ts";
import { whereOf } from "../look/reading.ts";
import { countText } from "../serve/findings-report.ts";
import { streamJudgingOf } from "./verify-streams.ts";
import {
  TARGET_KINDS,
  type TargetReport,
  type Targets,
  targetsOf,
  textLines,
  type VerifyTools,
} from "./verify-targets.ts";
import { WitnessJudge } from "./verify-witnessed.ts";

export async function runVerify(run: Run): Promise<number> {
  const { args, options, io } = run;
  io.goOnUnread();
  const verifier = await openVerifier(run);
  const judging = await streamJudgingOf(verifier.judging, run);
  const targets = await targetsOf(args, verifier, judging);
  if (options.key !== undefined && targets.copies.length + targets.proofs.length === 0) {
    throw notForSessions();
  }
  let emptyStreams = 0;
  const onEmpty = () => emptyStreams++;
  const witnesses = new WitnessJudge(run, verifier.judging);
  const tools: VerifyTools = { run, verifier, judging, witnesses, onEmpty };
  const reports = new ReportPrinter(tools, targets);
  for (const { verify } of TARGET_KINDS) {
    if (!verify) continue;
    for await (const target of verify(targets, tools)) await reports.print(target);
  }
  await reports.printMissing();
  await verifier.close().catch((cause: unknown) => {
    if (reports.worst === "verified") throw cause;
    io.err(`the heads of verified sessions could not be pinned: ${String(cause)}`);
  });
  if (emptyStreams > 0) io.err(`${countText(emptyStreams, "empty stream")}: nothing to verify`);
  if (reports.count === 0) {
    const none = emptyStreams > 0 ? "no stream with a message" : "no session and no stream";
    throw new UsageError(`${none} was found; name one, or give --root`);
  }
  return EXIT_CODES[reports.worst];
}

/** Prints the reports of a run, and remembers the worst verdict. */
class ReportPrinter {
  readonly #tools: VerifyTools;
  readonly #expected: ExpectedPins;
  readonly #lenientRoots: ReadonlySet<string>;
  count = 0;
  worst: Verdict = "verified";

  constructor(tools: VerifyTools, { databases, directories, streams, logs }: Targets) {
    const { run, verifier } = tools;
    this.#tools = tools;
    this.#expected = new ExpectedPins(verifier.judging.against, {
      sessions: verifier.isWhole,
      streams: databases.length + directories.length > 0 && streams.length === 0,
      dialect: whereOf(run.options).dialect,
    });
    const roots = [...databases, ...directories, ...logs.map(({ root }) => root)];
    this.#lenientRoots = lenientAmong(roots, run);
  }

  async print(target: TargetReport): Promise<void> {
    const { options, io } = this.#tools.run;
    const extended = target.of === "log" ? await this.#extend(target) : target;
    const { report } = extended;
    this.count++;
    // An allowed verdict of one session must not hide another's.
    if (exitCode(report.verdict, this.#allowancesOf(extended)) !== 0) {
      this.worst = worse(this.worst, report.verdict);
    }
    // Names come from the disk: one with a line break must not look like a second verdict.
    const text = () => `${textLines(extended).map(safeLine).join("\n")}\n`;
    await io.print(options.json ? jsonLine(report) : text());
  }

  /** Sessions and streams that another machine's heads name, and that were not found. */
  async printMissing(): Promise<void> {
    for (const report of this.#expected.missing())
      await this.print({ of: "log", report, root: "" });
    const unchecked = this.#expected.notChecked();
    if (unchecked !== null) this.#tools.run.io.err(`warning: ${unchecked}`);
  }

  async #extend(target: Extract<TargetReport, { of: "log" }>): Promise<TargetReport> {
    const { verifier, witnesses } = this.#tools;
    const report = await witnesses.extend(target.report);
    if (report.verdict !== "verified") verifier.unpin(report.signed_through?.line);
    this.#expected.see(report);
    return { ...target, report };
  }

  #allowancesOf(target: TargetReport): Allowances {
    const { lenient, allowUnsigned } = this.#tools.run.options;
    if (target.of === "file") return { lenient: lenient === true };
    return {
      lenient: this.#lenientRoots.has(target.root),
      allowUnsigned: allowUnsigned === true,
    };
  }
}

function notForSessions(): UsageError {
  return new UsageError(
    "--key is for disclosed copies and proofs; `verbatim trust add FILE --owner NAME` trusts a key " +
      "for sessions",
  );
}

/** Whether `--lenient` applies: a project may require strict (trust/judge/policy.ts). */
function lenientAmong(roots: readonly string[], { options, io }: Run): ReadonlySet<string> {
  const lenientRoots = new Set<string>();
  if (options.lenient !== true) return lenientRoots;
  for (const root of new Set(roots)) {
    const { policy, from } = policyIn(root, "lenient");
    if (policy === "lenient") lenientRoots.add(root);
    else io.err(`--lenient has no effect: ${from} says strict`);
  }
  return lenientRoots;
}

function openVerifier({ options, io }: Run): Promise<SessionVerifier> {
  return SessionVerifier.open(nodeHost, {
    where: whereOf(options),
    isDeep: options.deep === true,
    requirePin: options.requirePin === true,
    isLegacyProfile: options.profile === LEGACY_PROFILE,
    against: textOption("--against", options.against) ?? null,
    pins: options.pin === true,
    onWarning: (warning) => io.err(`warning: ${warning}`),
  });
}
