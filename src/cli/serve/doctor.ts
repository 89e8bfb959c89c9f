/**
 * `verbatim doctor` checks sessions, or the streams of a server, without changing anything; with
 * `--fix` it mends what it finds, and reports what it did and what it could not do.
 */

import { resolve } from "node:path";
import { dialectNamed } from "../../dialects/all.ts";
import type { ExaminedItem } from "../../evidence/doctor/examine.ts";
import type { Doctor } from "../../evidence/doctor/examine-session.ts";
import type { RepairStep } from "../../evidence/doctor/repair.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import type { FoundSession } from "../../sessions/list/session-place.ts";
import { type Io, type Run, UsageError } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { ChunkedOutput, jsonLine } from "../command/output.ts";

export async function runDoctor(run: Run): Promise<number> {
  const { options, io } = run;
  io.goOnUnread();
  if (options.fix === true) return fix(run);
  const only = ["dryRun", "vouch", "yes", "profile"].find((name) => options[name] !== undefined);
  if (only !== undefined)
    throw new UsageError(`--${only === "dryRun" ? "dry-run" : only} needs --fix`);
  const targets = await targetsOf(run);
  const { printFindings } = await import("./findings-report.ts");
  const noun = targets.every((target) => "data" in target) ? "stream" : "session";
  return printFindings(examined(targets, io), io, { isJson: options.json === true, noun });
}

async function* examined(targets: readonly DoctorTarget[], io: Io): AsyncGenerator<ExaminedItem> {
  const { examineOne, examineStore } = await import("../../evidence/doctor/examine.ts");
  const { examineData } = await import("../../evidence/doctor/check-directory.ts");
  const doctor = await nodeDoctor(io);
  for (const target of targets) {
    if ("session" in target) yield* examineOne(doctor, target.session);
    else if ("data" in target) yield* examineData(doctor.host, target.data);
    else for (const store of target.stores) yield* examineStore(doctor, store);
  }
}

async function targetsOf(run: Run): Promise<DoctorTarget[]> {
  const { args, options } = run;
  if (args.length === 0) return [await allStores(run, options.fix === true)];
  const targets: DoctorTarget[] = [];
  for (const name of args) targets.push(await findDoctorTarget(name, run));
  return targets;
}

const EXIT_LEFT = 1;
const EXIT_FAILED = 7;

async function fix(run: Run): Promise<number> {
  const { args, options, io } = run;
  const { refuseDatabases } = await import("./copies.ts");
  const root = typeof options.root === "string" ? options.root : undefined;
  refuseDatabases(
    [root, ...args],
    options.vouch === true ? "doctor --fix --vouch" : "doctor --fix",
  );
  if (options.vouch === true) {
    const { vouchFor } = await import("../prove/run-vouch.ts");
    return vouchFor(run);
  }
  if (options.yes === true) throw new UsageError("--yes needs --vouch: nothing else asks");
  const { finishErasures } = await import("../prove/run-erase.ts");
  if (options.dryRun !== true) await finishErasures(run);
  const targets = await targetsOf(run);

  const { RepairPrinter } = await import("./findings-report.ts");
  const report = new RepairPrinter();
  const output = new ChunkedOutput(io);
  for await (const step of repairTargets(targets, run)) {
    if (step.kind === "session") io.progress(`${report.summary.sessions + 1} sessions`);
    const line = report.add(step);
    await output.add(options.json ? (line.json === null ? "" : jsonLine(line.json)) : line.text);
  }
  io.progress(null);
  await output.add(
    options.json ? jsonLine({ summary: report.summary }) : report.text(options.dryRun === true),
  );
  await output.flush();
  if (report.summary.failed > 0) return EXIT_FAILED;
  return report.summary.left > 0 ? EXIT_LEFT : 0;
}

async function* repairTargets(
  targets: readonly DoctorTarget[],
  { options, io }: Run,
): AsyncGenerator<RepairStep> {
  const { repairOne, repairStore } = await import("../../evidence/doctor/repair.ts");
  const doctor = await nodeDoctor(io);
  const how = { isDryRun: options.dryRun === true };
  for (const target of targets) {
    if ("session" in target) yield* repairOne(doctor, target.session, how);
    else if ("stores" in target) {
      for (const store of target.stores) yield* repairStore(doctor, store, how);
    } else {
      const { repairData } = await import("../../evidence/doctor/repair.ts");
      yield* repairData(doctor.host, target.data, how);
    }
  }
}

