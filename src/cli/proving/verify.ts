/** `verbatim verify`: prints verdicts on sessions, and their reasons. */

import { type CliCommand, type Run, textOption, UsageError } from "../../command/command.ts";
import { jsonLine } from "../../command/json-line.ts";
import { LEGACY_PROFILE } from "../../proof/envelopes.ts";
import type { Verdict } from "../../proof/verdict.ts";
import type { VerifyReport } from "../../signing/judging/report.ts";
import { PROFILE_OPTION, WHERE_OPTIONS, whereOf } from "../reading/reading.ts";

export const verify: CliCommand = {
  name: "verify",
  summary: "Check that sessions are unchanged since they were signed",
  args: [
    {
      name: "[sessions...]",
      summary:
        "ids, beginnings of ids, paths of logs, directories, disclosed copies (.vbd), proofs (.vbp), a server's " +
        "data directory, or postgres://user@host/database and paths of its streams; default: all " +
        "sessions found from here",
    },
  ],
  options: [
    { flags: "--json", summary: "print one JSON report per session" },
    { flags: "--deep", summary: "check every signature and line, also in files over 64 MiB" },
    { flags: "--lenient", summary: "exit with 0 if lines follow the signed part" },
    { flags: "--allow-unsigned", summary: "exit with 0 if nothing is signed" },
    { flags: "--require-pin", summary: "refuse sessions without a pinned head" },
    {
      flags: "--against <file>",
      summary: "also check against heads that another machine exported; all must be found",
    },
    { flags: "--pin", summary: "pin the heads of verified sessions" },
    { flags: "--ask-witness", summary: "ask your witnesses whether they have seen more" },
    {
      flags: "--require-witness <name>",
      summary: "refuse sessions that this witness did not cosign; repeatable",
      isRepeatable: true,
    },
    { flags: "--origin <name>", summary: "with --ask-witness: the signer's name there" },
    { flags: "--tsa-ca <file>", summary: "check time stamps by these certificates, with openssl" },
    { flags: "--published <dir>", summary: "compare with heads in this git repository" },
    { flags: "--key <file>", summary: "disclosed copies, proofs: also trust this public key, PEM" },
    PROFILE_OPTION,
    ...WHERE_OPTIONS,
  ],
  examples: [
    "verbatim verify hello_world-1739012630",
    "verbatim verify --root . --json | jq 'select(.verdict != \"verified\")'",
    "verbatim verify .ai/threads --require-pin",
    "verbatim verify ~/.local/share/verbatim",
    "verbatim verify postgres://verbatim@db.example.com/streams",
    "verbatim verify postgres://verbatim@db.example.com/streams /orders/17",
    "verbatim verify backup/transcript.jsonl --against pins.jsonl",
    "verbatim verify last --ask-witness --require-witness witness.example/w1",
    "verbatim verify hello.vbd --key ada.pem",
    "verbatim verify answer.vbp --key ada.pem",
  ],

  async run(run) {
    const { args, options, io } = run;
    io.goOnUnread();
    const { EXIT_CODES, exitCode, worse } = await import("../../proof/verdict.ts");
    const { describeReport } = await import("./verify-text.ts");
    const { streamJudgingOf, verifyStreams } = await import("./verify-streams.ts");
    const { nodeHost } = await import("../../base/node-host.ts");
    const { dataDirectoriesAmong } = await import("../../verifying/data-directories.ts");
    const { safeLine } = await import("../../render/text.ts");
    // Names come from the disk: one with a line break must not look like a second verdict.
    const textOf = (lines: readonly string[]) => `${lines.map(safeLine).join("\n")}\n`;
    const verifier = await openVerifier(run);
    const judging = await streamJudgingOf(verifier.judging, run);
    const { isDatabase } = await import("../caring/copy-places.ts");
    const { isCopy, verifyCopies } = await import("./verify-copies.ts");
    const { isProof, verifyProofs } = await import("./verify-proofs.ts");
    const copies = args.filter(isCopy);
    const proofs = args.filter((name) => !isCopy(name) && isProof(name));
    const databases = args.filter(isDatabase);
    const { existsSync } = await import("node:fs");
    const isStream = (name: string) =>
      databases.length > 0 && name.startsWith("/") && !copies.includes(name) && !existsSync(name);
    const streams = args.filter(isStream);
    const taken = [...databases, ...copies, ...proofs, ...streams];
    const others = args.filter((name) => !taken.includes(name));
    const directories = await dataDirectoriesAmong(nodeHost, others, judging);
    const names = others.filter((name) => !directories.includes(name));
    const targets = names.length > 0 || args.length === 0 ? await verifier.find(names) : [];
    if (options.key !== undefined && copies.length + proofs.length === 0) throw notForSessions();
    // A project may be in a server's data directory: then both are verified.
    for (const directory of directories) targets.push(...(await verifier.findIn(directory)));
    const roots = [...databases, ...directories, ...targets.map(({ root }) => root)];
    const lenientRoots = await lenientAmong(roots, run);
    let [judged, empty] = [0, 0];
    let worst: Verdict = "verified";
    const { WitnessJudge } = await import("./verify-witnessed.ts");
    const witnesses = new WitnessJudge(run, verifier.judging);
    const { ExpectedPins } = await import("../../verifying/expected-pins.ts");
    const expected = new ExpectedPins(verifier.judging.against, {
      sessions: verifier.isWhole,
      streams: databases.length + directories.length > 0 && streams.length === 0,
      dialect: whereOf(options).dialect,
    });
    const print = async (judgedAlone: VerifyReport, root: string) => {
      const report = await witnesses.extend(judgedAlone);
      if (report.verdict !== "verified") verifier.unpin(report.signed_through?.line);
      judged++;
      expected.see(report);
      const allowances = {
        lenient: lenientRoots.has(root),
        allowUnsigned: options.allowUnsigned === true,
      };
      // An allowed verdict of one session must not hide another's.
      if (exitCode(report.verdict, allowances) !== 0) worst = worse(worst, report.verdict);
      const text = options.json ? jsonLine(report) : textOf(describeReport(report));
      await io.print(text);
    };
    for (const of of [
      verifyCopies(copies, verifier.judging, run, witnesses),
      verifyProofs(proofs, verifier.judging, run),
    ]) {
      for await (const { report, lines } of of) {
        judged++;
        if (exitCode(report.verdict, { lenient: options.lenient === true }) !== 0) {
          worst = worse(worst, report.verdict);
        }
        await io.print(options.json ? jsonLine(report) : textOf(lines));
      }
    }
    for await (const { report, root } of verifyStreams(
      [...databases, ...directories],
      judging,
      run,
      streams,
      () => empty++,
    )) {
      await print(report, root);
    }
    for (const [n, target] of targets.entries()) {
      if (targets.length > 1) io.progress(`${n} of ${targets.length} sessions`);
      const report = await verifier.verify(target, (bytes, of) => {
        if (of > 0) io.progress(`${target.logId}: ${Math.floor((100 * bytes) / of)} %`);
      });
      io.progress(null);
      await print(report, target.root);
    }
    for (const report of expected.missing()) await print(report, "");
    const unchecked = expected.notChecked();
    if (unchecked !== null) io.err(`warning: ${unchecked}`);
    await verifier.close().catch((cause: unknown) => {
      if (worst === "verified") throw cause;
      io.err(`the heads of verified sessions could not be pinned: ${String(cause)}`);
    });
    if (empty > 0) {
      const { counted } = await import("../caring/findings-report.ts");
      io.err(`${counted(empty, "empty stream")}: nothing to verify`);
    }
    if (judged === 0) {
      const none = empty > 0 ? "no stream with a message" : "no session and no stream";
      throw new UsageError(`${none} was found; name one, or give --root`);
    }
    return EXIT_CODES[worst];
  },
};

function notForSessions(): UsageError {
  return new UsageError(
    "--key is for disclosed copies and proofs; `verbatim trust add FILE --owner NAME` trusts a key " +
      "for sessions",
  );
}

/** Whether `--lenient` applies: a project may require strict (signing/judging/policy.ts). */
async function lenientAmong(
  roots: readonly string[],
  { options, io }: Run,
): Promise<ReadonlySet<string>> {
  const lenient = new Set<string>();
  if (options.lenient !== true) return lenient;
  const { policyIn } = await import("../../verifying/verified-entries.ts");
  for (const root of new Set(roots)) {
    const { policy, from } = policyIn(root, "lenient");
    if (policy === "lenient") lenient.add(root);
    else io.err(`--lenient has no effect: ${from} says strict`);
  }
  return lenient;
}

async function openVerifier({ options, io }: Run) {
  const { nodeHost } = await import("../../base/node-host.ts");
  const { SessionVerifier } = await import("../../verifying/session-verifier.ts");
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
