/**
 * Signed file: whether the small signed file next to a signed log (rye's thread.json) is what its
 * signer wrote, by the same judge as `verify`. Other verdicts on signatures are left to `verify`.
 */

import { dirname, join, relative } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { hostOf } from "../dialects/all.ts";
import { type Finding, finding } from "../findings/finding.ts";
import type { FoundSession } from "../listing/find-session.ts";
import { verifyLog } from "../signing/judging/verify.ts";
import { UserJudging } from "../verifying/user-judging.ts";
import { signedFileName } from "./own-names.ts";

/** What derived-file findings do not report already: a missing or rebuilt file is one of those. */
const REPORTED: ReadonlySet<string | null> = new Set(["tampered", "rollback", "untrusted"]);

/** Keys, trust and pins are read once for all sessions of an examination. */
const judgings = new WeakMap<object, Promise<UserJudging>>();

export async function* signedFileFindings(
  doctor: { readonly host: Host },
  { dialect, root, id, path }: FoundSession,
): AsyncGenerator<Finding> {
  const name = signedFileName(dialect);
  if (id === null || name === null) return;
  const at = { session: id, path: join(dirname(path), name) };
  const target = { dialect, root, id, logId: relative(root, path) };
  try {
    const judging = judgings.get(doctor) ?? UserJudging.load(doctor.host, { onWarning: () => {} });
    judgings.set(doctor, judging);
    const options = await (await judging).optionsFor(target);
    const { findings } = await verifyLog(hostOf(doctor.host, target), target, options);
    for (const { code, verdict, message } of findings) {
      if (!code.startsWith("META_") || !REPORTED.has(verdict)) continue;
      yield finding("SIGNED_FILE_FORGED", at, `${verdict}: ${message} (${code})`);
    }
  } catch (cause) {
    if (!(cause instanceof VerbatimError)) throw cause;
    yield finding("UNREADABLE", at, `its signatures cannot be judged: ${cause.message}`);
  }
}
