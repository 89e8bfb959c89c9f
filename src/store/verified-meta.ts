/**
 * Verified meta: a thread's `thread.json`, for whoever grants something because of what it says.
 *
 * VM1  There is no default and no second source: capabilities and limits come from a file that
 *      verifies, or from nowhere. What was rebuilt from the log, however well, is refused.
 * VM2  The file must be as new as the log says it is: a checkpoint names its revision, so that an
 *      older file cannot be put back. So the log is verified too.
 * VM3  The file must be of this very log: it names one of its checkpoints. A thread of the same name,
 *      elsewhere or before this one, is another thread, and signed by the same key.
 */

import { dirname } from "node:path";
import { VerbatimError } from "../base/errors.ts";
import type { Host } from "../base/host.ts";
import { readSmallFile } from "../base/replace.ts";
import { rye } from "../dialects/rye/dialect.ts";
import { META_NAME } from "../dialects/rye/thread-id.ts";
import type { StoredThreadMeta } from "../dialects/rye/thread-meta.ts";
import type { Keys } from "../proof/keys.ts";
import { judgeThread } from "../proof/thread-signature.ts";
import { nodeCrypto } from "../signing/node-crypto.ts";
import type { VerifyReport } from "../signing/report.ts";
import type { SessionLog } from "../signing/session-log.ts";
import { threadKeys } from "../signing/trusted-keys.ts";
import { verifyLog } from "../signing/verify.ts";
import { namedSeqIn, parseMeta } from "./rye-beside.ts";
import { threadPath } from "./thread-files.ts";
import { UserJudging } from "./user-judging.ts";

/** Verdicts on a log that say nothing against what is signed in it. */
const HOLDS: readonly VerifyReport["verdict"][] = ["verified", "incomplete"];

/** A thread.json is written a few times in all; who finds it changed so often is being played with. */
const READS_MAX = 3;

/** Refuses with NOT_VERIFIED. */
export async function readVerifiedMeta(
  host: Host,
  projectPath: string,
  threadId: string,
): Promise<StoredThreadMeta> {
  const path = `${threadPath(projectPath, threadId)}/${META_NAME}`;
  const judging = await UserJudging.load(host, { onWarning: () => {} });
  const { found, report } = await readBoth(host, judging, projectPath, threadId);
  if (!found) throw notVerified(path, "unsigned", "there is none");
  const keys = threadKeys(judging.trust, threadId);
  const { meta, doubt } = found.judge({ threadId, keys, report });
  if (!meta) throw notVerified(path, doubt.verdict, doubt.why);
  return meta;
}

export interface MetaJudge {
  readonly threadId: string;
  readonly keys: Keys;
  /** The verdict on the thread's log. */
  readonly report: VerifyReport;
}

type JudgedMeta =
  | { readonly meta: StoredThreadMeta; readonly doubt: null }
  | {
      readonly meta: null;
      readonly doubt: { readonly verdict: VerifyReport["verdict"]; readonly why: string };
    };

/**
 * A thread.json as it was read. To be read before its log is verified, and told of the checkpoints
 * of that log: it names one of them (VM3).
 */
export class FoundMeta {
  readonly text: string;
  readonly #namedSeq: number | null;
  #namedLine: string | null = null;

  constructor(text: string) {
    this.text = text;
    this.#namedSeq = namedSeqIn(text);
  }

  /** What stands beside a thread's log; null when there is none. */
  static async read(host: Host, { root, logId }: SessionLog): Promise<FoundMeta | null> {
    try {
      const path = dirname(`${root}/${logId}`);
      const directory = await host.files.openDirectory(path, { create: false, root });
      try {
        const text = await readSmallFile(directory, META_NAME);
        return text === null ? null : new FoundMeta(text);
      } finally {
        directory.close();
      }
    } catch (cause) {
      if ((cause as { code?: unknown } | null)?.code === "ENOENT") return null;
      throw cause;
    }
  }

  readonly onCheckpoint = (seq: number, line: string): void => {
    if (seq === this.#namedSeq) this.#namedLine = line;
  };

  /** What it says, if it is to be believed (VM1, VM2, VM3). */
  judge({ threadId, keys, report }: MetaJudge): JudgedMeta {
    const verdict = judgeThread(this.text, { crypto: nodeCrypto, keys, threadId });
    if (!verdict.ok) return doubted(DOUBTS[verdict.reason] ?? "tampered", verdict.reason);
    const meta = parseMeta(this.text);
    if (!meta) return doubted("unreadable", "it is no thread.json");
    if (Object.hasOwn(meta, "reconstructed")) {
      return doubted("untrusted", "it was rebuilt from the log, and is nobody's word");
    }
    if (!HOLDS.includes(report.verdict)) return doubted(report.verdict, "its log does not verify");
    const { rev, head } = verdict;
    const known = report.signed_through;
    if (!known || rev < known.rev || head.seq > known.seq) {
      const which = `it is revision ${rev}, and the log knows of ${known?.rev ?? "none"}`;
      return doubted("rollback", which);
    }
    if (head.seq !== this.#namedSeq || head.line !== this.#namedLine) {
      return doubted(
        "tampered",
        "it is of another log: it names a checkpoint that is not in this one",
      );
    }
    return { meta, doubt: null };
  }
}

function doubted(verdict: VerifyReport["verdict"], why: string): JudgedMeta {
  return { meta: null, doubt: { verdict, why } };
}

/** The file and the verdict on the log as they belong together, also while a writer goes on. */
async function readBoth(host: Host, judging: UserJudging, root: string, threadId: string) {
  const logId = rye.logPath(threadId).join("/");
  const log = { dialect: "rye", root, logId, id: threadId } as const;
  for (let tries = READS_MAX; ; tries--) {
    const found = await FoundMeta.read(host, log);
    const onCheckpoint = found?.onCheckpoint ?? (() => {});
    const options = { ...(await judging.optionsFor(log)), onCheckpoint };
    const report = await verifyLog(host, log, options);
    const isSame = found?.text === (await FoundMeta.read(host, log))?.text;
    if (isSame || tries === 1) return { found, report };
  }
}

/** What it means for the file that its signature is doubted; all others: it was altered. */
const DOUBTS: Readonly<Record<string, VerifyReport["verdict"]>> = {
  malformed: "unreadable",
  unsigned: "unsigned",
  "signed as version 1": "untrusted",
  "unknown key": "untrusted",
  "untrusted key": "untrusted",
};

function notVerified(path: string, verdict: string, why: string): VerbatimError {
  return new VerbatimError(
    "NOT_VERIFIED",
    `${path} is not verified (${verdict}): ${why}; grant nothing because of it`,
    { path, verdict },
  );
}
