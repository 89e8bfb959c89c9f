/** `verbatim verify`: judges what the user named, and prints a report on each. */

import { existsSync } from "node:fs";
import { nodeHost } from "../../core/base/node-host.ts";
import type { ProofReport } from "../../evidence/prove/verify-proof.ts";
import type { DisclosedCopyReport } from "../../evidence/redact/verify-copy.ts";
import { dataDirectoriesAmong } from "../../evidence/verify/data-directories.ts";
import { ExpectedPins } from "../../evidence/verify/expected-pins.ts";
import type { StreamJudging } from "../../evidence/verify/judge-streams.ts";
import { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import { policyIn } from "../../evidence/verify/verified-entries.ts";
import { safeLine } from "../../sessions/render/text.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import {
  type Allowances,
  EXIT_CODES,
  exitCode,
  type Verdict,
  worse,
} from "../../trust/proof/verdict.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import { type Run, textOption, UsageError } from "../command/command.ts";
import { readingWhereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { choiceOf, hasFilter, type IsChosen } from "../look/chosen-sessions.ts";
import { isDatabase } from "../serve/copies.ts";
import { countText } from "../serve/findings-report.ts";
import { isCopy, isProof, verifyCopies, verifyProofs } from "./verify-copies.ts";
import { streamJudgingOf, verifyStreams } from "./verify-database.ts";
import { describeReport } from "./verify-text.ts";
import { WitnessJudge } from "./verify-witnessed.ts";

export async function runVerify(run: Run): Promise<number> {
  const { args, options, io } = run;
  io.goOnUnread();
  const verifier = await openVerifier(run);
  const judging = await streamJudgingOf(verifier.judging, run);
  if (args.length > 0 && hasFilter(options)) {
    throw new UsageError("name sessions, or choose them with --agent or another filter");
  }
  const targets = await targetsOf(args, verifier, judging, await choiceOf(run, true));
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
    if (EXIT_CODES[reports.worst] === 0) throw cause;
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
  /** Of nothing but deleted sessions it is `deleted`. */
  worst: Verdict = "deleted";

  constructor(tools: VerifyTools, { databases, directories, streams, logs }: Targets) {
    const { run, verifier } = tools;
    this.#tools = tools;
    this.#expected = new ExpectedPins(verifier.judging.against, {
      sessions: verifier.isWhole,
      streams: databases.length + directories.length > 0 && streams.length === 0,
      dialect: readingWhereOf(run.options).dialect,
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
    const isAllowed = exitCode(report.verdict, this.#allowancesOf(extended)) === 0;
    this.worst = worse(this.worst, isAllowed ? "verified" : report.verdict);
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
    "--key is for disclosed copies and proofs; `verbatim keys trust add FILE --owner NAME` trusts a key " +
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
    where: readingWhereOf(options),
    isDeep: options.deep === true,
    requirePin: options.requirePin === true,
    isLegacyProfile: options.profile === LEGACY_PROFILE,
    against: textOption("--against", options.against) ?? null,
    pins: options.pin === true,
    onWarning: (warning) => io.err(`warning: ${warning}`),
  });
}

/** The report on one target. */
export type TargetReport =
  /** `root`: the session's directory, or the database; "": unknown. */
  | { readonly of: "log"; readonly report: VerifyReport; readonly root: string }
  | {
      readonly of: "file";
      readonly report: DisclosedCopyReport | ProofReport;
      readonly lines: readonly string[];
    };

/** What the kinds judge with. */
export interface VerifyTools {
  readonly run: Run;
  readonly verifier: SessionVerifier;
  readonly judging: StreamJudging;
  readonly witnesses: WitnessJudge;
  /** Called for each stream without a message, which has no report. */
  readonly onEmpty: () => void;
}

/** The names of each kind, and the sessions that they mean. */
export interface Targets extends Readonly<Record<TargetKindName, readonly string[]>> {
  readonly logs: readonly SessionLog[];
}

interface TargetKind {
  readonly kind: TargetKindName;
  /** `names`: all that the user named. */
  matches(
    name: string,
    names: readonly string[],
    judging: StreamJudging,
  ): boolean | Promise<boolean>;
  /** Absent: judged with the kind before it. */
  verify?(targets: Targets, tools: VerifyTools): AsyncIterable<TargetReport>;
}

export type TargetKindName =
  | "copies"
  | "proofs"
  | "databases"
  | "streams"
  | "directories"
  | "sessions";

export const TARGET_KINDS: readonly TargetKind[] = [
  {
    kind: "copies",
    matches: isCopy,
    verify: ({ copies }, { verifier, run, witnesses }) =>
      ofFiles(verifyCopies(copies, verifier.judging, run, witnesses)),
  },
  {
    kind: "proofs",
    matches: isProof,
    verify: ({ proofs }, { verifier, run }) => ofFiles(verifyProofs(proofs, verifier.judging, run)),
  },
  {
    kind: "databases",
    matches: isDatabase,
    async *verify({ databases, directories, streams }, { judging, run, onEmpty }) {
      const places = [...databases, ...directories];
      for await (const report of verifyStreams(places, judging, run, streams, onEmpty)) {
        yield { of: "log", ...report };
      }
    },
  },
  {
    // A stream of the databases.
    kind: "streams",
    matches: (name, names) => name.startsWith("/") && names.some(isDatabase) && !existsSync(name),
  },
  {
    kind: "directories",
    matches: async (name, _names, judging) =>
      (await dataDirectoriesAmong(nodeHost, [name], judging)).length > 0,
  },
  { kind: "sessions", matches: () => true, verify: ({ logs }, tools) => verifyLogs(logs, tools) },
];

/** Finds what the names mean, before anything is judged. */
export async function targetsOf(
  names: readonly string[],
  verifier: SessionVerifier,
  judging: StreamJudging,
  isChosen: IsChosen | null = null,
): Promise<Targets> {
  const targets: Record<TargetKindName, string[]> = {
    copies: [],
    proofs: [],
    databases: [],
    streams: [],
    directories: [],
    sessions: [],
  };
  for (const name of names) {
    for (const { kind, matches } of TARGET_KINDS) {
      if (!(await matches(name, names, judging))) continue;
      targets[kind].push(name);
      break;
    }
  }
  const { sessions, directories } = targets;
  const found = sessions.length > 0 || names.length === 0 ? await verifier.find(sessions) : [];
  const logs = isChosen
    ? found.filter(({ dialect, root, id }) => isChosen({ dialect, root }, id ?? ""))
    : found;
  // A project may be in a server's data directory: then both are verified.
  for (const directory of directories) logs.push(...(await verifier.findIn(directory)));
  return { ...targets, logs };
}

async function* ofFiles(
  reports: AsyncIterable<Omit<Extract<TargetReport, { of: "file" }>, "of">>,
): AsyncGenerator<TargetReport> {
  for await (const { report, lines } of reports) yield { of: "file", report, lines };
}

async function* verifyLogs(
  logs: readonly SessionLog[],
  { run: { io }, verifier }: VerifyTools,
): AsyncGenerator<TargetReport> {
  for (const [n, log] of logs.entries()) {
    if (logs.length > 1) io.progress(`${n} of ${logs.length} sessions`);
    const report = await verifier.verify(log, (bytes, total) => {
      if (total > 0) io.progress(`${log.logId}: ${Math.floor((100 * bytes) / total)} %`);
    });
    io.progress(null);
    yield { of: "log", report, root: log.root };
  }
}

/** The report as lines of text. */
export function textLines(target: TargetReport): readonly string[] {
  return target.of === "file" ? target.lines : describeReport(target.report);
}
