/** Run erase: `redact --in-place` shows what goes, asks, and erases it from the session itself. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { nodeHost } from "../../core/base/node-host.ts";
import { dataDirectory } from "../../core/base/node-paths.ts";
import { INTENT_ENDING } from "../../core/log/log-path.ts";
import { finishErasure } from "../../evidence/erase/carry-out.ts";
import { type ErasureResult, erase, tryErasing } from "../../evidence/erase/erase.ts";
import { keptCopyOf } from "../../evidence/erase/intent.ts";
import { carryingOut, refuseOthers, sessionErasing } from "../../evidence/erase/session-erasure.ts";
import type { WithheldPlace } from "../../evidence/redact/copy-writer.ts";
import type { Finder } from "../../evidence/redact/hits.ts";
import type { Matches } from "../../evidence/redact/text-matches.ts";
import { sharesShowing } from "../../evidence/share/create-share.ts";
import { FileShares } from "../../evidence/share/share-files.ts";
import { isDataDirectory } from "../../evidence/verify/data-directories.ts";
import { SessionVerifier } from "../../evidence/verify/session-verifier.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import { type Run, textOption, UsageError } from "../command/command.ts";
import { whereOf } from "../command/options.ts";
import { jsonLine } from "../command/output.ts";
import { EXIT_DECLINED, isAgreed } from "../command/question.ts";
import { countText, linesText } from "../serve/findings-report.ts";
import { isSignedNow } from "./signed-now.ts";

/** What was erased, for people: in words. */
function amountOf({ counts }: ErasureResult): string {
  const { text, string, line } = counts;
  const parts = [
    ...(text > 0 ? [`text in ${countText(text, "line")}`] : []),
    ...(string > 0 ? [`whole strings in ${countText(string, "line")}`] : []),
    ...(line > 0 ? [`all of ${countText(line, "line")}`] : []),
  ];
  return parts.join(", ");
}

/** Finishes erasures that were interrupted, of the named sessions or of all that are found. */
export async function finishErasures(run: Run): Promise<void> {
  const { args, options, io } = run;
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const verifier = await SessionVerifier.open(nodeHost, { where: whereOf(options), onWarning });
  const logs = await verifier.find(args).catch(() => []); // Repair itself says what is wrong.
  for (const log of logs) {
    if (!existsSync(join(log.root, log.logId) + INTENT_ENDING)) continue;
    if (await finishErasure(carryingOut(nodeHost, refuseOthers(log), { onWarning }))) {
      io.out(`${log.id}: an interrupted erasure was finished`);
    }
  }
}

export interface EraseRequest {
  readonly finder: (log: SignableLog) => Promise<Finder>;
  readonly reason: string;
  /** Shows what goes; false if a text that was asked for was not found. */
  readonly tell: (places: readonly WithheldPlace[]) => boolean;
  /** What goes can be found in any copy, since it is named by text or rule. */
  readonly isByText: boolean;
  /** Copies the disclosed copy to another place. */
  readonly keep: (path: string) => Promise<void>;
  readonly matches: Matches;
}

export async function runErase(run: Run, request: EraseRequest): Promise<number> {
  const { options, io } = run;
  for (const flag of ["plain", "mask"] as const) {
    if (options[flag] === true) throw new UsageError(`--in-place has no --${flag}`);
  }
  const onWarning = (warning: string) => io.err(`warning: ${warning}`);
  const [name = ""] = run.args;
  const where = whereOf(options);
  if (where.root !== undefined && isDataDirectory(where.root)) {
    refuseOthers({ dialect: STREAMS, root: where.root, logId: name, id: name });
  }
  const verifier = await SessionVerifier.open(nodeHost, { where, onWarning });
  const [log, ...others] = await verifier.find([name]);
  if (!log || others.length > 0) throw new UsageError(`${name} is more than one session; name one`);
  const target = refuseOthers(log);
  if (await finishErasure(carryingOut(nodeHost, target, { onWarning }))) {
    io.err(`${target.id}: an interrupted erasure was finished`);
  }
  const finder = await request.finder(target);
  const { reason } = request;
  const places: WithheldPlace[] = [];
  const erasing = await sessionErasing(nodeHost, target, { finder, reason, onWarning });
  const onPlace = (place: WithheldPlace) => void places.push(place);
  const tried = await tryErasing(erasing, onPlace).catch(async (cause: unknown) => {
    if (!(await isSignedNow(run, target, cause))) throw cause;
    return tryErasing(erasing, onPlace);
  });
  if (!request.tell(places)) return EXIT_DECLINED;
  if (places.length === 0) return 0;
  const amount = amountOf(tried);
  const shares = new FileShares(nodeHost, dataDirectory(), Date.now);
  const byText = request.isByText ? finder : null;
  const holders = await sharesShowing(shares, target, byText, Date.now());
  const ids = holders.map(({ id }) => id);
  const links = ids.length === 0 ? "" : `, and revoke ${countText(ids.length, "share")}`;
  if (options.dryRun === true) io.err(`nothing was changed; it would erase ${amount}${links}`);
  else {
    for (const id of ids) io.err(`share ${id} shows it, and is revoked`);
    const question = `Erase ${amount} of ${target.id}${links}, for good? This cannot be undone.`;
    if (!(await isAgreed(run, question))) return EXIT_DECLINED;
    // First: what is erased must not be served.
    for (const id of ids) await shares.revoke(id);
    await erase(tried.erasing);
  }
  const nearLines = request.matches.nearMisses.flatMap(({ lines }) => lines);
  const near = [...new Set(nearLines)].sort((one, other) => one - other);
  const left = near.length === 0 ? "" : `; near misses are left on ${linesText(near)}`;
  const copy = options.dryRun === true ? null : join(target.root, keptCopyOf(target.logId));
  if (copy !== null && textOption("--output", options.output) !== undefined)
    await request.keep(copy);
  if (options.json)
    await io.print(
      jsonLine({ session: target.id, copy, erased: tried.counts, places, near, revoked: ids }),
    );
  else if (copy !== null) io.out(`${target.id}: erased ${amount}${left}; the proof is ${copy}`);
  return 0;
}
