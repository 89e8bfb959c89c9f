/**
 * Verify targets: the kinds of thing that `verify` takes. Each kind knows the names that it matches,
 * and how to judge them.
 *
 * A name is of the first kind that matches it, and the kinds are judged in the order of the list.
 */

import { existsSync } from "node:fs";
import { nodeHost } from "../../core/base/node-host.ts";
import type { ProofReport } from "../../evidence/prove/verify-proof.ts";
import type { DisclosedCopyReport } from "../../evidence/redact/verify-copy.ts";
import { dataDirectoriesAmong } from "../../evidence/verify/data-directories.ts";
import type { StreamJudging } from "../../evidence/verify/judge-streams.ts";
import type { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import type { SessionLog } from "../../trust/session-log.ts";
import type { Run } from "../command/command.ts";
import { isDatabase } from "../serve/copy-places.ts";
import { isCopy, verifyCopies } from "./verify-copies.ts";
import { isProof, verifyProofs } from "./verify-proofs.ts";
import { verifyStreams } from "./verify-streams.ts";
import { describeReport } from "./verify-text.ts";
import type { WitnessJudge } from "./verify-witnessed.ts";

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
  const logs = sessions.length > 0 || names.length === 0 ? await verifier.find(sessions) : [];
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