/** The user's target: one session, stores with all their sessions, or a server's data. */
export type DoctorTarget =
  | { readonly session: FoundSession }
  | { readonly stores: readonly FoundStore[] }
  | { readonly data: string };

/** Progress is printed after this many bytes of a log. */
const TOLD_BYTES = 8 * 1024 * 1024;

/**
 * The stores found from here, or named by --root and --dialect; throws SESSION_NOT_FOUND if none.
 */
export async function allStores({ options }: Run, isToMend: boolean): Promise<DoctorTarget> {
  const { findStores } = await import("../../sessions/list/find-stores.ts");
  const { VerbatimError } = await import("../../core/base/errors.ts");
  const where = whereOf(options);
  const stores = (await findStores(where)).filter(isToMend ? isMendable : isExamined);
  if (stores.length > 0) return { stores };
  throw new VerbatimError(
    "SESSION_NOT_FOUND",
    `no store was found from ${where.root ?? where.cwd}; name one with --root, or a session`,
    { session: where.root ?? where.cwd },
  );
}

/** A store or data directory by its root, or a session by id, path or the beginning of its id. */
export async function findDoctorTarget(name: string, run: Run): Promise<DoctorTarget> {
  const { options } = run;
  if (name === "") throw new UsageError("name a session or a store: the name given is empty");
  const { findSession } = await import("../../sessions/list/find-session.ts");
  const { findStores } = await import("../../sessions/list/find-stores.ts");
  const { isDataDirectory } = await import("../../evidence/verify/data-directories.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { VerbatimError } = await import("../../core/base/errors.ts");
  const where = whereOf(options);
  try {
    const stores = (await findStores({ cwd: where.cwd, root: name }))
      .filter(isExamined)
      .filter(({ dialect }) => where.dialect === undefined || where.dialect === dialect);
    if (stores.length > 0) return { stores };
  } catch (cause) {
    // Not a directory, so not a store's root: treat it as a session.
    if (!(cause instanceof VerbatimError && cause.code === "IO_ERROR")) throw cause;
  }
  if (isDataDirectory(name)) return { data: resolve(where.cwd, name) };
  try {
    return { session: await findSession(nodeHost, name, where) };
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "SESSION_NOT_FOUND")) throw cause;
    const gone = await goneNamed(name, run);
    if (gone === null) throw cause;
    return { session: gone };
  }
}

/** A session whose log is gone, and whose checkpoints or pinned head are there, as for `verify`. */
async function goneNamed(name: string, { options }: Run): Promise<FoundSession | null> {
  const { join } = await import("node:path");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  const { SessionVerifier } = await import("../../evidence/verify/session-verifier.ts");
  const where = whereOf(options);
  const verifier = await SessionVerifier.open(nodeHost, { where, onWarning: () => {} });
  const [log, ...others] = await verifier.find([name]).catch(() => []);
  if (!log || others.length > 0) return null;
  const { dialect, root, id, logId } = log;
  return { dialect, root, id, path: join(root, logId) };
}

/** A Doctor on the real disk that prints its progress. */
export async function nodeDoctor(io: Io): Promise<Doctor> {
  const { nodeHost: host } = await import("../../core/base/node-host.ts");
  const { nodeSurroundings: surroundings } = await import("../../core/base/node-surroundings.ts");
  let told = 0;
  return {
    host,
    surroundings,
    nowMs: Date.now,
    onProgress({ id, path }, offset, end) {
      if (offset < told) told = 0; // Another log.
      if (offset - told < TOLD_BYTES) return;
      told = offset;
      io.progress(`${id ?? path}: ${Math.floor((100 * offset) / Math.max(1, end))} %`);
    },
  };
}

/** Streams are examined by the directory of their server. */
function isExamined({ dialect }: { readonly dialect: string }): boolean {
  const { writing, program } = dialectNamed(dialect);
  return writing !== undefined || program !== undefined;
}

/** Only their server writes to streams, and only their program to other sessions. */
function isMendable({ dialect }: { readonly dialect: string }): boolean {
  return dialectNamed(dialect).writing !== undefined;
}
