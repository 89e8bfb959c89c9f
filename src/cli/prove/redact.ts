/**
 * `verbatim redact`: writes a copy of a session in which some things are withheld; or erases them
 * from the session itself.
 */

import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import type { Host } from "../../core/base/host.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { hostOf } from "../../dialects/all.ts";
import type { WithheldPlace } from "../../evidence/redact/copy-writer.ts";
import { allOf, type Finder } from "../../evidence/redact/hits.ts";
import { NewCopy } from "../../evidence/redact/new-copy.ts";
import { copyPlainly } from "../../evidence/redact/plain-copy.ts";
import { redactLog } from "../../evidence/redact/redact.ts";
import { findsOf, findsOfRules } from "../../evidence/redact/scan-finds.ts";
import { entriesNumbered, MATCH, Matches, matching } from "../../evidence/redact/text-matches.ts";
import { isDataDirectory } from "../../evidence/verify/data-directories.ts";
import { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import { withSignedStream } from "../../evidence/verify/verify-directory.ts";
import { statOf } from "../../sessions/list/find-stores.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import { loadSigner } from "../../trust/keys/keys.ts";
import { COPY_EXTENSION } from "../../trust/proof/disclosure/copy-file.ts";
import { REASON_CHARS_MAX } from "../../trust/proof/disclosure/statement.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import { type Run, textOption, textOptions, UsageError, wholeNumber } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { refuseLogPlace } from "../command/output-file.ts";
import { EXIT_DECLINED, isAgreed } from "../command/question.ts";
import { countText, linesText } from "../serve/findings-report.ts";
import { isSignedNow } from "./signed-now.ts";
import { orVerdictCode } from "./verdict-code.ts";
import { streamJudging, streamPath } from "./verify-database.ts";

/** Further places are counted by rule. */
const PLACES_SHOWN_MAX = 50;

export interface RedactTarget {
  readonly log: SignableLog;
  readonly host: Host;
  /** Options for one verdict. */
  verify(): Promise<VerifyOptions>;
}

interface CopyResult {
  readonly lines: number;
  readonly full: number;
  readonly verdict: string | null;
  readonly left_out: { readonly lines: number; readonly bytes: number } | null;
}

export async function runRedact(run: Run): Promise<number> {
  const { options, io } = run;
  const reason = textOption("--reason", options.reason);
  if (reason === undefined) throw new UsageError("--reason is missing: say why; readers see it");
  if (reason.length > REASON_CHARS_MAX) {
    throw new UsageError(`--reason has at most ${REASON_CHARS_MAX} characters`);
  }
  const isDry = options.dryRun === true;
  const output = textOption("--output", options.output);
  if (options.inPlace === true) return eraseInPlace(run, reason, output ?? null);
  if (output === undefined && !isDry) throw new UsageError("name the file to write with --output");
  if (!isDry) await refuseName(output ?? "", options.plain === true);
  return orVerdictCode(io, () =>
    withTarget(run, async (target) => {
      const matches = matchesOf(run);
      const finder = await finderOf(run, target.log.id, matches);
      const file = isDry ? null : await newCopy(output ?? "");
      try {
        const redacted = await write(run, target, finder, reason, (bytes) => file?.write(bytes));
        tellPlaces(run, redacted.places);
        if (!checkMatches(run, matches)) return EXIT_DECLINED;
        return await reportKept(run, redacted, file);
      } finally {
        file?.discard();
      }
    }),
  );
}

/** `--in-place`; the disclosed copy also goes to `output`, if given. */
async function eraseInPlace(run: Run, reason: string, output: string | null): Promise<number> {
  if (output !== null) await refuseName(output, false);
  const file = output === null ? null : await newCopy(output);
  const { runErase } = await import("./run-erase.ts");
  const keep = async (path: string) => {
    for await (const chunk of createReadStream(path)) file?.write(chunk as Uint8Array);
    await file?.keep();
  };
  try {
    const matches = matchesOf(run);
    const finder = ({ id }: SignableLog) => finderOf(run, id, matches);
    const tell = (places: readonly WithheldPlace[]) => {
      tellPlaces(run, places);
      return checkMatches(run, matches);
    };
    const isByText = run.options.entry === undefined && run.options.fromScan === undefined;
    const request = { finder, reason, tell, keep, matches, isByText };
    return await orVerdictCode(run.io, () => runErase(run, request));
  } finally {
    file?.discard();
  }
}

/** Keeps the copy if the user agrees. */
async function reportKept(
  run: Run,
  { places, made }: { readonly places: readonly WithheldPlace[]; readonly made: CopyResult },
  file: NewCopy | null,
): Promise<number> {
  const { options, io } = run;
  const count = (kind: WithheldPlace["what"]) => places.filter(({ what }) => what === kind).length;
  const [lines, strings, values] = [count("line"), count("string"), count("value")];
  const masked = options.plain === true ? `${countText(values, "value")} masked, ` : "";
  const withheld = `${masked}${countText(strings, "string")}`;
  const amount = `${made.full} of ${made.lines} lines in full, ${withheld} withheld`;
  if (file === null) io.err(`nothing was written: ${amount}`);
  else {
    const question = `Write ${file.path}, with ${withheld} and ${countText(lines, "line")} withheld?`;
    if (!(await isAgreed(run, question))) return EXIT_DECLINED;
    await file.keep();
  }
  const path = file?.path ?? null;
  const counts = { strings_withheld: strings, values_masked: values };
  if (options.json) await io.print(jsonLine({ path, ...made, ...counts, places }));
  else if (path !== null) io.out(`${path}: ${amount}`);
  return 0;
}

function matchesOf({ options }: Run): Matches {
  return new Matches(textOptions("--match", options.match) ?? []);
}

/**
 * Whether every text of `--match` was found, or `--allow-missing` is given. A mistyped text would
 * stay readable in the copy. Also reports what only looks like one of them. All by number: the text
 * may be a secret.
 */
export function checkMatches({ options, io }: Run, matches: Matches): boolean {
  const isAllowed = options.allowMissing === true;
  const { missing, nearMisses } = matches;
  for (const number of missing) {
    const what = `--match number ${number} was not found; check its spelling`;
    io.err(isAllowed ? `warning: ${what}` : `error: ${what}`);
  }
  for (const { number, lines } of nearMisses) {
    io.err(
      `warning: --match number ${number} has near misses, which stay: other accents, punctuation or ` +
        `spacing on ${linesText(lines)}; withhold them by --entry, or by another --match`,
    );
  }
  if (missing.length === 0 || isAllowed) return true;
  io.err("nothing was written; with --allow-missing, a text may be missing");
  return false;
}

const UNITS: Readonly<Record<WithheldPlace["what"], string>> = {
  line: "the whole line",
  string: "a string",
  value: "a value, masked",
};

/** What goes, line by line. */
export function tellPlaces({ options, io }: Run, places: readonly WithheldPlace[]): void {
  if (options.json === true) return;
  for (const { line, what, rule, bytes } of places.slice(0, PLACES_SHOWN_MAX)) {
    io.err(`line ${line}: ${UNITS[what]}, ${bytes} bytes (${rule})`);
  }
  const more = places.length - PLACES_SHOWN_MAX;
  if (more > 0) io.err(`and ${more} more; --json lists all`);
  if (places.length === 0) io.err("nothing was found that could be withheld");
}

async function write(
  run: Run,
  target: RedactTarget,
  finder: Finder,
  reason: string,
  out: (bytes: Uint8Array) => void,
): Promise<{ readonly places: readonly WithheldPlace[]; readonly made: CopyResult }> {
  const places: WithheldPlace[] = [];
  const onPlace = (place: WithheldPlace) => void places.push(place);
  if (run.options.plain === true) {
    const counts = await copyPlainly(target.host, target.log, { finder, reason, out, onPlace });
    return { places, made: { ...counts, verdict: null, left_out: null } };
  }
  const redact = async () => {
    const verify = await target.verify();
    const signer = await loadSigner(nodeHost, userPaths());
    const how = { verify, finder, reason, hasMasks: run.options.mask === true, signer };
    return redactLog(target.host, target.log, { ...how, nowMs: Date.now, out, onPlace });
  };
  const { lines, full, report, leftOut } = await redact().catch(async (cause: unknown) => {
    if (!(await isSignedNow(run, target.log, cause))) throw cause;
    return redact();
  });
  return { places, made: { lines, full, verdict: report.verdict, left_out: leftOut } };
}

/** The session, or the stream if `--root` is a server's data directory. */
export async function withTarget<T>(
  run: Run,
  work: (target: RedactTarget) => Promise<T>,
): Promise<T> {
  const [name = ""] = run.args;
  const where = whereOf(run.options);
  if (where.root !== undefined && isDataDirectory(where.root)) {
    const judging = await streamJudging(run);
    return withSignedStream(nodeHost, resolve(where.root), streamPath(name), (log, names) =>
      work({ log, host: nodeHost, verify: async () => judging.optionsFor(log, names) }),
    );
  }
  const onWarning = (warning: string) => run.io.err(`warning: ${warning}`);
  const verifier = await SessionVerifier.open(nodeHost, { where, onWarning });
  const [log, ...others] = await verifier.find([name]);
  if (!log || others.length > 0) throw new UsageError(`${name} is more than one session; name one`);
  return work({ log, host: hostOf(nodeHost, log), verify: () => verifier.judging.optionsFor(log) });
}

async function finderOf(
  { options }: Run,
  session: string | null,
  matches: Matches,
): Promise<Finder> {
  const finders: Finder[] = [];
  const texts = textOptions("--match", options.match);
  if (texts) finders.push(matching(texts, MATCH, matches));
  const entries = textOptions("--entry", options.entry);
  if (entries) {
    const numbers = entries.map((each) => wholeNumber("--entry", each, 1));
    finders.push(entriesNumbered(new Set(numbers)));
  }
  const rules = textOptions("--rule", options.rule);
  if (rules) finders.push(await findsOfRules(rules));
  const scan = textOption("--from-scan", options.fromScan);
  if (scan !== undefined) finders.push(await findsOf(scan, session));
  if (finders.length > 0) return allOf(...finders);
  throw new UsageError("say what to withhold: --match, --entry, --rule or --from-scan");
}

async function refuseName(output: string, isPlain: boolean): Promise<void> {
  await refuseLogPlace(resolve(output));
  if (output.endsWith(COPY_EXTENSION) === isPlain) {
    throw new UsageError(
      isPlain
        ? `a plain copy proves nothing: its name must not end in ${COPY_EXTENSION}`
        : `the name of a disclosed copy ends in ${COPY_EXTENSION}`,
    );
  }
}

function newCopy(output: string): Promise<NewCopy> {
  const path = resolve(output);
  if (statOf(path)) throw exists(path);
  return NewCopy.create(nodeHost, path, exists);
}

function exists(path: string): UsageError {
  return new UsageError(`${path} exists already; choose another name`);
}
