/** `verbatim resume`: prints the request that continues a session, and reports the repairs. */

import type { RepairAction, RepairReport } from "../../resume/repair-report.ts";
import type { Resumed } from "../../resume/resume.ts";
import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import { type Run, textOption, UsageError, wholeNumber } from "../command/command.ts";
import { TARGETS, whereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { otherFiles } from "../look/named-session.ts";
import { orVerdictCode } from "../prove/verdict-code.ts";

const ACTIONS_LISTED_MAX = 50;
const TURNS_MAX = 1e9;
const TOKENS_MAX = 1e9;

export async function runResume(run: Run): Promise<number> {
  const { options, io } = run;
  const target = TARGETS.find((name) => name === options.for);
  if (!target) throw new UsageError(`--for is missing: one of ${TARGETS.join(", ")}`);
  const model = textOption("--model", options.model);
  const maxTokens = numberOption("--max-tokens", options.maxTokens, TOKENS_MAX);
  const { requestBody } = await import("../../resume/request.ts");
  await tellOtherFile(run);
  const resumed = await resumeOrVerdict(run, target);
  if (typeof resumed === "number") return resumed;
  const body = requestBody(resumed, {
    ...(model === undefined ? {} : { model }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  });
  const recorded = options.record === true ? await record(resumed, run) : null;
  const { indentedJson, jsonText } = await import("../../sessions/render/text.ts");
  const { safeText } = await import("../../sessions/render/text.ts");
  await io.print(options.json ? jsonLine(body) : `${safeText(indentedJson(body))}\n`);
  const { report } = resumed;
  if (options.json) io.err(jsonText(recorded === null ? report : { ...report, recorded }));
  else io.err([...describe(report), ...(recorded ? [`recorded in ${recorded}`] : [])].join("\n"));
  return 0;
}

/** Says which file of a session is used, if its program's and the record of its hooks are there. */
async function tellOtherFile({ args, options, io }: Run): Promise<void> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { findSession } = await import("../../sessions/list/find-session.ts");
  const preference = options.allowUnsigned === true ? "fuller" : "signed";
  const found = await findSession(nodeHost, args[0] ?? "", whereOf(options), preference);
  if (found.preferredTo === undefined) return;
  io.err(`${found.path} is resumed`);
  for (const note of await otherFiles(found)) io.err(note);
}

/** The resumed session; or prints a bad verdict and returns its exit code. */
async function resumeOrVerdict(
  { args, options, io }: Run,
  target: (typeof TARGETS)[number],
): Promise<Resumed | number> {
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { resumeSession } = await import("../../resume/resume.ts");
  const { root, dialect } = whereOf(options);
  const upTo = numberOption("--up-to", options.upTo, TURNS_MAX);
  const prompt = textOption("--prompt", options.prompt);
  return orVerdictCode(io, () =>
    resumeSession(nodeHost, args[0] ?? "", {
      for: target,
      ...(root === undefined ? {} : { root }),
      ...(dialect === undefined ? {} : { dialect }),
      ...(options.lenient === true ? { policy: "lenient" as const } : {}),
      ...(upTo === undefined ? {} : { upTo }),
      ...(prompt === undefined ? {} : { prompt }),
      allowUnsigned: options.allowUnsigned === true,
      requirePin: options.requirePin === true,
      ...(options.profile === LEGACY_PROFILE ? { profile: options.profile } : {}),
      snapshot: options.snapshot === true,
    }),
  );
}

/** Records the report in the session that continues; returns that session's id. */
async function record({ report, source, ...rest }: Resumed, { io, options }: Run): Promise<string> {
  const isLegacy = options.profile === LEGACY_PROFILE;
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { Store } = await import("../../sessions/store/store.ts");
  const { continueResumed } = await import("../../resume/continue.ts");
  const store = new Store(nodeHost, {
    dialect: report.dialect,
    root: source.root,
    sign: report.head !== null || isLegacy,
    ...(isLegacy ? { profile: LEGACY_PROFILE } : {}),
    onWarning: (warning) => io.err(`warning: ${warning}`),
  });
  try {
    const going = await continueResumed(nodeHost, store, { report, source, ...rest });
    const { session, notLinked } = going;
    if (notLinked !== null) io.err(`${report.session} does not name its fork: ${notLinked}`);
    return session.id;
  } finally {
    await store.close();
  }
}

function describe(report: RepairReport): string[] {
  const { session, verdict, entries, unverified, messages, actions } = report;
  const told = actions.filter(({ why }) => why !== "silent");
  const unsigned = unverified === 0 ? "" : `, ${unverified} of them unverified`;
  const more = told.length - ACTIONS_LISTED_MAX;
  return [
    `${session ?? "a log in no store"}: ${verdict}; ${messages.length} messages from ` +
      `${entries} lines${unsigned}`,
    ...told.slice(0, ACTIONS_LISTED_MAX).map(describeAction),
    ...(more > 0 ? [`  and ${more} more; --json tells all`] : []),
  ];
}

function describeAction({ action, why, line, callId }: RepairAction): string {
  const where = line === null ? "" : `line ${line}: `;
  const which = callId === undefined ? "" : ` (${callId})`;
  return `  ${where}${action.replace("_", " ")}, ${why.replaceAll("_", " ")}${which}`;
}

function numberOption(flag: string, value: Run["options"][string], most: number) {
  return value === undefined ? undefined : wholeNumber(flag, value, 1, most);
}
