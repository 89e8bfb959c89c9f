/**
 * Carry out: makes an intended erasure happen, also after a crash, from whatever point it reached.
 * Every step can be repeated.
 *
 * - While the intent is there, no reader opens the log (log-path.ts): nothing mixed is ever seen. It
 *   goes last, once nothing of the old log is left.
 * - Pinned heads move only to a log that is verified, and that the signed end of the old one names:
 *   an intent that another program planted cannot hide a rollback.
 */

import { dirname } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import { openAgain, openIfThere, writeAll } from "../../core/base/file-steps.ts";
import type { Directory, Files, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { finding } from "../../core/findings/finding.ts";
import { readChunks } from "../../core/log/bytes.ts";
import { LogLock } from "../../core/log/lock.ts";
import { INTENT_ENDING, openLogPath } from "../../core/log/log-path.ts";
import { findingPlaceOf } from "../../dialects/facets/files.ts";
import type { Heads, RootNames } from "../../trust/heads/heads.ts";
import { readHead } from "../../trust/heads/session-head.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import type { PinnedHead } from "../../trust/proof/pin.ts";
import { derivedKind } from "../doctor/own-names.ts";
import { ErasedLines, erasedCopyFindings } from "../verify/erased-copy.ts";
import { type ErasableLog, type Intent, keptCopyOf, readIntent, stagedNames } from "./intent.ts";

export interface CarryingOut {
  readonly host: Host;
  readonly target: ErasableLog;
  readonly heads: Pick<Heads, "forget" | "pinNow">;
  /** Keys and pins of the user; for one verdict. */
  readonly verify: () => Promise<VerifyOptions>;
  /** The store's names in pins. */
  readonly names: () => Promise<RootNames>;
  /** Removes the session from caches and indexes that keep text of it. */
  readonly clean: () => Promise<void>;
}

/** A host that opens a log in spite of an intent; only for a process that holds the log's lock. */
export function pastIntent(host: Host): Host {
  const files: Files = {
    makeDirectory: (path, options) => host.files.makeDirectory(path, options),
    async openDirectory(path, options) {
      const directory = await host.files.openDirectory(path, options);
      const open: Directory["open"] = (name, mode) => {
        if (mode !== "read" || !name.endsWith(INTENT_ENDING)) return directory.open(name, mode);
        throw Object.assign(new Error("past the intent"), { code: "ENOENT" });
      };
      return new Proxy(directory, {
        get(target, key) {
          const value: unknown = key === "open" ? open : Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
  };
  return { ...host, files };
}

/** Takes the lock and finishes an interrupted erasure; returns whether there was one. */
export async function finishErasure(carrying: CarryingOut): Promise<boolean> {
  const { host, target } = carrying;
  const { root, logId } = target;
  const place = await openLogPath(pastIntent(host), logId, { create: false, root });
  try {
    const lock = new LogLock(host, place.directory, place.name);
    try {
      await lock.acquire(0);
      const intent = await readIn(host, target, place.name);
      if (intent) await carryOut(carrying, place.name, intent);
      else removeStaged(place.directory, place.name);
      return intent !== null;
    } finally {
      lock.close();
    }
  } finally {
    place.directory.close();
  }
}

/** The caller holds the log's lock. */
export async function carryOut(
  { host: given, target, heads, verify, names, clean }: CarryingOut,
  name: string,
  { log, moves, removes }: Intent,
): Promise<void> {
  const host = pastIntent(given);
  const { root, logId, id, dialect } = target;
  const path = dirname(`${root}/${logId}`);
  const directory = await host.files.openDirectory(path, { create: false, root });
  try {
    for (const [from, to] of moves) await copyTo(directory, from, to);
    await directory.sync();
    for (const each of [...removes, ...moves.map(([from]) => from)]) removeIfThere(directory, each);
    await directory.sync();
    const head = await verifiedHead(host, target, verify, log);
    const { place, others } = await names();
    for (const each of [place, ...others]) await heads.forget({ place: each, id });
    await heads.pinNow([{ ...head, place }]);
    const kind = derivedKind(dialect);
    for (const each of removes.filter((removed) => kind?.names.includes(removed))) {
      const patient = { host, id, root, directory };
      await kind?.mend(patient, finding("DERIVED_MISSING", findingPlaceOf(patient, each), each));
    }
    await clean();
    removeIfThere(directory, name + INTENT_ENDING);
    await directory.sync();
  } finally {
    directory.close();
  }
}

/** Files of an erasure that was never intended. */
export function removeStaged(directory: Directory, logName: string): void {
  const intent = `${logName}${INTENT_ENDING}.tmp`;
  for (const name of [intent, ...Object.values(stagedNames(logName))])
    removeIfThere(directory, name);
}

/** The head of the new log, if it is verified and continues what the copy shows. */
async function verifiedHead(
  host: Host,
  target: ErasableLog,
  verify: () => Promise<VerifyOptions>,
  log: string,
): Promise<PinnedHead> {
  const { remembered, ...own } = await verify();
  const { report, findings } = await judgeErased(host, target, keptCopyOf(target.logId), own);
  const [bad] = findings;
  if (bad || report.log !== log) throw notCarriedOut(report, bad?.message ?? "it is another log");
  // The pinned head must be of the old log, or of the new one.
  const pinned = remembered?.here?.log ?? log;
  if (pinned !== log && pinned !== report.from?.log) {
    throw notCarriedOut(report, "another log is pinned");
  }
  return (await readHead(host, target, { ...own, filesProof: null })).head;
}

/** The verdict on a log that an erasure made, together with the copy of the old one. */
export async function judgeErased(
  host: Host,
  target: ErasableLog,
  copyId: string,
  options: VerifyOptions,
): Promise<{ readonly report: VerifyReport; readonly findings: readonly { message: string }[] }> {
  const lines = new ErasedLines(target);
  const onBytes = (bytes: Uint8Array) => lines.feed(bytes);
  const report = await verifyLog(host, target, { ...options, onBytes });
  if (report.verdict !== "verified" && report.verdict !== "incomplete") {
    const why = report.findings.find(({ verdict }) => verdict === report.verdict)?.message;
    return { report, findings: [{ message: why ?? report.verdict }] };
  }
  return {
    report,
    findings: (await erasedCopyFindings(host, target, copyId, lines, report, options)) ?? [
      { message: `${copyId} is a copy of the new log` },
    ],
  };
}

function notCarriedOut({ path, verdict }: VerifyReport, reason: string): VerbatimError {
  const message =
    `the erasure of ${path} is not carried out: ${reason}; the session stays unreadable, and no ` +
    `pinned head was changed. Restore it from a backup, or remove ${path}${INTENT_ENDING}`;
  return new VerbatimError("NOT_VERIFIED", message, { path, verdict });
}

/**
 * Copies, because not every file system keeps one of the two names if the power is cut during a
 * rename. Without the file, an earlier process was here, and the copy is durable.
 */
async function copyTo(directory: Directory, from: string, to: string): Promise<void> {
  const file = openIfThere(directory, from);
  try {
    if (file) await replaceWithBytes(directory, to, file);
  } finally {
    file?.close();
  }
}

async function replaceWithBytes(directory: Directory, to: string, file: OpenFile): Promise<void> {
  const copy = openAgain(directory, `${to}.tmp`);
  try {
    for await (const chunk of readChunks(file, 0, file.size())) writeAll(copy, chunk);
    await copy.sync();
  } finally {
    copy.close();
  }
  directory.rename(`${to}.tmp`, to);
}

function removeIfThere(directory: Directory, name: string): void {
  try {
    directory.remove(name);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}

/** Read by the given host: the other one does not see it. */
async function readIn({ files }: Host, target: ErasableLog, name: string): Promise<Intent | null> {
  const { root, logId } = target;
  const path = dirname(`${root}/${logId}`);
  const directory = await files.openDirectory(path, { create: false, root });
  try {
    return await readIntent(directory, name, target);
  } finally {
    directory.close();
  }
}
