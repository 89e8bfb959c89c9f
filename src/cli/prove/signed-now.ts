/** Signed now: a checkpoint for a session that has only its first, if the user agrees. */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { NO_CHECKPOINT } from "../../evidence/redact/redact.ts";
import { signHead } from "../../evidence/verify/own-checkpoints.ts";
import { STREAMS } from "../../trust/proof/envelopes.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import type { Run } from "../command/command.ts";
import { isAgreed } from "../command/question.ts";

/** A session with its first checkpoint only gets another, if the user agrees and signs it. */
export async function isSignedNow(run: Run, log: SignableLog, cause: unknown): Promise<boolean> {
  const { id } = log;
  const isMissing =
    cause instanceof VerbatimError &&
    cause.code === "CANNOT_DISCLOSE" &&
    (cause.details as { readonly reason: string }).reason === NO_CHECKPOINT;
  if (!isMissing || id === null || run.options.dryRun === true || log.dialect === STREAMS) {
    return false;
  }
  const question = `${id} has no checkpoint after its first. Sign one, to disclose it?`;
  if (!(await isAgreed(run, question))) return false;
  return signHead(nodeHost, { ...log, id }, (warning) => run.io.err(`warning: ${warning}`));
}
