/** Verify tool: the verdict on one session, by the trust and the pins of the server's user. */

import { relative } from "node:path";
import type { Host } from "../../base/host.ts";
import type { FoundSession } from "../../listing/find-session.ts";
import type { Where } from "../../listing/find-stores.ts";
import { SessionVerifier } from "../../verifying/session-verifier.ts";

const FINDINGS_MAX = 20;

export interface VerifyParts {
  readonly where: Where;
  readonly isDeep: boolean;
  readonly onWarning: (warning: string) => void;
  readonly signal: AbortSignal;
}

export async function verifyTool(
  host: Host,
  { dialect, root, id, path }: FoundSession,
  { signal, ...options }: VerifyParts,
): Promise<object> {
  const verifier = await SessionVerifier.open(host, { ...options, against: null });
  try {
    const target = { dialect, root, id, logId: relative(root, path) };
    const report = await verifier.verify(target, () => signal.throwIfAborted());
    signal.throwIfAborted(); // An aborted read would look like an unreadable log.
    const { verdict, deep, signed_through, checkpoints, tail, bad_range, freshness } = report;
    return {
      session: id,
      dialect,
      verdict,
      deep,
      bytes: report.file.bytes,
      signed_through,
      checkpoints,
      unsigned_tail: { bytes: tail.bytes, lines: tail.lines },
      bad_range,
      erasures: report.erasures.slice(0, FINDINGS_MAX),
      freshness,
      keys: report.keys.slice(0, FINDINGS_MAX),
      findings: report.findings.slice(0, FINDINGS_MAX),
      more_findings: Math.max(0, report.findings.length - FINDINGS_MAX),
    };
  } finally {
    await verifier.close();
  }
}
