/**
 * Signed head: the verified head of a session, and what the session has lost; or of a stream, by
 * its path, if `--root` is a server's data directory.
 */

import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { holdLog } from "../../core/log/held-log.ts";
import { dialectNamed, hostOf, loadDialects } from "../../dialects/all.ts";
import { verifyCopy } from "../../evidence/redact/verify-copy.ts";
import { isDataDirectory } from "../../evidence/verify/data-directories.ts";
import { verifyWithCopy } from "../../evidence/verify/erased-copy.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import { withSignedStream } from "../../evidence/verify/verify-directory.ts";
import { findSession } from "../../sessions/list/find-session.ts";
import { readHead, type SessionHead, type StoredLog } from "../../trust/heads/session-head.ts";
import { putSurplusAside } from "../../trust/judge/surplus.ts";
import type { VerifyOptions } from "../../trust/judge/verify-options.ts";
import { COPY_EXTENSION } from "../../trust/proof/disclosure/copy-file.ts";
import type { Pin, PinnedHead } from "../../trust/proof/pin.ts";
import type { Rollback } from "../../trust/proof/pins.ts";
import { EXIT_CODES, type Verdict } from "../../trust/proof/verdict.ts";
import { type Run, UsageError } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { refuseDatabases } from "../serve/copies.ts";
import { streamJudging, streamPath } from "./verify-database.ts";

export interface ReportedHead extends Pick<SessionHead, "head" | "surplus"> {
  /** The pin of the session, and how its log contradicts it. */
  readonly loss: { readonly pin: Pin; readonly rollback: Rollback } | null;
  /** Why the log was replaced, if its own signer did that; else null. */
  readonly replacedBy: string | null;
  /** Other names of its store under which it is pinned. */
  readonly otherPlaces: readonly string[];
}

/** The head for `name`; or the exit code of a bad verdict. */
export async function readNamedHead(name: string, run: Run): Promise<ReportedHead | number> {
  try {
    return await withNamedLog(name, run, readHeadOf);
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "NOT_VERIFIED")) throw cause;
    run.io.err(`error: ${cause.message} (${cause.code})`);
    return EXIT_CODES[cause.details.verdict as Verdict];
  }
}

/** Moves aside checkpoints that cover more than the log contains; returns where they are kept. */
export function giveUpSurplus(name: string, run: Run, head: PinnedHead): Promise<string> {
  return withNamedLog(name, run, async (log, options) => {
    // A stream is locked with its data directory.
    const held = dialectNamed(log.dialect).writing
      ? await holdLog(nodeHost, log.logId, log.root)
      : null;
    try {
      return await putSurplusAside(nodeHost, log, head, options);
    } finally {
      held?.close();
    }
  });
}

/** Calls `work` with the named log, the user's trust and pins. */
export async function withNamedLog<T>(
  name: string,
  run: Run,
  work: (log: StoredLog, options: VerifyOptions) => Promise<T>,
): Promise<T> {
  const where = whereOf(run.options);
  refuseDatabases([where.root, name], "head");
  if (where.root !== undefined && isDataDirectory(where.root)) {
    const judging = await streamJudging(run);
    return withSignedStream(nodeHost, resolve(where.root), streamPath(name), async (log, names) => {
      await loadDialects([log.dialect]);
      return work(log, judging.optionsFor(log, names));
    });
  }
  const { dialect, root, id, path } = await findSession(nodeHost, name, where, "signed");
  if (id === null) throw new UsageError(`${path} is not in a store, so it cannot be pinned`);
  const log = { dialect, root, id, logId: relative(root, path) };
  const onWarning = (warning: string) => run.io.err(`warning: ${warning}`);
  const judging = await UserJudging.load(nodeHost, { onWarning });
  return work(log, await judging.optionsFor(log));
}

/** A program's session may be rows of a database. */
export function hostOfLog(log: StoredLog): Host {
  return dialectNamed(log.dialect).program ? hostOf(nodeHost, log) : nodeHost;
}

async function readHeadOf(log: StoredLog, options: VerifyOptions): Promise<ReportedHead> {
  const { head, rollback, surplus } = await readHead(hostOfLog(log), log, options);
  const pin = options.remembered?.here ?? options.remembered?.ofLog(head.log) ?? null;
  const otherPlaces = options.remembered?.otherPlaces ?? [];
  const loss = pin && rollback && { pin, rollback };
  const replacedBy =
    loss?.rollback === "REPLACED" ? await erasureOf(hostOfLog(log), log, options, pin) : null;
  return { head, surplus, loss, replacedBy, otherPlaces };
}

/** The signed link from the pinned log to this one, in words; null if there is none. */
async function erasureOf(
  host: Host,
  log: StoredLog,
  { remembered: _, ...options }: VerifyOptions,
  pin: Pin | null,
): Promise<string | null> {
  const { from, verdict, findings } = await verifyWithCopy(host, log, {
    ...options,
    filesProof: null,
  });
  const path = join(log.root, log.logId + COPY_EXTENSION);
  if (!existsSync(path) || from?.log !== pin?.log || verdict === "tampered") return null;
  if (findings.some(({ code }) => code === "ERASED_COPY_MISMATCH")) return null;
  const judging = await UserJudging.load(nodeHost, { onWarning: () => {} });
  const copy = await verifyCopy(nodeHost, path, { judging });
  if (copy.verdict !== "verified" && copy.verdict !== "incomplete") return null;
  if (copy.log !== from?.log) return null; // A copy of this log, which says nothing of the old one.
  return (
    `its signer erased something from it: the log that was pinned ends with a signed link to this ` +
    `one (checkpoint ${from?.seq}), and everything that ${path} shows of it is in this log`
  );
}

/** Describes what a session has lost of its signed or pinned content; empty if nothing. */
export function describeLosses({ head, loss, replacedBy, surplus }: ReportedHead): string[] {
  const losses = loss ? [describeLoss(head, loss)] : [];
  if (replacedBy !== null) losses.push(replacedBy);
  const isToldOf = loss?.rollback === "BEHIND" && loss.pin.seq >= (surplus?.seq ?? 0);
  if (surplus && !isToldOf) {
    losses.push(
      `${head.id} was signed up to byte ${surplus.byteOffset} (checkpoint ${surplus.seq} of ` +
        `${surplus.ts}), and its log has lost some of that: the last checkpoint that holds is ` +
        `${head.seq} of ${head.ts}, at byte ${head.byteOffset}`,
    );
  }
  return losses;
}

function describeLoss(
  head: PinnedHead,
  { pin, rollback }: NonNullable<ReportedHead["loss"]>,
): string {
  const seen = `checkpoint ${pin.seq} of ${pin.ts}`;
  const first = head.seq + 1;
  const [lost, are] =
    first === pin.seq
      ? [`checkpoint ${first}`, "is"]
      : [`checkpoints ${first} to ${pin.seq}`, "are"];
  switch (rollback) {
    case "BEHIND":
      return (
        `${lost} of ${head.id} ${are} lost: it was seen up to byte ` +
        `${pin.byteOffset} (${seen}), and now ends with checkpoint ${head.seq} of ${head.ts}, at ` +
        `byte ${head.byteOffset}`
      );
    case "FORK":
      return (
        `${head.id} has another checkpoint ${pin.seq} than it had (${seen}): what was signed from ` +
        "somewhere before it on is lost, and something else stands there"
      );
    case "REPLACED":
      return (
        `another log stands where ${head.id} stood: all of that one is lost, up to byte ` +
        `${pin.byteOffset} (${seen})`
      );
  }
}
