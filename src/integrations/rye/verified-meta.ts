/**
 * Verified meta: a thread's `thread.json`, for code that grants permissions based on it.
 *
 * VM1  There is no default and no second source: capabilities and limits come from a file that
 * verifies, or not at all. A file rebuilt from the log is refused.
 *
 * VM2  The file must be as new as the log says: a checkpoint names its revision, so that an older
 * file cannot be put back. So the log is verified too.
 *
 * VM3  The file must belong to this log: it names one of its checkpoints. A thread of the same name
 * in another place, or an earlier one here, is another thread signed by the same key.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { provideDialect } from "../../dialects/all.ts";
import { rye } from "../../dialects/rye/dialect.ts";
import { MetaOnDisk } from "../../dialects/rye/files/meta-on-disk.ts";
import { threadPath } from "../../dialects/rye/files/thread-files.ts";
import { META_NAME } from "../../dialects/rye/thread-id.ts";
import type { StoredThreadMeta } from "../../dialects/rye/thread-meta.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import { verifyLog } from "../../trust/judge/verify.ts";
import { threadKeys } from "../../trust/trusted-keys/trust.ts";

/** A thread.json is rarely written; one that changes during every read is suspicious. */
const READS_MAX = 3;

/** Throws NOT_VERIFIED. */
export async function readVerifiedMeta(
  host: Host,
  projectPath: string,
  threadId: string,
  judgedBy?: UserJudging,
): Promise<StoredThreadMeta> {
  const path = `${threadPath(projectPath, threadId)}/${META_NAME}`;
  const judging = judgedBy ?? (await UserJudging.load(host, { onWarning: () => {} }));
  const { found, report } = await readBoth(host, judging, projectPath, threadId);
  if (!found) throw notVerified(path, "unsigned", "there is none");
  const keys = threadKeys(judging.trust, threadId);
  const { meta, doubt } = found.judge({ threadId, keys, report });
  if (!meta) throw notVerified(path, doubt.verdict, doubt.why);
  return meta;
}

/** Reads the file and verifies the log consistently, even while a writer continues. */
async function readBoth(host: Host, judging: UserJudging, root: string, threadId: string) {
  const logId = rye.naming.logPath(threadId).join("/");
  const log = { dialect: provideDialect(rye), root, logId, id: threadId } as const;
  for (let tries = READS_MAX; ; tries--) {
    const found = await MetaOnDisk.read(host, log);
    const onCheckpoint = found?.onCheckpoint ?? (() => {});
    // Verifies the log alone: the file is checked here, more strictly than a verdict does.
    const options = { ...(await judging.optionsFor(log)), filesProof: null, onCheckpoint };
    const report = await verifyLog(host, log, options);
    const isSame = found?.text === (await MetaOnDisk.read(host, log))?.text;
    if (isSame || tries === 1) return { found, report };
  }
}

function notVerified(path: string, verdict: string, why: string): VerbatimError {
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} is not verified (${verdict}): ${why}; grant nothing because of it`,
    { path, verdict },
  );
}
