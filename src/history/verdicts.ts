/** Verdicts: verdicts on the sessions of a history, and on copies and proofs of sessions. */

import type { ProofReport } from "../evidence/prove/verify-proof.ts";
import type { DisclosedCopyReport } from "../evidence/redact/verify-copy.ts";
import { SessionVerifier } from "../evidence/verify/session-verifier.ts";
import type { VerifyReport } from "../trust/judge/report.ts";
import { COPY_EXTENSION } from "../trust/proof/disclosure/copy-file.ts";
import { PROOF_EXTENSION } from "../trust/proof/inclusion/records.ts";
import type { HistoryVerifyOptions } from "./options.ts";
import type { Places } from "./places.ts";

/** A report on a session; or on a disclosed copy or a proof, named by its path. */
export type HistoryVerdict = VerifyReport | DisclosedCopyReport | ProofReport;

export async function* verifySessions(
  places: Places,
  options: HistoryVerifyOptions,
): AsyncGenerator<HistoryVerdict> {
  const { sessions = [], signal, onProgress } = options;
  const { host, onWarning } = places;
  const verifier = await SessionVerifier.open(host, {
    where: places.lookups,
    isDeep: options.deep === true,
    requirePin: options.requirePin === true,
    isLegacyProfile: options.profile !== undefined,
    pins: options.pin === true,
    onWarning,
  });
  try {
    const files = sessions.filter((name) => isCopy(name) || isProof(name));
    const names = sessions.filter((name) => !files.includes(name));
    for (const path of files) yield verifyFile(places, verifier, path, options);
    const isAsked = names.length > 0 || sessions.length === 0;
    for (const log of isAsked ? await verifier.find(names) : []) {
      signal?.throwIfAborted();
      const report = await verifier.verify(log, (bytes, of) => {
        signal?.throwIfAborted();
        onProgress?.(log.logId, bytes, of);
      });
      signal?.throwIfAborted(); // An aborted read would look like an unreadable log.
      yield report;
    }
  } finally {
    await verifier.close();
  }
}

async function verifyFile(
  { host }: Places,
  { judging }: SessionVerifier,
  path: string,
  { requirePin = false, signal, onProgress }: HistoryVerifyOptions,
): Promise<DisclosedCopyReport | ProofReport> {
  signal?.throwIfAborted();
  if (isProof(path)) {
    const { verifyProof } = await import("../evidence/prove/verify-proof.ts");
    return verifyProof(host, path, { judging, requirePin });
  }
  const { verifyCopy } = await import("../evidence/redact/verify-copy.ts");
  return verifyCopy(host, path, {
    judging,
    requirePin,
    onProgress: (bytes, of) => onProgress?.(path, bytes, of),
  });
}

function isCopy(name: string): boolean {
  return name.endsWith(COPY_EXTENSION);
}

function isProof(name: string): boolean {
  return name.endsWith(PROOF_EXTENSION);
}
